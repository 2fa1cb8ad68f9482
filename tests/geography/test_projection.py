import math

import pytest

from explorer.geography.projection import aspect_at
from explorer.geography.region import Region


def test_aspect_is_that_of_a_region():
    region = Region(40.0, -75.0, 42.0, -73.0)
    assert aspect_at(region.mid_latitude) == pytest.approx(region.aspect)
    assert aspect_at(0) == 1
    assert aspect_at(90) == aspect_at(-90) == pytest.approx(1 / math.cos(math.radians(89)))
    with pytest.raises(ValueError, match="latitude"):
        aspect_at(float("nan"))
