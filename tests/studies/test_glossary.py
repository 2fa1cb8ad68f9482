"""The field's words: short, unambiguous, and found in text where they stand for themselves."""

from __future__ import annotations

from explorer.studies.glossary import MAX_EXPLANATION_WORDS, TERMS, mark_terms


def test_every_term_is_one_short_sentence() -> None:
    failures = [
        key
        for key, term in TERMS.items()
        if term.key != key
        or not key.isascii()
        or not 3 < len(term.means.split()) <= MAX_EXPLANATION_WORDS
        or not term.means.endswith(".")
        or ". " in term.means
        or "\n" in term.means
    ]
    assert not failures


def test_no_spelling_stands_for_two_terms() -> None:
    forms = [form for term in TERMS.values() for form in {term.name, *term.forms}]
    assert len(forms) == len(set(forms))
    assert len(TERMS) >= 25


def test_the_first_occurrence_of_each_term_is_marked_and_nothing_else() -> None:
    text = (
        "<p title='ε'>The ε and ε₀ of <a href='errata:x'>δ</a>, not ε₁, e^ε or curatorship: ε "
        "again &delta; a curator, the <b>EMD</b> and λ* of shuffled messages, shuffling.</p>"
    )
    marked = mark_terms(text, "[{key}|{word}]")
    assert marked == (
        "<p title='ε'>The [epsilon|ε] and [epsilon0|ε₀] of <a href='errata:x'>δ</a>, not ε₁, e^ε "
        "or curatorship: ε again &delta; a [curator|curator], the <b>[emd|EMD]</b> and "
        "[lambda|λ*] of [shuffle|shuffled] messages, shuffling.</p>"
    )
    assert mark_terms("nothing of the kind", "[{key}]") == "nothing of the kind"
