"""A release is as good as the demonstration of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.release.quality import PAIRS, compared


@pytest.mark.full
@pytest.mark.parametrize("name", PAIRS)
def test_release_and_demonstration_are_equally_near_the_truth(name):
    """Within 3 standard errors on few draws with a seed; 50 each by command."""
    found = compared(name, 64, 12, Fraction(1), np.random.default_rng(1).bytes)
    assert found.apart < 3
    assert 0 < found.release < 0.5
