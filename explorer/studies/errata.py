"""Errata of the papers: the entries behind labels like shuf-A4.

They are written in ``resources/ERRATA.md``, for people; here they are read from there.
"""

import re
from dataclasses import dataclass
from functools import cache

from explorer.resources import resource_bytes

LABEL = re.compile(r"\b(heat-\d{1,2}|(?:hist|shuf|user|coord)-[A-F]\d{1,2})\b")
"""A label; the first part names the paper."""
_RANGE = re.compile(LABEL.pattern + r" to " + LABEL.pattern)
_FIELDS = ("Printed", "Right", "Why")


@dataclass(frozen=True, slots=True)
class Erratum:
    """One place where a paper's text misleads.

    Attributes
    ----------
    label : str
        ``shuf-A4``.
    title : str
        What it is about, with the place in the paper.
    printed, right, why : str
        What the paper prints or leaves open, what holds, and the reason; one paragraph each.
    """

    label: str
    title: str
    printed: str
    right: str
    why: str


@cache
def text() -> str:
    """Return the document as it is written, in Markdown."""
    return resource_bytes("ERRATA.md").decode("utf-8")


@cache
def errata() -> dict[str, Erratum]:
    """Return all entries by label, in the order of the document.

    Raises
    ------
    ValueError
        Naming the entry that has not the three parts, or stands there twice.
    """
    result: dict[str, Erratum] = {}
    for section in re.split(r"^### ", text(), flags=re.MULTILINE)[1:]:
        heading, _, rest = section.partition("\n")
        label, _, title = heading.partition(" · ")
        body = re.split(r"^## ", rest, flags=re.MULTILINE)[0]
        parts = dict(line.split(": ", 1) for line in body.strip().splitlines())
        if tuple(parts) != _FIELDS or not LABEL.fullmatch(label) or label in result:
            raise ValueError(f"ERRATA.md: entry {label!r} is not one of {', '.join(_FIELDS)}")
        result[label] = Erratum(label, title, *parts.values())
    return result


def labels_in(words: str) -> list[str]:
    """Return the labels that a text names, ``user-A3 to user-A6`` all four, each once."""
    result = LABEL.findall(words)
    for first, last in _RANGE.findall(words):
        stem = first.rstrip("0123456789")
        ends = int(first[len(stem) :]), int(last[len(stem) :])
        result += [f"{stem}{number}" for number in range(ends[0], ends[1] + 1)]
    return list(dict.fromkeys(result))


def explain_labels(words: str) -> str:
    """Return what the labels of a text are about, a line each; empty if it names none."""
    named = set(labels_in(words))
    if not named:
        return ""
    return "\n".join(f"{e.label}: {e.title}" for e in errata().values() if e.label in named)
