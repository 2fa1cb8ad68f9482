from explorer.checkins.cache import (
    CacheUse as CacheUse,
    cache_size as cache_size,
    cache_use as cache_use,
    clear_cache as clear_cache,
)
from explorer.checkins.chosen.points import (
    PointSet as PointSet,
)
from explorer.checkins.data import (
    CheckinData as CheckinData,
)
from explorer.checkins.errors import (
    CheckinError as CheckinError,
    LoadCancelled as LoadCancelled,
    MappingNeeded as MappingNeeded,
)
from explorer.checkins.loading import (
    open_checkins as open_checkins,
)
from explorer.checkins.model import (
    Box as Box,
    Cell as Cell,
    Dialect as Dialect,
    Example as Example,
    Format as Format,
    LoadReport as LoadReport,
    Mapping as Mapping,
    Preview as Preview,
    Progress as Progress,
    Reason as Reason,
)
from explorer.checkins.parts.files import (
    find_files as find_files,
    sniff_files as sniff_files,
)
from explorer.checkins.readers.detect import (
    sniff as sniff,
)
