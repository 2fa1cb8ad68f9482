"""Time zones by their IANA names, as the database knows them."""

import difflib
from functools import cache

from explorer.checkins.errors import CheckinError

RULE = (
    "A time that the clocks show twice is the later one, in standard time; one that they skip is "
    "read as if they had not been put forward yet."
)
"""What becomes of times in the hour that is repeated or skipped: the rule of ICU's calendars."""


@cache
def _known() -> dict[str, str]:
    """Return the names, by their lower-case forms."""
    import duckdb

    with duckdb.connect() as con:
        names = con.execute("SELECT name FROM pg_timezone_names() ORDER BY name").fetchall()
    return {name.lower(): name for (name,) in names}


def zone_name(text: str) -> str:
    """Return the name of a time zone as it is usually written.

    Raises
    ------
    CheckinError
        If there is none of that name; the message names one like it.
    """
    known = _known()
    asked = text.strip().replace(" ", "_").lower()
    if asked in known:
        return known[asked]
    cities = {name.rpartition("/")[2]: whole for name, whole in known.items() if "/" in name}
    near = difflib.get_close_matches(asked, known, 1) or difflib.get_close_matches(
        asked.rpartition("/")[2], cities, 1
    )
    like = known.get(near[0]) or cities[near[0]] if near else "Europe/Vienna"
    raise CheckinError(
        f"No time zone is called “{text[:60]}”; give a name of the IANA list such as {like}, or "
        "UTC."
    )
