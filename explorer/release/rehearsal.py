"""A release on synthetic people: nothing is read, nothing is spent, and it says so."""

from __future__ import annotations

import os

import numpy as np

from explorer.release.dry_run import synthetic_people
from explorer.release.mechanisms.base import Output
from explorer.release.plan import Plan

STAMP = "rehearsal on synthetic people: nothing was read, spent or released"
MOST_USERS = 1_000_000


def rehearse(plan: Plan, users: int, seed: int = 0) -> Output:
    """Draw the output of a plan on so many synthetic people.

    Parameters
    ----------
    plan : Plan
    users : int
        Declared, never counted: 1 to `MOST_USERS`.
    seed : int
        Of the people; the noise is fresh each time.

    Raises
    ------
    ValueError
        If there are too few or too many users.
    """
    if not 1 <= users <= MOST_USERS:
        raise ValueError(f"users: {users} is not between 1 and {MOST_USERS:,}; give another number")
    people = synthetic_people(plan.checked, plan.reads, users, np.random.default_rng(seed))
    return plan.mechanism.draw(people, plan.checked, plan.epsilon, os.urandom)
