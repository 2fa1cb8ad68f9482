from explorer.privacy.shuffle_rdp.accountant import (
    Shuffling as Shuffling,
    composed_shuffles as composed_shuffles,
    lower_rdp_epsilon as lower_rdp_epsilon,
    pipeline_epsilon as pipeline_epsilon,
    pipeline_holds as pipeline_holds,
    round_delta as round_delta,
    upper_epsilon as upper_epsilon,
)
from explorer.privacy.shuffle_rdp.composed import (
    Certified as Certified,
    Composition as Composition,
)
from explorer.privacy.shuffle_rdp.convergence import (
    convergence_bound as convergence_bound,
    gradient_second_moment as gradient_second_moment,
)
from explorer.privacy.shuffle_rdp.losses import (
    RoundLoss as RoundLoss,
    clone_loss as clone_loss,
    randomised_response_loss as randomised_response_loss,
)
from explorer.privacy.shuffle_rdp.lower import (
    Direction as Direction,
    lower_rdp as lower_rdp,
    lower_rdp_table as lower_rdp_table,
    randomised_response_delta as randomised_response_delta,
)
from explorer.privacy.shuffle_rdp.numerical import (
    COMPOSED_CLONES as COMPOSED_CLONES,
    COMPOSED_RESPONSES as COMPOSED_RESPONSES,
    CloneRounds as CloneRounds,
    ComposedRounds as ComposedRounds,
    ResponseRounds as ResponseRounds,
    clone_epsilon as clone_epsilon,
    is_loose as is_loose,
    randomised_response_epsilon as randomised_response_epsilon,
)
from explorer.privacy.shuffle_rdp.one_round import (
    RandomisedResponseRound as RandomisedResponseRound,
    randomised_response_round_epsilon as randomised_response_round_epsilon,
)
from explorer.privacy.shuffle_rdp.upper import (
    capped_rdp_table as capped_rdp_table,
    effective_clones as effective_clones,
    pure_epsilon as pure_epsilon,
    renyi_cap_table as renyi_cap_table,
    upper_rdp as upper_rdp,
    upper_rdp_table as upper_rdp_table,
    upsilon as upsilon,
)
