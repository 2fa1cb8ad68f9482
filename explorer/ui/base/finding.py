"""How well something's name fits what somebody types to find it."""

import re
import unicodedata
from functools import lru_cache

PREFIX, WORD, WORDS, INSIDE, SUBSEQUENCE = range(5)
"""Ranks, best first: begins like it; a word of it does; all words typed begin words of it or of
what else is said of it; stands in it; its letters stand in it in this order."""


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return what of a text is compared: ``ε₀ (local)`` becomes ``epsilon0 local``."""
    letters = []
    for letter in unicodedata.normalize("NFKD", text.casefold()):
        name = unicodedata.name(letter, "")
        if name.startswith("GREEK SMALL LETTER"):
            letters.append(name.rpartition(" ")[2].lower())
        elif letter.isalnum():
            letters.append(letter)
        elif not unicodedata.combining(letter):
            letters.append(" ")
    return " ".join("".join(letters).split())


def rank(query: str, names: tuple[str, ...], more: str = "") -> int | None:
    """Return how well something fits a query; None if not at all, 0 is best.

    Parameters
    ----------
    query : str
        As it is typed; nothing fits everything.
    names : tuple of str
        What it is called, its short names too.
    more : str
        What else is said of it.
    """
    typed = folded(query)
    called = [folded(name) for name in names]
    words = " ".join((*called, folded(more))).split()
    letters = re.compile(".*".join(map(re.escape, typed.replace(" ", ""))))
    fits = (
        any(name.startswith(typed) for name in called),
        any(f" {typed}" in f" {name}" for name in called),
        all(any(word.startswith(part) for word in words) for part in typed.split()),
        any(typed in name for name in called),
        any(letters.search(name) for name in called),
    )
    return next((place for place, fit in enumerate(fits) if fit), None)
