from explorer.checkins.cache import (
    CacheUse as CacheUse,
    cache_size as cache_size,
    cache_use as cache_use,
    clear_cache as clear_cache,
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
from explorer.checkins.selection import (
    SelectedRows as SelectedRows,
)
from explorer.checkins.sources import (
    SniffSettings as SniffSettings,
    find_files as find_files,
    sniff as sniff,
    sniff_files as sniff_files,
    sniff_source as sniff_source,
)
