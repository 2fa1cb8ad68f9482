from explorer.privacy.shuffle_rdp.accountant import (
    RDP_OF_CLONES as RDP_OF_CLONES,
    CloneRenyi as CloneRenyi,
    Shuffling as Shuffling,
    clone_rdp as clone_rdp,
    clone_rdp_epsilon as clone_rdp_epsilon,
    composed_shuffles as composed_shuffles,
    convergence_bound as convergence_bound,
    gradient_second_moment as gradient_second_moment,
    lower_rdp_epsilon as lower_rdp_epsilon,
    pipeline_epsilon as pipeline_epsilon,
    pipeline_holds as pipeline_holds,
    round_delta as round_delta,
    upper_epsilon as upper_epsilon,
)
from explorer.privacy.shuffle_rdp.composition import (
    Certified as Certified,
    Composition as Composition,
)
from explorer.privacy.shuffle_rdp.from_below import (
    COMPOSED_LOWER as COMPOSED_LOWER,
    COMPOSED_RESPONSES as COMPOSED_RESPONSES,
    COMPOSED_THREE_SYMBOL as COMPOSED_THREE_SYMBOL,
    ComposedRounds as ComposedRounds,
    LowerRounds as LowerRounds,
    ResponseRounds as ResponseRounds,
    ThreeSymbolRounds as ThreeSymbolRounds,
    is_loose as is_loose,
    larger_of as larger_of,
)
from explorer.privacy.shuffle_rdp.losses import (
    RoundLoss as RoundLoss,
    clone_loss as clone_loss,
    randomised_response_loss as randomised_response_loss,
    three_symbol_loss as three_symbol_loss,
)
from explorer.privacy.shuffle_rdp.lower import (
    Direction as Direction,
    lower_rdp as lower_rdp,
    lower_rdp_table as lower_rdp_table,
    randomised_response_delta as randomised_response_delta,
)
from explorer.privacy.shuffle_rdp.numerical import (
    COMPOSED_CLONES as COMPOSED_CLONES,
    EPOCH_ADAPTIVE as EPOCH_ADAPTIVE,
    EPOCH_FIXED as EPOCH_FIXED,
    Allocation as Allocation,
    CloneRounds as CloneRounds,
    allocation_epsilon as allocation_epsilon,
    clone_epsilon as clone_epsilon,
    epochs_begun as epochs_begun,
    lower_epsilon as lower_epsilon,
    randomised_response_epsilon as randomised_response_epsilon,
    rounds_an_epoch as rounds_an_epoch,
    shuffled_an_epoch as shuffled_an_epoch,
    three_symbol_epsilon as three_symbol_epsilon,
)
from explorer.privacy.shuffle_rdp.one_round import (
    RandomisedResponseRound as RandomisedResponseRound,
    ThreeSymbolRound as ThreeSymbolRound,
    lower_round_epsilon as lower_round_epsilon,
    randomised_response_round_epsilon as randomised_response_round_epsilon,
    three_symbol_delta as three_symbol_delta,
    three_symbol_round_epsilon as three_symbol_round_epsilon,
)
from explorer.privacy.shuffle_rdp.upper import (
    capped_rdp_table as capped_rdp_table,
    effective_clones as effective_clones,
    lemma2_rdp as lemma2_rdp,
    pure_epsilon as pure_epsilon,
    renyi_cap_table as renyi_cap_table,
    sharp_alike as sharp_alike,
    sharp_mixed as sharp_mixed,
    ternary_2rr as ternary_2rr,
    ternary_3rr as ternary_3rr,
    theorem4 as theorem4,
    theorem6 as theorem6,
    upper_rdp as upper_rdp,
    upper_rdp_table as upper_rdp_table,
    upsilon as upsilon,
)
