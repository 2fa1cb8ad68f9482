"""Time zones by their IANA names, as the database knows them."""

import difflib
from functools import cache

from explorer.checkins.errors import CheckinError

RULE = (
    "A time that the clocks show twice is the first of the two; one that they skip is read as if "
    "they had not been put forward yet."
)
"""What becomes of times in the hour that is repeated or skipped: the rule of releases, too."""


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


@cache
def fold_seconds(zone: str) -> tuple[int, ...]:
    """Return by how many seconds clocks of a zone were put back, ascending, each number once."""
    import duckdb

    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        found = con.execute(
            "SELECT DISTINCT CAST(epoch(before - ahead) AS BIGINT) AS seconds FROM (SELECT ahead, "
            "lag(ahead) OVER (ORDER BY day) AS before FROM (SELECT day, timezone($zone, day) - "
            "timezone('UTC', day) AS ahead FROM (SELECT unnest(generate_series("
            "TIMESTAMPTZ '1931-12-01', TIMESTAMPTZ '2068-02-01', INTERVAL 1 DAY)) AS day))) "
            "WHERE before > ahead ORDER BY seconds",
            {"zone": zone},
        ).fetchall()
    return tuple(int(seconds) for (seconds,) in found)
