"""From the numbers at the sliders' values to rows of Compare."""

from explorer.engine.session.comparison import entries_of, with_entries
from explorer.engine.session.session import Session
from explorer.studies.base.study import Result


def add_to_comparison(session: Session, result: Result, hidden: frozenset[str], claim: str) -> str:
    """Put the numbers of an answer into the comparison; return what to say of it."""
    before = session.state.comparison
    try:
        entries = with_entries(before, entries_of(result, hidden, claim))
    except ValueError as error:
        return f"{error}."
    session.set_comparison(entries, "add to comparison")
    more = len(entries) - len(before)
    if not more:
        return "The comparison has these numbers already."
    numbers = f"{more} number{'' if more == 1 else 's'}"
    return f"{numbers} added to the comparison (Compare tab)."
