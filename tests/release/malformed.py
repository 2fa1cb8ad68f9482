"""Malformed ledgers, plans and certificates: ``python -m tests.release.malformed --count 10000``.

Each is cut, reordered, given huge, negative or unreduced fractions, floats, names that stand twice,
flipped bytes or fields of other kinds. What is not the original is refused in one sentence, and no
release is possible; the only ledgers that are read are those whose entries are the first of the
original. Nothing else may be raised.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from explorer.release.certificate.build import Statements, build
from explorer.release.certificate.schema import read_certificate
from explorer.release.certificate.verify import verify
from explorer.release.errors import ReleaseError
from explorer.release.exact_json import canonical
from explorer.release.ledger.chain import export_entries
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings
from explorer.release.ledger.view import View, read_ledger
from explorer.release.plan import read_plan
from tests.fuzz.mutate import changed_bytes, changed_value
from tests.fuzz.outcome import Outcome
from tests.release import plans
from tests.release.ledgers import FILE, opened, population, released

FRACTIONS = (
    "-1/2",
    "1/0",
    "2/4",
    "1/-2",
    "0/1",
    "0/5",
    "+1/2",
    "1/2 ",
    "1.0/2",
    "1e3/1",
    "½",
    "1/2/3",
    f"{10**399}/1",
    f"{10**450}/1",
    f"1/{10**390 + 7}",
    "00/1",
    "1",
    0.5,
    1,
    -1,
    None,
    ["1/2"],
)


def _number(text: str, rng: random.Random) -> str:
    """Put another fraction in the place of one."""
    places = [k for k in range(len(text)) if text.startswith('"', k) and _fraction_at(text, k)]
    if not places:
        return text
    first = rng.choice(places)
    return text[:first] + json.dumps(rng.choice(FRACTIONS)) + text[text.index('"', first + 1) + 1 :]


def _fraction_at(text: str, place: int) -> bool:
    end = text.find('"', place + 1)
    p, _, q = text[place + 1 : end].partition("/")
    return p.isdecimal() and q.isdecimal()


def _twice(text: str, rng: random.Random) -> str:
    """Let a name stand twice in an object."""
    places = [k for k, c in enumerate(text) if c == "{" and '"' in text[k : k + 40]]
    first = rng.choice(places)
    name = text[text.index('"', first) :].split('"')[1]
    return (
        f'{text[: first + 1]}"{name}": {rng.choice(["0", chr(34) * 2, "null", "1e999"])},'
        + (text[first + 1 :])
    )


def _float(text: str, rng: random.Random) -> str:
    """Make a float of a whole number."""
    places = [k for k, c in enumerate(text) if c.isdigit() and text[k + 1] in ",\n}]"]
    if not places:
        return text
    at = rng.choice(places)
    return f"{text[: at + 1]}{rng.choice(['.0', 'e0', '.5', 'e400', 'e99999999'])}{text[at + 1 :]}"


def _reordered(text: str, rng: random.Random) -> str:
    """Exchange two items of the longest list."""
    value = json.loads(text)
    lists = [item for item in _lists(value) if len(item) > 1]
    if lists:
        chosen = rng.choice(lists)
        one, other = rng.sample(range(len(chosen)), 2)
        chosen[one], chosen[other] = chosen[other], chosen[one]
    return json.dumps(value)


def _lists(value: Any) -> list[list[Any]]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if isinstance(value, list) else []) + [x for i in items for x in _lists(i)]


def _value(text: str, rng: random.Random) -> str:
    return json.dumps(changed_value(json.loads(text), rng))


def _cut(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def _shortened(text: str, rng: random.Random) -> str:
    """Leave out the end of the longest list: of a ledger what came last."""
    value = json.loads(text)
    longest = max(_lists(value), key=len, default=[])
    del longest[rng.randrange(len(longest) + 1) :]
    return json.dumps(value)


CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _number,
    _number,
    _twice,
    _float,
    _reordered,
    _value,
    _value,
    _value,
    _cut,
    _shortened,
)


def changed(data: bytes, rng: random.Random) -> bytes:
    """Return JSON text that was changed in one of many ways."""
    if rng.random() < 0.15:
        return changed_bytes(data, rng)
    return rng.choice(CHANGES)(data.decode(), rng).encode("utf-8", "surrogatepass")


class Originals:
    """A ledger of a few releases in a folder, with its export, a certificate and a plan."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "original"
        self.folder.mkdir()
        with opened(self.folder, "fuzz") as ledger:
            people = population(ledger)
            ledger.raise_budget(people, Fraction(4))
            ledger.abandon(ledger.plan(people, "count.users/1", {}, Fraction(1, 4)))
            release = released(ledger, people)
            stated = Statements(
                dict.fromkeys(plans.TEXTS, "a text"),
                True,
                ("data opened before", 2),
                ledger.tag(release, FILE),
                "1",
            )
            certificate = build(ledger.view(), release, stated)
            ledger.publish(release, certificate)
            self.view: View = ledger.view()
        self.settings = (folder / "settings of fuzz.json").read_bytes()
        self.ledger = (self.folder / "ledger.sqlite").read_bytes()
        self.export = json.dumps(export_entries(self.view.id, self.view.entries)).encode()
        self.certificate = canonical(certificate)
        self.plan = json.dumps(plans.content(people)).encode()


def _refused(error: ReleaseError) -> str:
    said = str(error)
    return "refused" if said and "\n" not in said and len(said) < 1500 else f"said {said!r}"


def try_export(original: Originals, file: Path, data: bytes) -> str:
    """Read a changed export."""
    file.write_bytes(data)
    try:
        view = read_ledger(file)
    except ReleaseError as error:
        return _refused(error)
    known = list(original.view.entries)
    same = view.entries == known[: len(view.entries)] and view.id == original.view.id
    whole = len(view.entries) == len(known)
    return ("the same" if whole else "first entries") if same else "ANOTHER LEDGER WAS READ"


def try_certificate(original: Originals, file: Path, data: bytes) -> str:
    """Read and verify a changed certificate."""
    file.write_bytes(data)
    try:
        certificate = read_certificate(file)
    except ReleaseError as error:
        return _refused(error)
    alone, found = verify(certificate), verify(certificate, original.view)
    if canonical(certificate) == original.certificate:
        return "the same" if not found.failure else f"REFUSED: {found.failure}"
    if not found.failure or (alone.failure and "\n" in alone.failure):
        return f"ANOTHER CERTIFICATE HOLDS {alone.failure!r}"
    return "refused"


def try_plan(_: Originals, file: Path, data: bytes) -> str:
    """Read a changed plan: it may be another one, if it is whole."""
    file.write_bytes(data)
    try:
        plan = read_plan(file)
    except ReleaseError as error:
        return _refused(error)
    return "another plan" if plan.epsilon > 0 else "A PLAN FOR NOTHING"


def try_ledger(original: Originals, file: Path, data: bytes) -> str:
    """Open a changed ledger, and try to release from it."""
    for old in file.parent.glob(f"{file.stem}*"):
        old.unlink()
    file.write_bytes(data)
    shutil.copy(original.folder / "ledger.key", file.with_suffix(".key"))
    (file.parent / "settings.json").write_bytes(original.settings)
    try:
        with Ledger(file, FileSettings(file.parent / "settings.json")) as ledger:
            if ledger.problem:
                return "refused" if "\n" not in ledger.problem else f"said {ledger.problem!r}"
            if not data:
                return "a new one" if not ledger.entries() else "NOT EMPTY"
            if ledger.entries() != list(original.view.entries):
                return "ANOTHER LEDGER WAS OPENED"
            return "the same"
    except ReleaseError as error:
        return _refused(error)


KINDS = {
    "export": ("export", try_export, ".json"),
    "certificate": ("certificate", try_certificate, ".json"),
    "plan": ("plan", try_plan, ".json"),
    "ledger": ("ledger", try_ledger, ".sqlite"),
}


def run(count: int, seed: int, folder: Path) -> Outcome:
    """Try so many of each kind, one after the other."""
    outcome, rng, original = Outcome(), random.Random(seed), Originals(folder)
    for number in range(count):
        name = list(KINDS)[number % len(KINDS)]
        attribute, attempt, suffix = KINDS[name]
        data: bytes = getattr(original, attribute)
        made = changed_bytes(data, rng) if name == "ledger" else changed(data, rng)
        if made == data:
            continue
        began = time.monotonic()
        try:
            said = attempt(original, folder / f"{name}{suffix}", made)
        except Exception as error:
            said = f"RAISED {type(error).__name__}: {error}"
        if time.monotonic() - began > 20:
            said = "TOOK LONGER THAN 20 S"
        if said.startswith(("refused", "the same", "first", "another plan", "a new")):
            outcome.counts[f"{name}: {said}"] += 1
        else:
            outcome.faults.append(f"{name} {number}: {said}")
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.release.malformed", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(options.count, options.seed, Path(folder))
    print(found.text())
    return 1 if found.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
