"""The mean sphere (IUGG mean radius 6371.0088 km) and its units.

The sphere errs by at most 0.56 % against the ellipsoid, far below a grid cell.
"""

import math

from explorer.geography.region import KM_PER_DEGREE

EARTH_RADIUS_KM = KM_PER_DEGREE * 180 / math.pi
KM_PER_MILE = 1.609344
"""International mile, exact."""
