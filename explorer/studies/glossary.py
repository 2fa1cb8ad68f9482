"""Glossary of the field's terms, one sentence each, for tool tips, *Words* and README."""

import re
from dataclasses import dataclass
from functools import cache

MAX_EXPLANATION_WORDS = 30
"""Of an explanation."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word of the field.

    Attributes
    ----------
    key : str
        Stable, ASCII: ``epsilon``.
    name : str
        As it is written on the screen: ``ε``.
    means : str
        One plain sentence.
    forms : tuple of str
        Other spellings that stand for it in a text.
    """

    key: str
    name: str
    means: str
    forms: tuple[str, ...] = ()


TERMS: dict[str, Term] = {
    term.key: term
    for term in (
        Term(
            "epsilon",
            "ε",
            "What is published changes anybody's odds about one person by a factor of at most e^ε; "
            "smaller is more private.",
        ),
        Term(
            "delta",
            "δ",
            "Slack of the guarantee: any outcome is at most e^ε times as likely, plus δ.",
        ),
        Term(
            "epsilon0",
            "ε₀",
            "The ε that each person's own report keeps before it is shuffled, even from whoever "
            "collects the reports.",
        ),
        Term(
            "curator",
            "Curator",
            "Person or institution that holds the true data.",
            ("curator", "curators"),
        ),
        Term(
            "shuffle",
            "Shuffle",
            "The senders are removed from all messages before anybody reads them.",
            ("shuffle", "shuffled", "shuffling", "Shuffled", "Shuffling"),
        ),
        Term(
            "shuffler",
            "Shuffler",
            "Trusted service that mixes all messages so that nobody can tell who sent which.",
            ("shuffler",),
        ),
        Term(
            "local-model",
            "Local model",
            "Everybody adds noise before sending anything, so that no curator must be trusted.",
            ("local model", "local privacy", "local DP"),
        ),
        Term(
            "amplification",
            "Amplification",
            "Decrease of ε when a report is one of many that are shuffled, or when only a sample "
            "reports.",
            ("amplification", "amplified"),
        ),
        Term(
            "clones",
            "Clones",
            "A proof that some of the other people's reports look as if one person had sent them, "
            "which hides that person's own.",
            ("clones", "clone"),
        ),
        Term(
            "emd",
            "EMD",
            "Earth mover's distance: the least total distance that weight must be moved to turn "
            "one map or data set into another.",
            ("earth mover's distance",),
        ),
        Term(
            "kov",
            "KOV",
            "The exact rule of Kairouz, Oh and Viswanath for the ε and δ of many (ε₀, δ₀)-private "
            "steps together.",
        ),
        Term(
            "lambda",
            "λ",
            "The order of Rényi differential privacy: higher orders weigh rare, revealing outputs "
            "more; λ* is the one that gives the smallest ε.",
            ("λ*",),
        ),
        Term(
            "alpha",
            "α",
            "In metric privacy, how much ε one unit of distance between two data sets may cost; "
            "smaller is more private.",
        ),
        Term(
            "renyi",
            "Rényi DP",
            "A guarantee about the average of powers of the odds, by order λ, that adds up over "
            "rounds and converts to ε and δ.",
            ("Rényi differential privacy", "RDP", "Rényi"),
        ),
        Term(
            "hockey-stick",
            "Hockey-stick divergence",
            "The smallest δ for which two outputs' distributions keep a given ε.",
            ("hockey-stick divergence", "hockey stick", "hockey-stick"),
        ),
        Term(
            "coupling",
            "Coupling q",
            "A plan that pairs two distributions' outcomes, with chances that keep both; the "
            "cheapest one gives the earth mover's distance.",
            ("coupling", "couplings"),
        ),
        Term(
            "neighbouring",
            "Neighbouring",
            "Two data sets that differ in one protected unit: added or removed, or replaced by "
            "another.",
            ("neighbouring", "neighbours"),
        ),
        Term(
            "unit",
            "Unit of protection",
            "What a guarantee protects: one person with all their data, one check-in, or one "
            "message.",
            ("unit of protection", "protected unit"),
        ),
        Term(
            "mechanism",
            "Mechanism",
            "A randomised algorithm that turns data into what is published.",
            ("mechanism", "mechanisms"),
        ),
        Term(
            "sensitivity",
            "Sensitivity",
            "By how much the true answer can change when one protected unit does; noise grows "
            "with it.",
            ("sensitivity",),
        ),
        Term(
            "composition",
            "Composition",
            "How the ε and δ of several releases about the same people add up.",
            ("composition", "composed"),
        ),
        Term(
            "metric",
            "Metric space",
            "A set with a distance between any two elements, such as places in miles.",
            ("metric space", "metric spaces"),
        ),
        Term(
            "upper-bound",
            "Upper bound",
            "The true value is proved to be no larger than this number.",
            ("upper bound",),
        ),
        Term(
            "lower-bound",
            "Lower bound",
            "The true value is proved to be no smaller, so no smaller bound can hold.",
            ("lower bound",),
        ),
        Term(
            "trade-off",
            "Trade-off curve",
            "For every rate of false alarms, the least rate of misses of anybody who guesses "
            "whether one person took part.",
            ("trade-off curve", "trade-off function"),
        ),
        Term(
            "demonstration-noise",
            "Demonstration noise",
            "Noise computed from a seed, for planning only: whoever knows the seed can subtract "
            "it.",
            ("demonstration noise",),
        ),
        Term(
            "release-noise",
            "Release noise",
            "Noise from the system's random source that is stored nowhere, as a release needs.",
            ("release noise",),
        ),
    )
}


@cache
def _keys() -> dict[str, str]:
    """Return the key of every spelling."""
    return {form: term.key for term in TERMS.values() for form in (term.name, *term.forms)}


@cache
def _pattern() -> re.Pattern[str]:
    """Return what finds links with what is in them, tags, entities, and terms, longest first."""
    words = "|".join(re.escape(form) for form in sorted(_keys(), key=len, reverse=True))
    # A letter with an index or a prime is another letter: ε₁ is no ε.
    term = rf"(?<![\w^])(?P<term>{words})(?![\w₀-₉′*])"
    return re.compile(rf"<a\b.*?</a>|<[^>]*>|&[#\w]+;|{term}", re.DOTALL)


def mark_terms(rich: str, mark: str) -> str:
    """Return rich text in which the first occurrence of each known term is marked.

    Parameters
    ----------
    rich : str
        HTML; its tags, and words that are links already, stay as they are.
    mark : str
        What a term becomes, with ``{key}`` and ``{word}``: ``"<a href='term:{key}'>{word}</a>"``.
    """
    seen: set[str] = set()

    def marked(found: re.Match[str]) -> str:
        word = found["term"]
        if word is None or _keys()[word] in seen:
            return found[0]
        seen.add(_keys()[word])
        return mark.format(key=_keys()[word], word=word)

    return _pattern().sub(marked, rich)
