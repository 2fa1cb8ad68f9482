"""Draft of a release plan and its open points. Imports no Qt.

No value is taken from the data by itself: a value copied from the map by a click is marked `copied`
and recorded in the certificate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import wraps
from pathlib import Path

from explorer.release.errors import ParameterError, ReleaseError
from explorer.release.ledger.differencing import overlaps
from explorer.release.ledger.state import SPENT, Account, Release
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.adaptive import CHECKINS, CITIES, EARLIER, GRID, PriorMasses
from explorer.release.messages import price_text, sentence
from explorer.release.pipeline import LedgerLocation
from explorer.release.plan import (
    DECLARED_ROWS,
    FORMAT_DECLARED,
    FORMAT_TAKEN,
    PLACED,
    TEXTS,
    Declared,
    Plan,
    build_plan,
)
from explorer.release.priors import MOST_EPSILON, degrees_of
from explorer.release.rounding import rounded_down, rounded_up
from explorer.studies.base.phrases import MAX_USEFUL_CHANCE, best_chance, times_in_100
from explorer.ui.release.fields import (
    FORMAT,
    LABELS,
    OF_MECHANISM,
    PEOPLE,
    TAKE_MAPS,
    any_format,
    example_of,
    read_epsilon,
    read_format,
    read_own,
    read_people,
)
from explorer.user_rows import Box

USER, TIME, *_ = PLACED
NO_PERSON = "A release needs a column that names the person. Open the file again and choose one."
SYNTHETIC_POPULATION = "0" * 32
"""Population of a dry run."""
COPIED_SENTENCE = "{names}: from a map of the data."
COPIED = "{names} taken from the map of the data by a click."
COPIED_NAMES = {
    "box": "The box was",
    "epsilon": "ε was",
    "start": "The start of the time range was",
    "end": "The end of the time range was",
}
REGION = ("box", "start", "end")
"""Copied values that the page *What* shows."""
_BINARY = {
    ".parquet": "Parquet",
    ".xlsx": "Excel",
    ".gpkg": "GeoPackage",
    ".zip": "ZIP",
    ".sqlite": "SQLite",
}
"""Kinds of files without rows of text, by suffix."""


@dataclass(frozen=True)
class LedgerState:
    """State of a ledger, read recently.

    Attributes
    ----------
    place : Place
    exists : bool
    problem : str
        Reason why no release is possible.
    notices : tuple of str
    accounts : tuple of Account
    releases : tuple of Release
    joined : mapping of str to str
        From a population to the one into which it was merged.
    shown : int
        How often the true map of the open file was shown.
    id : str
    """

    place: LedgerLocation
    exists: bool = False
    problem: str = ""
    notices: tuple[str, ...] = ()
    accounts: tuple[Account, ...] = ()
    releases: tuple[Release, ...] = ()
    joined: Mapping[str, str] = field(default_factory=dict)
    shown: int = 0
    id: str = ""

    def account(self, population: str) -> Account | None:
        """Return the account of a population, if any."""
        return next((a for a in self.accounts if a.population == population), None)

    def releases_of(self, population: str) -> list[Release]:
        """Return the releases charged to an account, including merged ones."""
        return [
            r
            for r in self.releases
            if r.state in SPENT and self.charged(r.population) == population
        ]

    def charged(self, population: str) -> str:
        """Return the population whose account pays for another one that was joined to it."""
        while population in self.joined:
            population = self.joined[population]
        return population


def _once(work_out: Callable[[Draft], Plan]) -> Callable[[Draft], Plan]:
    """Let a draft, which does not change, work out a plan or why there is none only once.

    A page asks several times for each letter typed.
    """

    @wraps(work_out)
    def known(draft: Draft) -> Plan:
        if work_out.__name__ not in draft.known:
            try:
                draft.known[work_out.__name__] = work_out(draft)
            except ParameterError as error:
                draft.known[work_out.__name__] = error
        found = draft.known[work_out.__name__]
        if isinstance(found, ParameterError):
            raise found.with_traceback(None)
        return found

    return known


MapKey = tuple[str, str, Box, int]
"""Kind and key of a public map, box and ℓ: what its masses depend on."""


@dataclass(frozen=True)
class PublicMap:
    """A public map that is to complete the release, or an earlier release.

    Attributes
    ----------
    kind, key, label : str
        As in `PriorSource`; the label of a file is typed.
    path : str
        Of a file; the curator's alone.
    """

    kind: str
    key: str
    label: str = ""
    path: str = ""

    @property
    def has_label(self) -> bool:
        """Whether it is a file, which the certificate names by a typed label."""
        return self.kind in (CHECKINS, GRID)

    @property
    def text(self) -> str:
        """The declaration as a parameter of the plan."""
        parts = (self.kind, self.key, " ".join(self.label.split()))
        return ":".join(parts if self.has_label else parts[:2])

    @property
    def sentence(self) -> str:
        """What it means for the people in it."""
        if self.kind == EARLIER:
            return f"Release {self.key[:8]}…: its ε adds up with that of this one."
        if self.kind == CITIES:
            return ""
        name = " ".join(self.label.split()) or Path(self.path).name
        return f"People in “{name}” are not protected by this release."


@dataclass(frozen=True)
class Draft:
    """A release that is being planned.

    Attributes
    ----------
    population : str
        Id of the account; "" if not chosen.
    mechanism : str
    typed : mapping of str to str
        Texts by field key, including ``epsilon`` and ``data`` (path of the file).
    untouched : bool
        Whether the curator declares that no parameter was chosen from the data.
    sentence : str
        Statement for the certificate otherwise.
    copied : frozenset of str
        Keys of the values copied from the map.
    format_taken : bool
        Whether the format found when the file was opened was adopted.
    maps : tuple of PublicMap
        For mechanisms that take any.
    read : mapping of MapKey to PriorMasses or str
        What those that were read hold, or why one can't be used.
    known : dict of str to Plan or ParameterError
        What was worked out of it already, by name of the method (`_once`).
    """

    population: str = ""
    mechanism: str = next(iter(MECHANISMS))
    typed: Mapping[str, str] = field(default_factory=lambda: {"side": "256"})
    untouched: bool = False
    sentence: str = ""
    copied: frozenset[str] = frozenset()
    format_taken: bool = False
    maps: tuple[PublicMap, ...] = ()
    read: Mapping[MapKey, PriorMasses | str] = field(default_factory=dict, compare=False)
    known: dict[str, Plan | ParameterError] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def text(self, key: str) -> str:
        """Return the text of a field."""
        return self.typed.get(key, "").strip()

    def with_text(self, key: str, text: str) -> Draft:
        """Return the draft with another text.

        A copied value stays marked while it is edited; the mark is removed when it is deleted.
        """
        copied = self.copied if text.strip() else self.copied - {key}
        typed = {**self.typed, key: text}
        taken = self.format_taken and any(typed.get(field.key, "").strip() for field in FORMAT)
        return replace(self, typed=typed, copied=copied, format_taken=taken)

    def with_format(self, texts: Mapping[str, str]) -> Draft:
        """Return the draft with the format found when the file was opened."""
        others = {field.key: "" for field in FORMAT}
        return replace(self, typed={**self.typed, **others, **texts}, format_taken=True)

    def with_copies(self, texts: Mapping[str, str]) -> Draft:
        """Return the draft with values copied from the map, which are marked as such."""
        typed, copied = {**self.typed, **texts}, self.copied | set(texts)
        from_region = bool(copied & set(REGION))
        names = copied_names(copied & set(REGION))
        own = self.sentence or (COPIED_SENTENCE.format(names=names) if from_region else "")
        return replace(
            self,
            typed=typed,
            copied=copied,
            untouched=self.untouched and not from_region,
            sentence=own,
        )

    @property
    def independent(self) -> bool:
        """Whether it is declared that no parameter depends on the data."""
        return self.untouched and not self.copied

    def conditions(self) -> tuple[str, ...]:
        """Return additional statements for the certificate."""
        copied = [COPIED_NAMES[key] for key in sorted(self.copied)]
        result = [COPIED.format(names=name) for name in copied]
        return (*result, *([self.sentence.strip()] if not self.independent else []))

    @property
    def takes_maps(self) -> bool:
        """Whether public maps can complete the release."""
        return self.mechanism in TAKE_MAPS

    def own_parameters(self) -> dict[str, object]:
        """Return the parameters of the mechanism."""
        own = read_own(self.mechanism, self.typed)
        if self.maps and self.takes_maps:
            own["priors"] = [one.text for one in self.maps]
        return own

    def map_keys(self) -> tuple[MapKey, ...]:
        """Return what the masses of the public maps depend on, each; () without any.

        Raises
        ------
        ParameterError
            If a parameter of the mechanism is missing or invalid.
        """
        if not self.maps or not self.takes_maps:
            return ()
        own = MECHANISMS[self.mechanism].parse(read_own(self.mechanism, self.typed))
        box = degrees_of(own.area)
        return tuple((one.kind, one.key, box, own.level) for one in self.maps)

    def _with_masses(self, plan: Plan) -> Plan:
        """Return a plan with what its public maps hold, as far as that is known.

        What was read was checked then: `with_given` would do so again for every letter typed.
        """
        given = tuple(self.read.get(key) for key in self.map_keys())
        known = tuple(one for one in given if isinstance(one, PriorMasses))
        if not given or len(known) < len(given):
            return plan
        return replace(plan, own_parameters=replace(plan.own_parameters, given=known))

    def declared(self) -> Declared:
        """Return the curator's statements."""
        texts = {name: self.text(name) for name in TEXTS}
        rows = {row: self.text(row) for row in DECLARED_ROWS if self.text(row)}
        conditions = tuple(filter(None, self.conditions()))
        source = FORMAT_TAKEN if self.format_taken else FORMAT_DECLARED
        return Declared(texts, self.independent, conditions, source, rows)

    @_once
    def plan(self) -> Plan:
        """Return the plan.

        Raises
        ------
        ParameterError
            If anything is missing or invalid.
        """
        parameters = {**read_format(self.typed), **self.own_parameters()}
        plan = build_plan(
            self.population,
            Path(self.text("data")),
            self.mechanism,
            parameters,
            read_epsilon(self.text("epsilon")),
            self.declared(),
        )
        return self._with_masses(plan)

    @_once
    def to_check(self) -> Plan:
        """Return the plan whose file can be checked before other choices are made.

        What is not chosen yet has the values of the example; a check uses the group, the file, its
        format and the columns that the mechanism reads.
        """
        own = {**example_of(self.mechanism), **{k: t for k, t in self.typed.items() if t.strip()}}
        draft = replace(self, typed={**own, "epsilon": "1"}, maps=())
        try:
            return draft.plan()
        except ParameterError:
            texts = {**self.typed, **example_of(self.mechanism), "epsilon": "1"}
            return replace(draft, typed=texts).plan()

    @_once
    def rehearsal(self) -> Plan:
        """Return the plan for synthetic users, which needs neither file nor budget."""
        own = self.own_parameters()
        parameters = {**any_format(self.mechanism, own), **own}
        plan = build_plan(
            SYNTHETIC_POPULATION,
            Path("nowhere"),
            self.mechanism,
            parameters,
            read_epsilon(self.text("epsilon")),
            self.declared(),
        )
        return self._with_masses(plan)


@dataclass(frozen=True)
class Point:
    """State of one of the five steps.

    Attributes
    ----------
    ok : bool
    message : str
        Message: what is missing, or the consequence.
    field : str
        Key of the field to mend; "" if none or several.
    """

    ok: bool
    message: str
    field: str = ""


def points(draft: Draft, ledger: LedgerState) -> tuple[Point, ...]:
    """Return the state of people, file, what, cost and review for the draft and the ledger."""
    return tuple(_judge(judge, draft, ledger) for judge in (_who, _file, _what, _price, _review))


def _judge(
    judge: Callable[[Draft, LedgerState], Point], draft: Draft, ledger: LedgerState
) -> Point:
    try:
        return judge(draft, ledger)
    except ParameterError as error:
        return Point(False, sentence_of(error), error.field.rpartition(".")[2])
    except ReleaseError as error:
        return Point(False, sentence_of(error))


def sentence_of(error: Exception) -> str:
    """Return an error message for the curator: what is wrong, with what, and what to do."""
    if isinstance(error, ParameterError):
        return _field_message(error)
    return sentence(_PREFIX.sub("", str(error)))


def _field_message(error: ParameterError) -> str:
    """Return what to enter in the field of an error."""
    key = error.field.rpartition(".")[2]
    label = LABELS.get(key, key)
    messages = (*MESSAGES.get(key, ()), *_COMMON_MESSAGES)
    found = next((text for part, text in messages if part in error.problem), "")
    if not found:
        between = " " if error.problem.startswith(("is ", "has ", "are ")) else ": "
        found = (
            f"{{label}}{between}"
            + error.problem.replace("{", "{{").replace("}", "}}")
            + ". {remedy}"
        )
    limits = _LIMITS.search(error.problem)
    low, high = limits.groups() if limits else ("", "")
    return found.format(label=label, low=low, high=high, remedy=sentence(error.remedy))


_PREFIX = re.compile(r"^(release( [0-9a-f]{32})?|data|ledger|population): ")
"""What the core names in front of a message; the page in front shows it."""
_LIMITS = re.compile(r"(?:from|between) (\S+) (?:to|and) (\S+)$")
"""Smallest and largest value in a problem."""
MESSAGES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "box": (
        ("antimeridian", "A region is at most 180° wide. Enter west and east accordingly."),
        ("no area", "North must be greater than south, and east must differ from west."),
        ("seven decimals", "Enter degrees with at most seven decimals, such as 40.55."),
        (
            "outside",
            "Enter a latitude from -90 to 90 and a longitude from -180 to 180 degrees.",
        ),
        ("", "Enter south, west, north and east in degrees, such as 40.55."),
    ),
    "side": (("", "Enter a power of two from 2 to 1024."),),
    "start": (("", "From: enter a time such as 2026-01-31T12:00:00Z."),),
    "end": (
        ("not after", "Until must be later than From."),
        ("", "Until: enter a time such as 2026-01-31T12:00:00Z."),
    ),
    "grid": (
        ("no choice", "Enter more rows or columns: one region leaves no choice."),
        ("", "Enter the numbers of rows and columns, such as 4, 4."),
    ),
    "value_column": (("", "Enter the name of one of the file’s columns."),),
    "value_columns": (("too many", "Enter fewer columns."), ("", "Enter names of columns.")),
    "values": (
        ("or neither", "Enter either the values or the edges of bins."),
        ("all different", "Enter each value once."),
    ),
    "edges": (("", "Enter two or more edges of bins, in increasing order."),),
    "low": (("", "Enter one lowest value for each column."),),
    "high": (
        ("not above", "Each highest value must be greater than the lowest value of its column."),
        ("", "Enter one highest value for each column."),
    ),
    "columns": (
        ("twice", "Use each name of a column once."),
        ("too long", "Use shorter names of columns."),
        ("has no", "Use the names user, time, lat, lon."),
        ("", "List the columns in order."),
    ),
    "decimal": (
        (
            "so is the delimiter",
            "Delimiter and decimal mark are both a comma. Choose another delimiter, or the quotes "
            "“double” if numbers stand in quotes.",
        ),
    ),
    "time_format": (("", "Enter iso, unix, unix-ms or a pattern such as %d.%m.%Y %H:%M."),),
    "time_zone": (
        ("", "Enter UTC, an offset such as +05:30 or a name such as Europe/Berlin as time zone."),
    ),
    "priors": (
        ("can't stand", "Name each file for the certificate: 1 to 200 characters, not a path."),
    ),
    "epsilon": (
        ("is above", "Enter a smaller ε."),
        ("2^-40", "Enter a larger ε: a part of the release would get almost nothing."),
        ("", "Enter ε as a number such as 0.5 or 1/2."),
    ),
}
"""Messages by field: the first whose part occurs in the problem that the core names."""
_COMMON_MESSAGES = (
    ("a whole number from", "{label}: enter a whole number from {low} to {high}."),
    ("is not between", "{label}: enter a number from {low} to {high}."),
    ("is not a fraction", "{label}: enter a fraction such as 3/10."),
    ("longer than", "{label}: shorten this text to 4,000 characters."),
    ("can't be printed", "{label}: remove the characters that cannot be printed."),
)
"""Messages for any field."""


def _who(draft: Draft, ledger: LedgerState) -> Point:
    if ledger.problem:
        return Point(False, sentence_of(ReleaseError(ledger.problem)))
    account = ledger.account(draft.population)
    if account is None:
        return Point(False, "Choose the group of people in this file.", "population")
    return Point(True, gate_text(account))


def gate_text(account: Account) -> str:
    """Return the budget rule of a group."""
    kind = (
        "ε values add up" if account.gate == "sum" else "zCDP, the values of ε²/2 add up (δ = 10⁻⁹)"
    )
    return f"Budget rule: {kind}. Cannot be changed later."


def zone_is_open(draft: Draft) -> bool:
    """Whether the file's times may state no offset and no time zone is chosen."""
    columns = draft.text("columns").replace(";", ",").split(",")
    form = draft.text("time_format")
    stated = form in ("unix", "unix-ms") or "%z" in form
    return TIME in [c.strip() for c in columns] and not stated and not draft.text("time_zone")


def _file(draft: Draft, _: LedgerState) -> Point:
    path = draft.text("data")
    if not path:
        return Point(False, "Choose the file.", "data")
    kind = _BINARY.get(Path(path).suffix.lower())
    if kind:
        text = f"This file is {kind}, not text. Save it as CSV and choose that."
        return Point(False, text, "data")
    if not Path(path).is_file():
        text = f"There is no file {Path(path).name} there. Choose another file."
        return Point(False, text, "data")
    for key, message in (
        ("delimiter", "Choose the delimiter."),
        ("header", "Choose whether the first row is a header row."),
        ("columns", "List the columns in order."),
    ):
        if not draft.text(key):
            return Point(False, message, key)
    declared = read_format(draft.typed)
    if USER not in declared["columns"]:
        return Point(False, "Use the names user, time, lat, lon.", "columns")
    if zone_is_open(draft):
        return Point(False, "Choose the time zone of the file.", "time_zone")
    try:
        draft.to_check()
    except ParameterError as error:
        key = error.field.rpartition(".")[2]
        if key == "columns":
            return Point(False, f"Use the names user, time, lat, lon. {sentence_of(error)}", key)
        if key in {field.key for field in FORMAT}:
            raise
    return Point(True, "Rows that cannot be read in this format are left out.")


def _what(draft: Draft, ledger: LedgerState) -> Point:
    fields = {field.key: field for field in OF_MECHANISM[draft.mechanism]}
    for key, message in (
        ("box", "Enter south, west, north and east in degrees."),
        ("side", "Enter the number of cells per side."),
    ):
        if key in fields and fields[key].needed and not draft.text(key):
            return Point(False, message, key)
    try:
        MECHANISMS[draft.mechanism].parse(draft.own_parameters())
    except ParameterError as error:
        key = error.field.rpartition(".")[2]
        told = sentence_of(error)
        if key == "box" and _turned(draft.text("box")):
            told = "North must be greater than south."
        return Point(False, told, key)
    try:
        read_people(draft.text(PEOPLE))
    except ParameterError:
        text = "Enter the number of people that you expect, from 1 to 1,000,000."
        return Point(False, text, PEOPLE)
    problem = _maps_problem(draft, ledger)
    return Point(False, problem, "priors") if problem else _selection(draft, ledger)


READING_MAPS = "The public maps are being read."


def _maps_problem(draft: Draft, ledger: LedgerState) -> str:
    """Return why the public maps can't be used yet; "" if they can."""
    for one, key in zip(draft.maps, draft.map_keys(), strict=False):
        if one.path and Path(one.path) == Path(draft.text("data")):
            return f"{Path(one.path).name} is the file to release. Remove it from the public maps."
        release = next((r for r in ledger.releases if r.id == one.key), None)
        if one.kind == EARLIER and (
            release is None or ledger.charged(release.population) != draft.population
        ):
            return f"Release {one.key[:8]}… is not about these people. Remove it."
        found = draft.read.get(key, READING_MAPS)
        if isinstance(found, str):
            return found
    return ""


def _turned(box: str) -> bool:
    """Whether a box's north is not greater than its south."""
    try:
        south, _, north, _ = map(float, box.split(","))
    except ValueError:
        return False
    return north <= south


def copied_names(copied: frozenset[str]) -> str:
    """Return the names of values copied from the map, for a sentence: ``Region and ε``."""
    names = [
        name
        for name, keys in (("region", {"box"}), ("time", {"start", "end"}), ("ε", {"epsilon"}))
        if copied & keys
    ]
    listed = ", ".join(names[:-1])
    text = f"{listed} and {names[-1]}" if listed else "".join(names)
    return f"{text[:1].upper()}{text[1:]}" if text[:1] != "ε" else text


def copied_text(draft: Draft, *, short: bool = False) -> str:
    """Return the remark on values copied from the map; empty if there are none."""
    if not draft.copied:
        return ""
    several = len(draft.copied & {"box", "epsilon"}) + bool(draft.copied & {"start", "end"}) > 1
    text = f"{copied_names(draft.copied)} {'were' if several else 'was'} taken from the map."
    if not short:
        text += " The guarantee does not cover that choice."
    return f"{text} The certificate says so."


def _selection(draft: Draft, ledger: LedgerState) -> Point:
    times = "once" if ledger.shown == 1 else f"{ledger.shown} times"
    seen = f"The true map of this file was viewed {times}; the certificate says so."
    seen *= bool(ledger.shown)
    if draft.copied & set(REGION):
        return Point(True, f"{copied_text(draft)} {seen}".strip())
    if draft.untouched or draft.sentence.strip():
        return Point(True, seen or "The certificate says so.")
    text = "Confirm this, or explain how they were chosen (printed in the certificate)."
    return Point(False, text, "sentence")


def _price(draft: Draft, ledger: LedgerState) -> Point:
    typed = draft.text("epsilon")
    if not typed:
        return Point(False, "Enter ε, the cost of this release.", "epsilon")
    try:
        read_epsilon(typed)
    except ParameterError:
        text = f"Cannot read {typed}. Enter a number such as 0.5 or 1/2."
        return Point(False, text, "epsilon")
    try:
        plan = draft.rehearsal()
    except ParameterError as error:
        if error.field.endswith("epsilon"):
            raise
        return Point(False, "The cost is known once step 3 is complete.")
    for release in ledger.releases:
        used = any(one.key == release.id for one in draft.maps if draft.takes_maps)
        if used and plan.epsilon > MOST_EPSILON * release.epsilon:
            most = rounded_down(MOST_EPSILON * release.epsilon)
            text = (
                f"Enter a value up to {most}, or remove release {release.id[:8]}… from the public "
                "maps: above, its noise would make this map worse."
            )
            return Point(False, text, "epsilon")
    account = ledger.account(draft.population)
    if account is None:
        return Point(False, f"Cost {rounded_up(plan.epsilon)}; what remains is known with step 1.")
    if not account.fits(plan.epsilon):
        return Point(False, refusal_text(account), "epsilon")
    return Point(True, price_text(plan, account))


def _review(draft: Draft, _: LedgerState) -> Point:
    draft.plan()
    return Point(True, "Nothing has been spent yet.")


def attacker_text(epsilon: Fraction) -> str:
    """Return how often an attacker with 50:50 prior odds is right about one person."""
    chance = best_chance(float(epsilon))
    if chance >= MAX_USEFUL_CHANCE:
        return "This bound gives no useful guarantee."
    times = times_in_100(chance)
    return f"An attacker who starts at 50 : 50 is right at most {times} % of the time."


def earlier_lines(
    account: Account, counted: Sequence[Release], plan: Plan | None
) -> tuple[str, ...]:
    """Return the remaining budget and notes on earlier releases that share it."""
    left, of = rounded_down(account.remaining), rounded_down(account.budget)
    text = f"{len(counted)} earlier, {left} left of {of}"
    few = [
        f"{rounded_up(r.epsilon)} on {r.date[:10]} "
        f"({MECHANISMS[r.mechanism].label if r.mechanism in MECHANISMS else 'elsewhere'})"
        for r in counted[-4:]
    ]
    met = [] if plan is None else overlaps(plan.parameters(), plan.epsilon, counted)
    first = f"{text}: {', '.join(few)}" if few else text
    return text, first, *(overlap.sentence for overlap in met[-2:])


def refusal_text(account: Account) -> str:
    """State that a price exceeds the budget, with the options."""
    left = rounded_down(account.largest_fit())
    raising = account.gate == "sum"
    if account.largest_fit() == 0:
        advice = "Raise the budget (every later certificate says so) or stop." if raising else ""
        return f"Nothing is left for these people. {advice}".strip()
    return f"Only {left} is left for these people. Enter a value up to {left}."
