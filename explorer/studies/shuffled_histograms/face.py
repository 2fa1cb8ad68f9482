"""What shuffled histograms show first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import error_phrase
from explorer.studies.base.study import Answer, Face, Result, Statistic


def _error(result: Result, found: Claimed | None) -> Answer | None:
    if found is None:
        return None
    one = result.request.quantity == "query"
    runs = nearest(100 * (1 - float(result.request["beta"])))
    error = error_phrase(found.value, Statistic.QUANTILE, runs=runs)
    text = f"{'One bin' if one else 'All bins'}: {error}"
    paper = number_of(result, "paper")
    if paper is not None:
        text += f"; with the paper's noise {at_most(paper)} is proved"
    return Answer(found.said.number, f"{text}.", statistic=Statistic.QUANTILE)


FACES = {
    "error": Face(
        ("eps", "n", "d", "h"), ("tails", "paper", "local", "central", "simulated"), _error
    ),
    "query": Face(
        ("eps", "n", "delta", "beta"), ("tails", "paper", "local", "central", "simulated"), _error
    ),
    "rmse": Face(
        ("eps", "n", "s"), ("rmse", "paper_rmse", "local_rmse", "central_rmse", "simulated")
    ),
    "noise": Face(("eps", "n", "delta"), ("noise", "paper_noise")),
    "users": Face(("eps", "delta"), ("users", "paper_users")),
    "messages": Face(
        ("d", "n", "eps"), ("messages", "paper_messages", "most_messages", "one_message")
    ),
    "loss": Face(("adding", "n", "eps", "delta"), ("loss", "paper_loss", "target")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "tails": "exact noise and tails",
    "calibrated": "exact noise",
    "paper": "the paper's constants",
    "printed": "Theorem 3.2(iii)",
    "printed_one": "Theorem 3.2(ii)",
    "local": "local, no shuffler",
    "central": "a trusted curator",
    "stable": "curator, stability-based",
    "simulated": "simulated",
    "local_order": "local [3], order only",
    "cheu_order": "shuffled [8], order only",
    "few_order": "few messages [13], order",
    "fewest_order": "fewest messages [13]",
    "central_order": "central, order only",
    "rmse": "exact noise, RMSE",
    "bias": "its |bias|",
    "paper_rmse": "the paper's noise, RMSE",
    "local_rmse": "local, RMSE",
    "central_rmse": "a trusted curator, RMSE",
    "noise": "least noise",
    "paper_noise": "the paper's noise",
    "users": "least users, exact δ",
    "paper_users": "the paper's users",
    "messages": "exact noise, messages",
    "paper_messages": "the paper's messages",
    "most_messages": "at most",
    "one_message": "local, one message",
    "loss": "δ with exact noise",
    "paper_loss": "δ with the paper's noise",
    "target": "the δ asked for",
}
