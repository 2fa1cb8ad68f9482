"""Draft of a release plan and its open points. Imports no Qt.

No value is taken from the data by itself: a value copied from the map by a click is marked `copied`
and recorded in the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from explorer.release.errors import ParameterError, ReleaseError
from explorer.release.ledger.differencing import overlaps
from explorer.release.ledger.state import SPENT, Account, Release
from explorer.release.mechanisms import MECHANISMS
from explorer.release.messages import price_text, sentence
from explorer.release.pipeline import LedgerLocation
from explorer.release.plan import (
    DECLARED_ROWS,
    FORMAT_DECLARED,
    FORMAT_TAKEN,
    TEXTS,
    Declared,
    Plan,
    build_plan,
)
from explorer.release.rounding import rounded_down, rounded_up
from explorer.ui.release.fields import (
    FORMAT,
    LABELS,
    any_format,
    read_epsilon,
    read_format,
    read_own,
)

SYNTHETIC_POPULATION = "0" * 32
"""Population of a dry run."""
TITLES = {
    "Who is protected": "",
    "What is released": "",
    "Chosen without looking": "Fill in what you know, not what you saw.",
    "Price": "",
    "The file": "Nothing is found out from it: say how it is written.",
}
"""Titles and notes of the five steps."""
COPIED = "{names} taken from the map of the data by a click."
COPIED_NAMES = {"box": "The box was", "epsilon": "ε was"}


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
            if r.state in SPENT and self._charged(r.population) == population
        ]

    def _charged(self, population: str) -> str:
        while population in self.joined:
            population = self.joined[population]
        return population


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
    """

    population: str = ""
    mechanism: str = next(iter(MECHANISMS))
    typed: Mapping[str, str] = field(default_factory=dict)
    untouched: bool = False
    sentence: str = ""
    copied: frozenset[str] = frozenset()
    format_taken: bool = False

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

    @property
    def independent(self) -> bool:
        """Whether it is declared that no parameter depends on the data."""
        return self.untouched and not self.copied

    def conditions(self) -> tuple[str, ...]:
        """Return additional statements for the certificate."""
        copied = [COPIED_NAMES[key] for key in sorted(self.copied)]
        result = [COPIED.format(names=name) for name in copied]
        return (*result, *([self.sentence.strip()] if not self.independent else []))

    def own_parameters(self) -> dict[str, object]:
        """Return the parameters of the mechanism."""
        return read_own(self.mechanism, self.typed)

    def declared(self) -> Declared:
        """Return the curator's statements."""
        texts = {name: self.text(name) for name in TEXTS}
        rows = {row: self.text(row) for row in DECLARED_ROWS if self.text(row)}
        conditions = tuple(filter(None, self.conditions()))
        source = FORMAT_TAKEN if self.format_taken else FORMAT_DECLARED
        return Declared(texts, self.independent, conditions, source, rows)

    def plan(self) -> Plan:
        """Return the plan.

        Raises
        ------
        ParameterError
            If anything is missing or invalid.
        """
        parameters = {**read_format(self.typed), **self.own_parameters()}
        return build_plan(
            self.population,
            Path(self.text("data")),
            self.mechanism,
            parameters,
            read_epsilon(self.text("epsilon")),
            self.declared(),
        )

    def rehearsal(self) -> Plan:
        """Return the plan for synthetic users, which needs neither file nor budget."""
        own = self.own_parameters()
        parameters = {**any_format(self.mechanism, own), **own}
        return build_plan(
            SYNTHETIC_POPULATION,
            Path("nowhere"),
            self.mechanism,
            parameters,
            read_epsilon(self.text("epsilon")),
            self.declared(),
        )


@dataclass(frozen=True)
class Point:
    """State of one of the five steps.

    Attributes
    ----------
    ok : bool
    message : str
        Message: what is missing, or the consequence.
    """

    ok: bool
    message: str


def points(draft: Draft, ledger: LedgerState) -> tuple[Point, ...]:
    """Return the state of the five steps for the draft and the ledger."""
    return tuple(_judge(judge, draft, ledger) for judge in (_who, _what, _selection, _price, _file))


def _judge(
    judge: Callable[[Draft, LedgerState], Point], draft: Draft, ledger: LedgerState
) -> Point:
    try:
        return judge(draft, ledger)
    except ReleaseError as error:
        return Point(False, sentence_of(error))


def sentence_of(error: Exception) -> str:
    """Return an error message without the path of a plan's field."""
    text = str(error)
    if isinstance(error, ParameterError):
        key = error.field.rpartition(".")[2]
        between = " " if error.problem.startswith("is ") else ": "
        text = f"{LABELS.get(key, key)}{between}{error.problem}; {error.remedy}"
    return sentence(text)


def _who(draft: Draft, ledger: LedgerState) -> Point:
    if ledger.problem:
        return Point(False, sentence_of(ReleaseError(ledger.problem)))
    account = ledger.account(draft.population)
    if account is None:
        return Point(False, "Whose data are these? Choose these people, or open an account.")
    kind = "sum of all ε" if account.gate == "sum" else "sum of all ε²/2, within ρ"
    return Point(True, f"Gate: {kind}, chosen for good when the account was opened.")


def _what(draft: Draft, _: LedgerState) -> Point:
    mechanism = MECHANISMS[draft.mechanism]
    mechanism.parse(draft.own_parameters())
    return Point(True, mechanism.privacy)


def _selection(draft: Draft, ledger: LedgerState) -> Point:
    times = "once" if ledger.shown == 1 else f"{ledger.shown} times"
    seen = f"You opened the true map {times}; the certificate will say so." if ledger.shown else ""
    if draft.copied:
        names = ", ".join(COPIED_NAMES[key].rpartition(" ")[0] for key in sorted(draft.copied))
        text = f"{names}: taken from the map. The guarantee does not cover that choice."
        if draft.sentence.strip():
            return Point(True, f"{text} The certificate says so. {seen}".strip())
        return Point(False, f"{text} Choose without looking, or say so in the certificate.")
    if draft.untouched:
        return Point(True, seen or "The certificate says so.")
    if draft.sentence.strip():
        return Point(True, f"The certificate will say your sentence. {seen}".strip())
    return Point(False, f"Tick it, or say in the certificate how they were chosen. {seen}".strip())


def _price(draft: Draft, ledger: LedgerState) -> Point:
    read_epsilon(draft.text("epsilon"))
    try:
        plan = draft.rehearsal()
    except ParameterError as error:
        if error.field.endswith("epsilon"):
            raise
        return Point(False, "The price is known once point 2 is answered.")
    account = ledger.account(draft.population)
    if account is None:
        return Point(
            False, f"Costs {rounded_up(plan.epsilon)}; what remains is known with point 1."
        )
    if not account.fits(plan.epsilon):
        return Point(False, refusal_text(account))
    return Point(True, price_text(plan, account))


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
    if account.largest_fit() == 0:
        return "Nothing is left for these people, and nothing refills it."
    raising = (
        ", or raise the limit (Ledger): every later certificate will say so"
        if account.gate == "sum"
        else "; a ρ is never raised"
    )
    return (
        f"Only {left} is left for these people, and nothing refills it. Release with {left} "
        f"(rougher){raising}."
    )


def _file(draft: Draft, _: LedgerState) -> Point:
    read_format(draft.typed)
    path = draft.text("data")
    if not path:
        return Point(False, "Name the file.")
    if not Path(path).is_file():
        return Point(False, f"There is no file {Path(path).name} there.")
    try:
        draft.plan()
    except ParameterError as error:
        if error.field.endswith("columns"):
            raise
    return Point(True, "Read as declared; rows that can’t be read so are skipped, one by one.")
