from explorer.checkins.cache import (
    CacheUse as CacheUse,
)
from explorer.checkins.cache import (
    cache_size as cache_size,
)
from explorer.checkins.cache import (
    cache_use as cache_use,
)
from explorer.checkins.cache import (
    clear_cache as clear_cache,
)
from explorer.checkins.data import (
    CheckinData as CheckinData,
)
from explorer.checkins.errors import (
    CheckinError as CheckinError,
)
from explorer.checkins.errors import (
    LoadCancelled as LoadCancelled,
)
from explorer.checkins.errors import (
    MappingNeeded as MappingNeeded,
)
from explorer.checkins.loading import (
    open_checkins as open_checkins,
)
from explorer.checkins.model import (
    Box as Box,
)
from explorer.checkins.model import (
    Cell as Cell,
)
from explorer.checkins.model import (
    Dialect as Dialect,
)
from explorer.checkins.model import (
    Example as Example,
)
from explorer.checkins.model import (
    Format as Format,
)
from explorer.checkins.model import (
    Histogram as Histogram,
)
from explorer.checkins.model import (
    LoadReport as LoadReport,
)
from explorer.checkins.model import (
    Mapping as Mapping,
)
from explorer.checkins.model import (
    PointSet as PointSet,
)
from explorer.checkins.model import (
    Preview as Preview,
)
from explorer.checkins.model import (
    Progress as Progress,
)
from explorer.checkins.model import (
    Reason as Reason,
)
from explorer.checkins.readers.detect import (
    sniff as sniff,
)
