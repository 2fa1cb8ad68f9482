"""Release plans: the content of PLAN.json, parsed strictly."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from explorer.release.errors import ParameterError, ReleaseError
from explorer.release.exact_json import read_amount, read_fraction, read_json, write_fraction
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.base import Part, Reads, ReleaseMechanism
from explorer.release.mechanisms.fields import check_columns
from explorer.release.rows import format as file_format
from explorer.release.rows.format import (
    FORMAT_KEYS,
    LAT,
    LON,
    TIME,
    USER,
    FileFormat,
)
from explorer.release.simulations import PROTOCOLS, SimulationOnlyError, simulation_document

SCHEMA = "privacy-explorer/plan/1"
MAX_TEXT = 4000
"""Maximum length of a text, as in the certificate's schema."""
MAX_CONDITIONS = 50
MAX_PLAN_BYTES = 4 << 20

TEXTS = (
    "title",
    "curator",
    "description",
    "intended_use",
    "label",
    "period",
    "region",
    "source_type",
)
"""Declared texts; `label` is that of the data."""
DECLARED_ROWS = ("model and trust", "utility and bias", "data security")
"""Rows of NIST SP 800-226 that only the curator can answer."""
FORMAT_CHOICES = {name: tuple(known) for name, known in file_format.FORMAT_CHOICES.items()}
"""Allowed values of parameters of the file format."""
FORMAT_DECLARED, FORMAT_TAKEN = file_format.FORMAT_DECLARED, file_format.FORMAT_TAKEN
PLACED = (USER, TIME, LAT, LON)
"""Names of the columns of ids, times and coordinates."""

_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True)
class Declared:
    """Declarations of the curator, which no program can verify.

    Attributes
    ----------
    texts : mapping of str to str
        One for each of `TEXTS`.
    independent_of_data : bool
        Whether the curator declares that no parameter was chosen by looking at the data.
    conditions : tuple of str
    format : str
        Origin of the file format: `FORMAT_DECLARED` (typed by the curator; omitted from a plan's
        JSON), or `FORMAT_TAKEN` (detected when the file was opened).
    evaluation : mapping of str to str
        Texts for the rows of NIST SP 800-226 in `DECLARED_ROWS`. They are not part of PLAN.json:
        they are typed in the window and stored with the release.
    """

    texts: Mapping[str, str]
    independent_of_data: bool
    conditions: tuple[str, ...]
    format: str = FORMAT_DECLARED
    evaluation: Mapping[str, str] = field(default_factory=dict)

    def as_stored(self) -> dict[str, Any]:
        """Return all declarations as JSON values, as stored with a release."""
        return {**self.as_json(), "evaluation": dict(self.evaluation)}

    def as_json(self) -> dict[str, Any]:
        """Return the JSON values of a plan's ``declared``."""
        return {
            **self.texts,
            "independent_of_data": self.independent_of_data,
            "conditions": list(self.conditions),
            **({} if self.format == FORMAT_DECLARED else {"format": self.format}),
        }


@dataclass(frozen=True)
class Plan:
    """A planned release; it depends on typed values only, not on the data.

    Attributes
    ----------
    population : str
        Its id in the ledger.
    data : Path
        Path of the data file, which is not opened here.
    mechanism : ReleaseMechanism
    form : FileFormat
        Declared format of the file.
    own_parameters : object
        Parsed parameters of the mechanism.
    epsilon : Fraction
        Price of the release, as typed.
    declared : Declared
    """

    population: str
    data: Path
    mechanism: ReleaseMechanism[Any]
    form: FileFormat
    own_parameters: Any
    epsilon: Fraction
    declared: Declared

    @property
    def reads(self) -> Reads:
        """Columns that the mechanism needs."""
        return self.mechanism.reads(self.own_parameters)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Measurements, whose ε add up to the price."""
        return self.mechanism.parts(self.own_parameters, self.epsilon)

    def parameters(self) -> dict[str, Any]:
        """Return all parameters as in the certificate, including defaults."""
        own: dict[str, Any] = self.own_parameters.as_parameters()
        return self.form.parameters() | own

    def as_json(self) -> dict[str, Any]:
        """Return the JSON values of PLAN.json; the inverse of `plan_from_json`."""
        return {
            "schema": SCHEMA,
            "population": self.population,
            "data": str(self.data),
            "mechanism": {
                "id": self.mechanism.id,
                "epsilon": write_fraction(self.epsilon),
                "parameters": self.parameters(),
            },
            "declared": self.declared.as_json(),
        }


def read_plan(path: Path) -> Plan:
    """Read PLAN.json; a relative path of the data is relative to its folder.

    Raises
    ------
    ReleaseError
        Naming file, field and remedy.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ReleaseError(
                f"{path.name}: it is not a regular file; give the path of a PLAN.json"
            )
        with path.open("rb") as file:
            data = file.read(MAX_PLAN_BYTES + 1)
        if len(data) > MAX_PLAN_BYTES:
            raise ReleaseError(f"{path.name}: it is larger than 4 MB, too large for a plan")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(f"{path.name}: {reason}; give the path of a PLAN.json") from None
    content = read_json(data, path.name)
    try:
        return plan_from_json(content, path.parent)
    except SimulationOnlyError:
        raise
    except ReleaseError as error:
        raise ReleaseError(f"{path.name}: {error}") from None


def plan_from_json(content: object, folder: Path = Path()) -> Plan:
    """Return a plan from its parsed JSON.

    Raises
    ------
    ParameterError
        Naming field, problem and remedy.
    """
    top = _fields(content, "", ("schema", "population", "data", "mechanism", "declared"))
    if top["schema"] != SCHEMA:
        raise ParameterError(
            "schema", f"{_short(top['schema'])} is not supported", f"give {SCHEMA}"
        )
    population = top["population"]
    if not isinstance(population, str) or not _ID.fullmatch(population):
        raise ParameterError(
            "population",
            f"{_short(population)} is not the id of a population",
            "give its 32 digits as the ledger shows them",
        )
    data = _text(top["data"], "data")
    if not data.strip() or "\0" in data:
        raise ParameterError("data", f"{_short(data)} is not a path", "give the path of the file")
    mechanism = _fields(top["mechanism"], "mechanism", ("id", "parameters", "epsilon"))
    return build_plan(
        population,
        folder / data,
        mechanism["id"],
        mechanism["parameters"],
        _epsilon(mechanism["epsilon"]),
        read_declaration(top["declared"]),
    )


def build_plan(
    population: str,
    data: Path,
    mechanism_id: object,
    parameters: object,
    epsilon: Fraction,
    declared: Declared,
) -> Plan:
    """Return a plan with validated mechanism and parameters.

    Raises
    ------
    ParameterError
        Naming field, problem and remedy.
    SimulationOnlyError
        If the mechanism can only be simulated; it has the document to write instead.
    """
    mechanism = MECHANISMS.get(mechanism_id) if isinstance(mechanism_id, str) else None
    simulated = isinstance(mechanism_id, str) and mechanism_id in PROTOCOLS
    if mechanism is None and not simulated:
        raise ParameterError(
            "mechanism.id",
            f"{_short(mechanism_id)} is not known here",
            f"give one of {', '.join(MECHANISMS)}",
        )
    if not isinstance(parameters, dict):
        raise ParameterError("mechanism.parameters", "is not an object", "give names and values")
    if parameters.get("unit", "user") != "user":
        raise ParameterError(
            "mechanism.parameters.unit",
            f"{_short(parameters['unit'])} is not a unit of a release",
            "a release needs a column that names the person: leave it out, or give user",
        )
    parameters = {name: value for name, value in parameters.items() if name != "unit"}
    for name, value in parameters.items():
        _check_plain(value, f"mechanism.parameters.{_short(name)[1:-1]}")
    if mechanism is None:
        raise SimulationOnlyError(
            simulation_document(str(mechanism_id), parameters, epsilon, declared.as_json())
        )
    try:
        form = FileFormat.parse(parameters)
        own = {name: value for name, value in parameters.items() if name not in FORMAT_KEYS}
        checked = mechanism.parse(own)
        price = mechanism.price(checked, epsilon)
        check_columns(form.columns, mechanism.reads(checked), mechanism.id)
    except ParameterError as error:
        path = "mechanism" if error.field == "epsilon" else "mechanism.parameters"
        raise error.below(path) from None
    return Plan(population, data, mechanism, form, checked, price, declared)


def check_format(parameters: Mapping[str, object]) -> None:
    """Raise ParameterError if the declared file format is invalid."""
    FileFormat.parse(parameters)


def stored_declaration(content: dict[str, Any]) -> Declared:
    """Return the declarations stored with a release; the inverse of `Declared.as_stored`.

    Raises
    ------
    ParameterError
        Naming field, problem and remedy.
    """
    stated = dict(content)
    rows = stated.pop("evaluation", {})
    texts = {row: _text(rows[row], f"evaluation.{row}") for row in DECLARED_ROWS if row in rows}
    return replace(read_declaration(stated), evaluation=texts)


def read_declaration(content: object) -> Declared:
    """Parse a plan's ``declared``.

    Raises
    ------
    ParameterError
        Naming field, problem and remedy.
    """
    names = (*TEXTS, "independent_of_data", "conditions")
    result = _fields(content, "declared", names, ("format",))
    texts = {name: _text(result[name], f"declared.{name}") for name in TEXTS}
    independent = result["independent_of_data"]
    if not isinstance(independent, bool):
        raise ParameterError(
            "declared.independent_of_data", "is neither true nor false", "give one of the two"
        )
    conditions = result["conditions"]
    if not isinstance(conditions, list) or len(conditions) > MAX_CONDITIONS:
        raise ParameterError(
            "declared.conditions", f"is not a list of at most {MAX_CONDITIONS} texts", "give one"
        )
    stated = tuple(_text(text, f"declared.conditions[{k}]") for k, text in enumerate(conditions))
    source = result.get("format", FORMAT_DECLARED)
    if source not in (FORMAT_DECLARED, FORMAT_TAKEN):
        raise ParameterError(
            "declared.format",
            f"{_short(source)} is not offered",
            f"give {FORMAT_TAKEN!r}, or leave it out",
        )
    return Declared(texts, independent, stated, source)


def _epsilon(value: object) -> Fraction:
    try:
        # fractions must be reduced, as in the ledger
        read = read_fraction if isinstance(value, str) and "/" in value else read_amount
        epsilon = read(value, "mechanism.epsilon")
    except ReleaseError as error:
        problem = str(error).partition(": ")[2]
        raise ParameterError("mechanism.epsilon", problem, 'give it as in "1/2" or "0.5"') from None
    if not epsilon:
        raise ParameterError("mechanism.epsilon", "is 0", "give more than 0")
    return epsilon


def _fields(
    content: object, path: str, names: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return an object after checking that it has the required fields and no unknown ones."""
    where = path or "plan"
    if not isinstance(content, dict):
        raise ParameterError(where, "is not an object", f"give one with {', '.join(names)}")
    below = f"{path}." if path else ""
    for name in content:
        if name not in (*names, *optional):
            raise ParameterError(
                below + _short(name)[1:-1],
                "is not known",
                f"leave it out; {where} has {', '.join(names)}",
            )
    for name in names:
        if name not in content:
            raise ParameterError(below + name, "is missing", "add it")
    return content


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise ParameterError(field, "is not a text", "give it in quotes")
    if len(value) > MAX_TEXT:
        raise ParameterError(field, f"is longer than {MAX_TEXT} characters", "shorten it")
    if any(0xD800 <= ord(char) <= 0xDFFF or (ord(char) < 32 and char != "\n") for char in value):
        raise ParameterError(field, "has characters that can't be printed", "leave them out")
    return value


def _check_plain(value: object, field: str) -> None:
    """Raise ParameterError unless the value is text, an integer or a list of these."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            _text(item, field)
        elif isinstance(item, bool) or not isinstance(item, int):
            raise ParameterError(
                field,
                f"{_short(item)} is neither text nor a whole number",
                "give one of these, or a list of them",
            )
        elif abs(item) >= 1 << 62:
            raise ParameterError(field, "is too large a number", "give a smaller one")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
