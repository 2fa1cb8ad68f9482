"""The document behind labels like shuf-A4."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer.cli import run
from explorer.studies import errata as module
from explorer.studies.errata import LABEL, errata, explain_labels, labels_in, text


def test_every_entry_has_its_three_parts_and_a_known_paper() -> None:
    found = errata()
    assert len(found) > 100
    for label, item in found.items():
        assert LABEL.fullmatch(label)
        for part in (item.title, item.printed, item.right, item.why):
            assert part == part.strip()
            assert len(part) > 2
        for named in labels_in(" ".join((item.printed, item.right, item.why))):
            assert named in found
    assert {label.split("-")[0] for label in found} == {"heat", "hist", "shuf", "user", "coord"}


def test_entries_stand_in_order_under_their_paper() -> None:
    def place(label: str) -> tuple[str, int]:
        letter, number = re.fullmatch(r"\w+-([A-F]?)(\d+)", label).groups()
        return letter, int(number)

    for section in re.split(r"^## ", text(), flags=re.MULTILINE)[1:]:
        stem = section.partition(":")[0]
        labels = re.findall(r"^### (\S+) · ", section, flags=re.MULTILINE)
        assert all(label.startswith(f"{stem}-") for label in labels)
        assert labels == sorted(labels, key=place)


_OLD_LABEL = re.compile(r"[Ee]rrat(?:a|um)[\s\"]+(?:in |and )?(?:[A-F]\d{0,2}|\d{1,2})\b")
"""Without its paper: “A1” was in four of them."""


@pytest.mark.full
def test_code_and_tests_name_entries_of_the_document_with_their_paper() -> None:
    root = Path(module.__file__).parents[2]
    used = set()
    for folder in ("explorer", "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            if path == Path(__file__):
                continue
            source = path.read_text(encoding="utf-8")
            assert not _OLD_LABEL.findall(source), path
            if path != Path(module.__file__):
                used |= set(labels_in(re.sub(r"\"?\s*\n\s*\"?", " ", source)))
    assert used - set(errata()) <= {"shuf-A99"}  # what a test asks for in vain
    assert len(used) > 100


def test_the_texts_are_dated_and_newer_ones_are_told_of() -> None:
    head = text().partition("\n## ")[0]
    for number in ("2211.13454", "1911.06879", "2107.08763", "2405.02665", "2410.18404"):
        assert number in head
    assert "Newer versions" in head


def test_a_range_names_all_that_lie_in_it() -> None:
    assert labels_in("errata user-A3 to user-A6, user-F1; and heat-16") == [
        "user-A3",
        "user-A6",
        "user-F1",
        "heat-16",
        "user-A4",
        "user-A5",
    ]
    assert labels_in("the-A3, user-A, heat-A1, SHA-256") == []
    assert explain_labels("(errata shuf-A4, hist-A1)").splitlines() == [
        "hist-A1: Theorem 3.2: what P_hist satisfies",
        "shuf-A4: The range of the order λ",
    ]
    assert explain_labels("nothing") == ""


@pytest.mark.parametrize(
    "entry",
    [
        "### shuf-A1 · one\nPrinted: a\nWhy: b\n",
        "### shuf-Z1 · one\nPrinted: a\nRight: b\nWhy: c\n",
        "### shuf-A1 · one\nPrinted: a\nRight: b\nWhy: c\n" * 2,
    ],
)
def test_a_damaged_document_is_refused(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "text", lambda: f"# Title\n\n## shuf: a paper\n\n{entry}")
    with pytest.raises(ValueError, match=r"ERRATA\.md: entry 'shuf-"):
        errata.__wrapped__()


def test_the_command_line_explains_a_label(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["errata", "shuf-A4"]) == 0
    told = capsys.readouterr().out
    assert "The range of the order λ" in told
    assert "Printed:" in told
    assert run(["errata"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(errata())
    assert run(["errata", "shuf-A99"]) == 1
    assert "there is no erratum shuf-A99" in capsys.readouterr().err
