"""Filters of the heatmap paper and the counts it reports for them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """A filter on a public data set with the counts reported in a paper.

    Attributes
    ----------
    key : str
        Also the key of the file in `explorer.checkins.public_files.SOURCES`.
    name : str
    box : tuple of float
        South, west, north, east in degrees.
    start, end : str
        ISO 8601 UTC instants; rows with start ≤ time < end.
    expected_rows, expected_users : int
        As printed in the paper; shown next to computed counts, never in place of them.
    reference : str
        Where they are printed.
    """

    key: str
    name: str
    box: tuple[float, float, float, float]
    start: str
    end: str
    expected_rows: int
    expected_users: int
    reference: str

    def compare(self, rows: int, users: int) -> tuple[tuple[str, int, int], ...]:
        """Return (what, counted by us, reported by the paper), a line each."""
        return (
            ("check-ins", rows, self.expected_rows),
            ("users", users, self.expected_users),
        )


_REFERENCE = (
    "Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam, Valliappan, "
    "Differentially private heatmaps, section 4"
)
_UNITED_STATES = (0.0, -135.0, 50.0, -60.0)

PRESETS: tuple[Preset, ...] = (
    Preset(
        key="gowalla",
        name="Gowalla, United States, January 2010",
        box=_UNITED_STATES,
        start="2010-01-01T00:00:00Z",
        end="2010-02-01T00:00:00Z",
        expected_rows=196_071,
        expected_users=10_196,
        reference=_REFERENCE,
    ),
    Preset(
        key="brightkite",
        name="Brightkite, United States, November and December 2008",
        box=_UNITED_STATES,
        start="2008-11-01T00:00:00Z",
        end="2009-01-01T00:00:00Z",
        expected_rows=304_608,
        expected_users=10_177,
        reference=_REFERENCE,
    ),
)


def preset(key: str) -> Preset:
    """Return a preset by key.

    Raises
    ------
    ValueError
        Naming the keys there are.
    """
    for item in PRESETS:
        if item.key == key:
            return item
    raise ValueError(f"preset: {key!r} is not one of {', '.join(p.key for p in PRESETS)}")
