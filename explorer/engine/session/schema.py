"""Stored schema of recipes, sessions and column mappings, and validation of files against it.

**The names of the fields and the words of the choices are frozen**: files that hold them are in
people's folders and papers. Classes may be renamed, fields may be added with a default; none may be
renamed or removed.

Values from a file are checked against the schema field by field. Unknown fields are ignored (a
newer program wrote them). A value that is not valid is refused with the path of its field, or left
out of a list and reported.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

RECIPE_SCHEMA = "privacy-explorer-recipe/1"
WINDOW_SCHEMA = "privacy-explorer-window/1"

_MAX_FLOAT = sys.float_info.max
_NO_SURROGATES = "^[^\ud800-\udfff]*$"
"""Half a surrogate pair is not a character: neither Qt nor a file accepts it."""

Number = Annotated[float, Meta(ge=-_MAX_FLOAT, le=_MAX_FLOAT)]
Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Origin = Literal[
    "public",
    "typed",
    "stand-in",
    "theory",
    "unknown",
    "drawn",
    "busiest",
    "first",
    "extent",
    "judged",
]
Share = Annotated[float, Meta(gt=0, le=1)]
Users = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Points = Annotated[int, Meta(ge=1, le=100_000)]
Column = Annotated[int, Meta(ge=0, lt=10_000)]
Text = Annotated[str, Meta(max_length=500, pattern=_NO_SURROGATES)]
Word = Annotated[str, Meta(max_length=40, pattern=_NO_SURROGATES)]
Key = Annotated[str, Meta(min_length=1, max_length=200, pattern=_NO_SURROGATES)]
ClaimedKey = Annotated[str, Meta(max_length=200, pattern=_NO_SURROGATES)]
Keys = Annotated[list[Key], Meta(max_length=200)]
Place = Annotated[str, Meta(min_length=1, max_length=10_000, pattern="^[^\0]*$")]
"""A path; bytes of its name that are not text are halves of surrogate pairs."""
JudgedOn = Annotated[str, Meta(max_length=10_000, pattern="^[^\0]*$")]
"""Nothing for the map's own check-ins, ``sample``, ``theory``, the name of a figure with made data
(``figure-10``), or the path of a public file."""
Measure = Literal["emd_km", "emd", "similarity", "pearson", "kl"]
UtilityAxis = Literal["epsilon", "users", "resolution", "w", "sigma", "filled"]
UtilityStatistic = Literal["often", "mean"]
NoUserColumn = Literal["row", "file"]
"""Privacy units of files without a user column."""
Target = Annotated[float, Meta(gt=0, le=_MAX_FLOAT)]
FileName = Annotated[str, Meta(max_length=500, pattern="^[^\0]*$")]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Instant = Annotated[
    str,
    Meta(
        max_length=40,
        pattern=r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$",
    ),
]
"""ISO 8601."""
TimeFormat = Annotated[
    str,
    Meta(
        max_length=100,
        pattern=r"^(iso|epoch_s|epoch_ms|epoch_us|epoch_ns|excel_1900|excel_1904|"
        r"(?=.*%)([^%\x00-\x1f]|%-?[abcdfghjmnpuwxyzABGHIMSTUVWXYZ%])+)$",
    ),
]
ZoneName = Annotated[str, Meta(max_length=60, pattern="^[A-Za-z0-9_+/-]+$")]
"""Of the IANA list."""
EncodingName = Annotated[str, Meta(max_length=40, pattern="^[a-z0-9_-]+$")]
"""A Python codec."""
Base64 = Annotated[str, Meta(max_length=200_000, pattern="^[A-Za-z0-9+/=]*$")]
Value = bool | int | float | str
Pair = Annotated[list[Number], Meta(min_length=2, max_length=2)]
Numbers = Annotated[list[Number], Meta(min_length=1, max_length=10_000)]
Ends = Annotated[list[Number | None], Meta(max_length=10_000)]
Box = Annotated[list[Number], Meta(min_length=4, max_length=4)]
"""South, west, north, east in degrees."""
# As `explorer.polygon.MAX_POINTS`, whose module needs numpy: this is read before the first paint.
Corners = Annotated[list[Pair], Meta(min_length=3, max_length=1000)]


FORMER_DEFAULTS: dict[tuple[str, str], Value] = {("heatmap", "mechanism"): "pyramid"}
"""(Study, parameter) → value of files that do not name it, where the default has changed since.
"""
FORMER_QUANTITIES = {"cldp-sgd": "eps"}
"""Study → quantity of files that name none, where the first one has changed since."""
T = TypeVar("T")
S = TypeVar("S", bound=Struct)
MAX_SHOWN = 40
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
_PATTERN = "expected a text without strange characters"
_RULES = (
    (r"Object missing required field `(.+)`", r"lacks the field '\1'"),
    (r"Object contains unknown field `(.{,40}).*`", r"has a field '\1', which there is not"),
    (r"Invalid enum value", "expected one of the words that are known here"),
    (r"Expected `float` [<>]=|Number out of range", "expected a finite number"),
    (r"Expected `str` matching regex", _PATTERN),
    (r"Expected `(\w+)` of length ([<>=]* ?\d+)", r"expected `\1` of length \2"),
    (r"Expected `(.+?)` ([<>]=? \d+)", r"expected `\1` \2"),
    (r"Expected `(.+?)`", r"expected `\1`"),
)
_INSTANT = "expected an instant such as 2010-01-31T12:00:00Z"
_REMEDIES = {
    "start": _INSTANT,
    "end": _INSTANT,
    "time_format": (
        "expected iso, epoch_s, epoch_ms, epoch_us, epoch_ns, excel_1900, excel_1904 or a strptime "
        "pattern such as %Y-%m-%d %H:%M"
    ),
    "sha256": "expected a sha256 of 64 hexadecimal digits",
    "geometry": "expected base64",
    "layout": "expected base64",
}
"""Remedy for a text that does not match its pattern, by the name of the field."""


class Sweep(Struct):
    """The x axis of a question."""

    key: Key
    low: Number
    high: Number
    points: Points
    scale: Literal["lin", "log"]


class Columns(Struct, forbid_unknown_fields=True):
    """Column mapping of a check-in file: `explorer.checkins.Mapping`."""

    user: Column | UnsetType | None = UNSET
    time: Column | UnsetType | None = UNSET
    lat: Column | UnsetType | None = UNSET
    lon: Column | UnsetType | None = UNSET
    location: Column | UnsetType | None = UNSET
    weight: Column | UnsetType | None = UNSET
    time_format: TimeFormat | UnsetType = UNSET
    plane: Text | UnsetType | None = UNSET
    image: Column | UnsetType | None = UNSET
    zone: ZoneName | UnsetType | None = UNSET
    decimal: Literal[".", ","] | UnsetType | None = UNSET
    encoding: EncodingName | UnsetType | None = UNSET
    crs: Text | UnsetType | None = UNSET
    order: Literal["latlon", "lonlat"] | UnsetType | None = UNSET
    delimiter: Annotated[str, Meta(min_length=1, max_length=1)] | UnsetType | None = UNSET
    header: Annotated[int, Meta(ge=0, le=100_000)] | UnsetType | None = UNSET
    layer: Text | UnsetType = UNSET
    """Not of the mapping, but of the `explorer.checkins.Dialect`."""
    unit: NoUserColumn | UnsetType = UNSET
    """The privacy unit of a file without a user column; absent with one."""
    names: dict[Word, Text] | UnsetType = UNSET
    """Names of the columns in use, by what they hold. What was stored before columns were named
    has none."""


class Data(Struct):
    """Data file of a result, never with its path."""

    name: FileName = ""
    sha256: Hash | UnsetType = UNSET
    columns: Columns | UnsetType = UNSET


class Selection(Struct):
    """Selection of rows from the file."""

    region: Box | UnsetType = UNSET
    """Only a private-only recipe may leave it out."""
    start: Instant | None = None
    end: Instant | None = None
    users: Users | None = None
    data_seed: Whole = 0
    share: Share | UnsetType | None = UNSET
    region_from: Origin | Annotated[list[Origin], Meta(min_length=4, max_length=4)] | UnsetType = (
        UNSET
    )
    """Of all sides, or of south, west, north and east."""
    time_from: Origin | UnsetType = UNSET
    n0_from: Origin | UnsetType = UNSET
    epsilon_from: Origin | UnsetType = UNSET
    settings_from: Origin | UnsetType = UNSET
    plane: Text | UnsetType = UNSET
    """What the region lies in if it is not the Earth, such as ``320x240:px:down``; the region is
    then YMIN, XMIN, YMAX, XMAX in its unit."""
    polygon: Corners | UnsetType = UNSET
    """Latitude and longitude of the corners of a polygon that the region is the box of."""
    rings: Annotated[list[Corners], Meta(min_length=1, max_length=333)] | UnsetType = UNSET
    """Further rings of the polygon: other areas, and holes in them."""
    image: Text | UnsetType = UNSET
    unit: NoUserColumn | UnsetType = UNSET
    """The privacy unit of the data; absent: users."""


class Question(Struct):
    """Request: all of a recipe except the view."""

    schema: Literal["privacy-explorer-recipe/1"]
    study: Key
    values: dict[str, Value]
    version: Text = ""
    quantity: Annotated[str, Meta(max_length=200, pattern=_NO_SURROGATES)] = ""
    seed: Whole = 0
    fidelity: Literal["coarse", "full"] = "full"
    sweep: Sweep | UnsetType | None = UNSET
    data: Data | UnsetType = UNSET
    selection: Selection | UnsetType | None = UNSET
    private_only: bool | UnsetType = UNSET
    """Whether it holds nothing private: settings, neither data nor draw."""


class View(Struct):
    """View of an answer: `explorer.figures.view_state.ViewState`."""

    title: Text | UnsetType = UNSET
    theme: Word | UnsetType = UNSET
    x_range: Pair | UnsetType | None = UNSET
    y_range: Pair | UnsetType | None = UNSET
    x_log: bool | UnsetType = UNSET
    y_log: bool | UnsetType = UNSET
    hidden: Keys | UnsetType = UNSET
    claim: ClaimedKey | UnsetType = UNSET
    """Of the series that is claimed; without, the tightest valid bound is."""
    surfaces: Keys | UnsetType = UNSET
    colour_map: Word | UnsetType = UNSET
    linked_scale: bool | UnsetType = UNSET
    map_box: Box | UnsetType | None = UNSET
    show_basemap: bool | UnsetType = UNSET
    show_cities: bool | UnsetType = UNSET
    show_contributions: bool | UnsetType = UNSET
    picture: FileName | UnsetType = UNSET
    """Name and sha256 of the picture behind the map, with # between."""
    backgrounds: Annotated[list[FileName], Meta(max_length=6)] | UnsetType = UNSET
    """Name and sha256 of the files behind the map, with # between, the lowest first."""
    heatmap_opacity: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    left_out: Keys | UnsetType = UNSET
    """Captions that are not written around the picture."""
    pinned: Annotated[list[Any], Meta(max_length=200)] | UnsetType = UNSET
    """Of `Pin`, each read on its own."""
    own: Annotated[list[Any], Meta(max_length=200)] | UnsetType = UNSET
    """Of `ImportedCurve`, each read on its own."""


class Grid(Struct):
    """Grid of up to three further parameters, in the form the user types."""

    over: Annotated[list[Text], Meta(max_length=3)] = []
    """``KEY=VALUES``."""
    trials: Annotated[int, Meta(ge=1, le=10_000)] = 1
    colours: bool = False


class Recipe(Question):
    """Recipe embedded in an exported file."""

    view: View | UnsetType = UNSET
    which: Any = UNSET
    """Of `ExportedUtility`, where curves of *Utility* were exported."""
    grid: Grid | UnsetType = UNSET


class Pin(Struct):
    """Pinned curves."""

    recipe: Question
    hidden: Keys = []


class ImportedCurve(Struct):
    """A curve imported from a user's file, and its plot."""

    study: Key
    quantity: Key
    over: ClaimedKey
    """The parameter on the x axis."""
    file: Key
    """Its name, never its path."""
    name: Key
    x: Numbers
    y: Numbers
    called: Word = ""
    """Role stated by its file."""
    low: Ends = []
    high: Ends = []
    """Ends of the points' intervals, null where there is none."""
    meaning: ClaimedKey = ""
    """What its file says that they are."""


class Entry(Struct):
    """A row of the comparison."""

    recipe: Question
    readout: Key
    claimed: bool = False
    """Whether it was claimed when it was added."""


class PlotView(Struct):
    """Scale and hidden curves of a study's quantity."""

    study: Key
    quantity: Key
    y_log: bool
    hidden: Keys = []
    claim: ClaimedKey = ""
    shown: Keys = []
    """Beyond the curves drawn by default."""
    every: bool = False
    preset: ClaimedKey = ""
    """The last one applied."""


class Utility(Struct):
    """View of *Utility*; fields are read one by one."""

    open: bool = False
    axis: UtilityAxis = "epsilon"
    measure: Measure = "emd_km"
    statistic: UtilityStatistic = "often"
    targets: dict[Measure, Target] = {}
    judged_on: JudgedOn = ""


class ExportedUtility(Struct):
    """View of *Utility* in an export of its curves; fields are read one by one."""

    axis: UtilityAxis = "epsilon"
    measure: Measure = "emd_km"
    statistic: UtilityStatistic = "often"
    target: Target | None = None
    judged_on: Word = ""
    """In words, as they are exported: never the path of a file."""
    draws: Points | UnsetType = UNSET


class GridOfStudy(Grid, kw_only=True):
    """Grid of one study."""

    study: Key


class Session(Struct):
    """`session` of a session file; items of lists are read one by one."""

    study: Key = ""
    requests: list[Any] = []
    """Of `Question`."""
    looks: list[Any] = []
    """Of `PlotView`."""
    pins: list[Any] = []
    """Of `Pin`."""
    comparison: list[Any] = []
    """Of `Entry`."""
    which: Any = UNSET
    """Of `Utility`."""
    grids: list[Any] = []
    """Of `GridOfStudy`."""
    own: list[Any] = []
    """Of `ImportedCurve`."""


class Computing(Struct):
    """Cluster settings for sweeps, experiments and trainings."""

    address: str = ""
    """Of a cluster, or ``local:N``; empty: this machine alone."""
    certificates: str = ""
    shared_folder: str = ""
    data_to: list[str] = []
    """Addresses to which check-ins may go."""
    memory_mb: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    """Memory for opening check-ins; 0: a share of free memory."""


class Visit(Struct):
    """A recent request, for *Continue with*."""

    study: Key
    words: Key
    when: Word


class KnownBackground(Struct):
    """A file that was behind the map."""

    path: Place
    value: FileName
    size: Annotated[int, Meta(ge=0)]
    changed: Annotated[int, Meta(ge=0)]
    """Nanoseconds since 1970."""


class KnownAnswers(Struct):
    """Confirmed answers about check-in files of one header and format."""

    like: Hash
    """Of the header and the format."""
    file: FileName
    """Which file they were confirmed for."""
    columns: Columns
    asked: list[Hash] = []
    """Of the questions that were answered; others are asked again."""


class Window(Struct):
    """A session file; fields are read one by one."""

    session: dict[str, Any] = {}
    """Of `Session`."""
    data_path: Place | None = None
    data_more: list[Any] = []
    """Of `Place`: the other files of a data set of several."""
    data_columns: Columns | UnsetType = UNSET
    """How they were read."""
    files: dict[str, Place] = {}
    recent: list[Any] = []
    """Of `Place`."""
    backgrounds: list[Any] = []
    """Of `KnownBackground`, the latest first."""
    answers: list[Any] = []
    """Of `KnownAnswers`, the latest first."""
    found: list[Any] = []
    """Of `Key`: commands last run by Ctrl+K, the latest first."""
    visits: list[Any] = []
    """Of `Visit`, the latest first."""
    start_page: bool = True
    """Whether the page with all questions is shown at start."""
    theme: Literal["system", "light", "dark"] = "system"
    geometry: Base64 = ""
    layout: Base64 = ""
    folded: list[Any] = []
    """Of `Key`."""
    views: dict[str, Any] = {}
    """Of `View`, by workspace."""
    computing: Computing = field(default_factory=Computing)


class SchemaError(ValueError):
    """Invalid value in a file; the message is ``path of the field: what is wrong``."""


def decode(data: bytes) -> Any:
    """Parse JSON; Infinity and NaN are left to the fields' checks.

    Raises
    ------
    SchemaError
        If it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(data, parse_int=_integer)
    except RecursionError:
        raise SchemaError("it is nested too deeply") from None
    except ValueError as error:
        raise SchemaError(f"it is not JSON ({str(error)[:200]})") from None


def _integer(digits: str) -> int | float:
    """Parse a whole number; infinity if it has too many digits."""
    return int(digits) if len(digits) < 400 else math.inf


def read(raw: object, kind: type[T], where: str = "") -> T:
    """Return JSON values as one of the structs above (or another type that msgspec supports).

    Parameters
    ----------
    raw : JSON values
    kind : type
    where : str
        Path of what is read, for messages: ``requests[3]``.

    Raises
    ------
    SchemaError
        Naming the field by its path, what was expected and what was found.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise SchemaError(_sentence(str(error), raw, where)) from None
    except (ValueError, RecursionError, OverflowError):  # letters that are none, endless nesting
        raise SchemaError(f"{where or 'it'}: holds what can't be read") from None


def read_list(
    raw: Sequence[object],
    parse: Callable[[Any, str], T],
    where: str,
    left_out: list[str],
    at_most: int,
) -> list[T]:
    """Return the items of a list that can be read.

    Parameters
    ----------
    raw : sequence of JSON values
    parse : callable
        Returns an item from its JSON values and its path, or raises ValueError naming it.
    where : str
        Path of the list.
    left_out : list of str
        Gets a sentence for each item that is left out.
    at_most : int
        How many items are read; further ones are left out.
    """
    items: list[T] = []
    for index, item in enumerate(raw[:at_most]):
        try:
            items.append(parse(item, f"{where}[{index}]"))
        except ValueError as error:
            left_out.append(str(error))
    if len(raw) > at_most:
        left_out.append(f"{where}: {len(raw)} items; the first {at_most} were read")
    return items


def read_fields(raw: object, kind: type[S], where: str, left_out: list[str]) -> S:
    """Return a struct all of whose fields have defaults, with the fields that can be read.

    `left_out` gets a sentence for each that can't.
    """
    if not isinstance(raw, Mapping):
        left_out.append(f"{where or 'it'}: expected an object, got {_shorten_json(raw)}")
        return kind()
    values: dict[str, Any] = {}
    for declared in msgspec.structs.fields(kind):
        if declared.name in raw:
            path = f"{where}.{declared.name}" if where else declared.name
            try:
                values[declared.name] = read(raw[declared.name], declared.type, path)
            except SchemaError as error:
                left_out.append(str(error))
    return kind(**values)


def plain(struct: Struct) -> dict[str, Any]:
    """Return a struct as JSON values."""
    values: dict[str, Any] = msgspec.to_builtins(struct)
    return values


def _sentence(message: str, raw: object, where: str) -> str:
    """Rephrase msgspec's message: the path first, then what is wrong."""
    problem, _, location = message.partition(" - at ")
    path = location.strip("`").removeprefix("key` in `").removeprefix("$")
    value: object = raw
    for name, index in re.findall(r"\.(\w+)|\[(\d+|\.{3})\]", path):
        if index == "..." and isinstance(value, Mapping):  # which of them, msgspec does not say
            index = next(
                (k for k, v in value.items() if not isinstance(v, bool | int | float | str)), ""
            )
            path = path.replace("[...]", f".{str(index)[:MAX_SHOWN]}")
        try:
            value = value[name or (index if isinstance(value, Mapping) else int(index))]  # type: ignore[index]
        except (KeyError, IndexError, TypeError, ValueError):
            break
    for pattern, words in _RULES:
        if match := re.match(pattern, problem):
            problem = match.expand(words)
            break
    problem = _REMEDIES.get(path.rpartition(".")[2], problem) if problem == _PATTERN else problem
    problem = re.sub(r"`(\w+(?: \| \w+)*)`", _in_words, problem)
    got = f", got {_shorten_json(value)}" if problem.startswith("expected") else ""
    return f"{(where + path).lstrip('.') or 'it'}: {problem}{got}"


def _in_words(match: re.Match[str]) -> str:
    return " or ".join(_WORDS.get(word, word) for word in match[1].split(" | "))


def _shorten_json(value: object) -> str:
    """Return a value as JSON text, shortened."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**20:
        return "a number of more than 20 digits"
    text = json.dumps(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
