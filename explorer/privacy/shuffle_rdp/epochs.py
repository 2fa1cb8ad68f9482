"""Each client once an epoch: a random split of all clients into rounds, not fresh samples.

A round has at least k of the n clients, ⌊n/k⌋ rounds are an epoch, and T rounds are composed epoch
by epoch.

- *Fixed*: one randomiser is chosen before each epoch, for all its rounds. The groups of the rounds
  are a random split of one shuffle of n messages, and merging them gives that back: the epoch is
  exactly a shuffle of n.
- *Adaptive*: the randomiser may change from round to round (training does that). Given the split
  only one round sees the changed client, so by joint convexity the epoch is dominated by the clones
  of one shuffle of k, with no gain from sampling. Larger groups are dominated too: tell their
  surplus messages, and who sent them.

Sharper bounds for adaptive rounds (Feldman & Shenfeld, arXiv 2502.08202 and 2602.17284) come close
to independent sampling; they are not verified here, so they are not offered.
"""

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.shuffle_rdp.numerical import clone_epsilon
from explorer.privacy.shuffling.clones import Clones


class Allocation(StrEnum):
    """When the randomiser of a round is chosen, if each client takes part once an epoch."""

    FIXED = "fixed"
    """Before the epoch, one for all its rounds."""
    ADAPTIVE = "adaptive"
    """Before each round, from what the rounds before it gave."""


EPOCH_FIXED = Reference(
    "Feldman, McMillan & Talwar",
    "clones of one shuffle of n an epoch, composed",
    "one randomiser fixed before each epoch; rounded up",
)
EPOCH_ADAPTIVE = Reference(
    "Feldman, McMillan & Talwar",
    "clones of one shuffle of k an epoch, composed",
    "randomisers may adapt between rounds; no gain from sampling; rounded up",
)


def rounds_an_epoch(k: ArrayLike, n: ArrayLike) -> Any:
    """Return ⌊n/k⌋: rounds of at least k clients that see each of n clients once."""
    sampled, clients = checks.population(k, n)
    return scalar_if_0d(np.floor_divide(clients, sampled))


def epochs_begun(T: ArrayLike, k: ArrayLike, n: ArrayLike) -> Any:
    """Return ⌈T/⌊n/k⌋⌉, how many epochs T rounds begin: what is composed."""
    return scalar_if_0d(np.ceil(checks.rounds(T) / rounds_an_epoch(k, n)))


def shuffled_an_epoch(k: ArrayLike, n: ArrayLike, how: Allocation | str) -> FloatArray:
    """Return how many messages the shuffle has that stands for an epoch: n, or k if adaptive."""
    sampled, clients = checks.population(k, n)
    return clients if Allocation(how) is Allocation.FIXED else sampled


def allocation_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    how: Allocation | str = Allocation.ADAPTIVE,
    variant: Clones | str = Clones.PUBLISHED,
) -> Bound:
    """Return ε at δ of T rounds in which each client takes part once an epoch, rounded up.

    Arguments broadcast; domains as in `upper_epsilon`. `Clones.STRONGER` needs one common
    randomiser a round (an epoch, if fixed); no sampling is involved, so the 2021 analysis holds for
    any ε₀-LDP randomisers.
    """
    crowd = shuffled_an_epoch(k, n, how)
    found = clone_epsilon(eps0, crowd, crowd, epochs_begun(T, k, n), delta, variant)
    reference = EPOCH_FIXED if Allocation(how) is Allocation.FIXED else EPOCH_ADAPTIVE
    return Bound(found.value, Role.UPPER, reference, truncated=found.truncated, grade=Grade.PROVED)
