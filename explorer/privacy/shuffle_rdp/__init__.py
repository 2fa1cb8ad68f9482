"""Rényi DP of the subsampled shuffle model (Girgis, Data & Diggavi)."""

from explorer.privacy.shuffle_rdp.accountant import (
    Shuffling,
    composed_shuffles,
    lower_rdp_epsilon,
    pipeline_epsilon,
    pipeline_holds,
    round_delta,
    upper_epsilon,
)
from explorer.privacy.shuffle_rdp.composed import Certified, Composition
from explorer.privacy.shuffle_rdp.convergence import convergence_bound, gradient_second_moment
from explorer.privacy.shuffle_rdp.losses import RoundLoss, clone_loss, randomised_response_loss
from explorer.privacy.shuffle_rdp.lower import (
    Direction,
    lower_rdp,
    lower_rdp_table,
    randomised_response_delta,
)
from explorer.privacy.shuffle_rdp.numerical import (
    COMPOSED_CLONES,
    COMPOSED_RESPONSES,
    CloneRounds,
    ComposedRounds,
    ResponseRounds,
    clone_epsilon,
    is_loose,
    randomised_response_epsilon,
)
from explorer.privacy.shuffle_rdp.one_round import (
    RandomisedResponseRound,
    randomised_response_round_epsilon,
)
from explorer.privacy.shuffle_rdp.upper import (
    capped_rdp_table,
    effective_clones,
    pure_epsilon,
    renyi_cap_table,
    upper_rdp,
    upper_rdp_table,
    upsilon,
)

__all__ = [
    "COMPOSED_CLONES",
    "COMPOSED_RESPONSES",
    "Certified",
    "CloneRounds",
    "ComposedRounds",
    "Composition",
    "Direction",
    "RandomisedResponseRound",
    "ResponseRounds",
    "RoundLoss",
    "Shuffling",
    "capped_rdp_table",
    "clone_epsilon",
    "clone_loss",
    "composed_shuffles",
    "convergence_bound",
    "effective_clones",
    "gradient_second_moment",
    "is_loose",
    "lower_rdp",
    "lower_rdp_epsilon",
    "lower_rdp_table",
    "pipeline_epsilon",
    "pipeline_holds",
    "pure_epsilon",
    "randomised_response_delta",
    "randomised_response_epsilon",
    "randomised_response_loss",
    "randomised_response_round_epsilon",
    "renyi_cap_table",
    "round_delta",
    "upper_epsilon",
    "upper_rdp",
    "upper_rdp_table",
    "upsilon",
]
