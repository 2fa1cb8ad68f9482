import math

import numpy as np
import pytest

from explorer.geography.basemap import lines_in, shipped_basemap
from explorer.geography.cities import shipped_cities
from explorer.geography.coordinates import aspect_at, first_longitude, turn_offset, wrap_longitudes
from explorer.geography.region import Region


def test_aspect_is_that_of_a_region():
    region = Region(40.0, -75.0, 42.0, -73.0)
    assert aspect_at(region.mid_latitude) == pytest.approx(region.aspect)
    assert aspect_at(0) == 1
    assert aspect_at(90) == aspect_at(-90) == pytest.approx(1 / math.cos(math.radians(89)))
    with pytest.raises(ValueError, match="latitude"):
        aspect_at(float("nan"))


def test_a_view_across_180_degrees_has_every_place_once():
    assert first_longitude(-180, 180) == first_longitude(-20, 50) == -180
    assert first_longitude(170, 190) == 170
    assert first_longitude(-300, 200) == -230  # wider than a turn: around its middle
    lon = np.array([-180.0, -179.0, 0.0, 179.0, 180.0])
    assert wrap_longitudes(lon, -180.0).tolist() == lon.tolist()
    assert wrap_longitudes(lon, 170.0).tolist() == [180, 181, 360, 179, 180]
    assert wrap_longitudes(lon, -200.0).tolist() == [-180, -179, 0, -181, -180]
    assert (turn_offset(-179, 181), turn_offset(181, -179), turn_offset(10, 20)) == (360, -360, 0)


def test_lines_and_names_go_on_beyond_180_degrees():
    level = shipped_basemap().levels[0]
    east = lines_in(level, (-20, 175, -15, 185))
    west = lines_in(level, (-20, -185, -15, -175))
    assert np.nanmax(east[0]) > 180 > np.nanmin(east[0])
    np.testing.assert_allclose(np.sort(east[0]), np.sort(west[0] + 360), atol=1e-4)
    box = (-30.0, 170.0, 30.0, 210.0)
    names = {city.name: city.longitude for city in shipped_cities().visible(box, 30, (0.01, 0.01))}
    assert all(170 <= longitude <= 210 for longitude in names.values())
    assert max(names.values()) > 180
    assert len(lines_in(level, (0, 1000, 10, 1010))[0]) == 0
