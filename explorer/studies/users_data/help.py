"""Help page and presets of the study of users' data."""

from explorer.studies.base.help_page import (
    Formula,
    Judge,
    Numbers,
    Page,
    Preset,
    Status,
    with_verdicts,
)
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.study import Scale, Sweep
from explorer.studies.users_data import guarantee
from explorer.studies.users_data.inputs import DRAWN, ITEM_WISE, LOCAL, PLACES, POSITION

PAGE = Page(
    what=(
        "Users have items: places they went to, words they typed. Open a file with one item a "
        "line (user,item or user,x,y) and see what the paper's three algorithms make of it, "
        "beside the truth, which is for the curator only. Without a file there are synthetic "
        "users.",
        "Algorithm 2 answers every item at random, near items more often than far ones, and "
        "shuffles the answers; from their shares an unbiased estimate of the true ones is "
        "computed. Algorithm 1 adds noise to an average over all items. Algorithm 3 comes first "
        "where users have different numbers of items: it draws s of each.",
        "Two data sets, of two files or of two groups of users, are held against each other by "
        "the earth mover's distance: who moved how far, and how surely somebody who sees a "
        "release could tell which of the two it was made of.",
        guarantee.SIMULATED,
    ),
    assumptions=(
        "The space, its box, the number of users, of items or draws, and the levels are chosen "
        "before the file is looked at; taken from the file they void the guarantee.",
        "Every user has as many items as the others, or s are drawn of each.",
        "One common randomiser answers every item; items outside the space are rejected.",
        "Readers see the release only; the curator's tables and the true curves are not for them.",
    ),
    formulas=(
        Formula(
            "Answers are drawn from whole numbers",
            r"W(x,y)=\lfloor 2^{64}e^{-a\,d(x,y)}\rfloor,\quad "
            r"P(y|x)=W(x,y)/\sum_{y'}W(x,y')",
        ),
        Formula(
            "What is claimed of them",
            r"\alpha_0=\max_{x,x',y}\frac{1}{d(x,x')}\ln\frac{P(y|x)}{P(y|x')}",
        ),
        Formula("Estimate from the shares v of the answers", r"F=vA^{-1}"),
        Formula(
            "Its error, exactly",
            r"E\|F-\tilde K\|^2=\frac{\sum_x\tilde K(x)\sum_yA(x,y)\|A^{-1}_{y\cdot}\|^2-1}{mn}",
        ),
        Formula(
            "Algorithm 1 on a lattice",
            r"\tilde q=q+\frac{\gamma}{mn}Z,\quad P(Z=z)\propto e^{-|z|\,\alpha\gamma/(m\,\ell)}",
        ),
        Formula(
            "Who accuses wrongly with probability f finds out with at most",
            r"\min(1,\;e^{\alpha d}f+\delta,\;1-e^{-\alpha d}(1-f-\delta))",
        ),
        Formula(
            "Several users changed by w₁ … w_u",
            r"\varepsilon=\alpha\sum_kw_k,\quad\delta=\sum_ke^{\alpha(w_1+\dots+w_{k-1})}\delta_k",
        ),
    ),
    sources=guarantee.REFERENCES,
    errata=(
        "The paper (v1) prints the scale of Algorithm 1's noise with α in it twice; it is "
        "lip/(αn), once (errata user-B2).",
        "The paper (v1) prints that normalising an estimate can only reduce its error, which is "
        "false; we project it, and say what became of its distance (errata user-E2).",
    ),
)

_CURVES = ("truth", "answers", "estimate", "projected")
_PRESETS = (
    Preset(
        "places",
        "Places, item by item",
        "Synthetic users on a grid: their cells before, and the shuffled answers.",
        (("space_cells", 8), ("alpha", 20.0)),
        "map",
        Sweep("across", 0.0, 1.0, 100, Scale.LINEAR),
        "Every item is answered by a metric-private randomiser, and the answers are shuffled "
        "(PrivEMDItemWise).",
        "Answers keep to their item's neighbourhood; which answer is whose is lost in the shuffle.",
        curves=(
            "before",
            "after",
        ),
    ),
    Preset(
        "shares",
        "Shares of the cells",
        "True shares of the cells beside the debiased estimate and its projection.",
        (("space_cells", 4), ("alpha", 60.0)),
        "shares",
        Sweep("item", 0, 15, 16, Scale.LINEAR),
        "An unbiased estimate of the histogram from the answers (frequency estimation by GKRR).",
        "The same on any finite space: shares of the answers times the inverse of the law, with "
        "the exact error beside this draw's.",
        curves=_CURVES,
    ),
    Preset(
        "local",
        "The same, every user for themselves",
        "In the local model a user hides among their own items only, and answers say less.",
        (("space_cells", 4), ("alpha", 60.0), ("model", LOCAL)),
        "shares",
        Sweep("item", 0, 15, 16, Scale.LINEAR),
        "In the local model each user shuffles their own items alone.",
        "The same promise costs accuracy: the exact root mean square error of the histogram is "
        "1.03, where answers shuffled among all users have 0.479.",
        curves=_CURVES,
    ),
    Preset(
        "any-size",
        "Users of any size",
        "Algorithm 3 draws 200 items of every user, with 5 to 39 each, and then averages places.",
        (("sizes", DRAWN), ("query", POSITION), ("space_cells", 8), ("alpha", 20.0)),
        "mean",
        Sweep("place", 1, 2, 2, Scale.LINEAR),
        "BoundedEMDReduction draws items with replacement and then runs a bounded mechanism.",
        "Users weigh alike after drawing, and Algorithm 1 spends the δ of the draws alone.",
        curves=(
            "truth",
            "release",
        ),
    ),
    Preset(
        "city",
        "Mean distance to a city",
        "The paper's running example: how far users' places are from New York on average, on the "
        "Earth. Open a check-in file under “check-in file”, and draw s items of each user.",
        (
            ("space", "sphere"),
            ("query", PLACES),
            ("places", "40.7128 -74.006"),
            ("alpha", 25.0),
        ),
        "mean",
        Sweep("place", 1, 2, 2, Scale.LINEAR),
        computed="Synthetic users: the noise of the mean is some miles.",
        curves=("truth", "release"),
    ),
    Preset(
        "who-moved",
        "Who moved how far",
        "Every tenth synthetic user has a third of their items from somebody else.",
        (("space_cells", 8), ("alpha", 20.0)),
        "moved",
        Sweep("rank", 1, 200, 100, Scale.LOG),
        "The earth mover's distance of two data sets of one size is that of an assignment "
        "(Lemma 2.1).",
        "Every user's distance by an optimal plan; most did not move at all.",
        curves=("moved",),
    ),
    Preset(
        "told-apart",
        "What can be told apart",
        "How surely the change of one user, and of all who moved, can be seen in a release.",
        (("promise", ITEM_WISE), ("alpha", 2.0), ("space_cells", 8)),
        "found_out",
        Sweep("false_alarm", 0.0, 1.0, 101, Scale.LINEAR),
        "α and δ bound how much likelier any event is under one data set than under another.",
        "One user's change can hardly be told; everybody's changes add up, and may be.",
        curves=(
            "one",
            "all",
            "pools",
            "chance",
        ),
    ),
)


def _judge_moves(numbers: Numbers) -> tuple[Status, str]:
    """Judge “metric-private” by the mean distance of an answer from its item, in miles."""
    moved, diameter = numbers["moved"], numbers["diameter"]
    verdict = f"mean {nearest(moved, 3)} of {nearest(diameter)} miles off"
    return ("=" if moved < diameter / 2 else "≠"), verdict


def _this_draw(numbers: Numbers) -> tuple[Status, str]:
    """Judge the exact error by this draw's."""
    exact, single = numbers["rmse"], numbers["error"]
    verdict = f"RMSE {nearest(exact, 3)}; draw {nearest(single, 3)}"
    return ("=" if single < 3 * exact else "≠"), verdict


def _locally(numbers: Numbers) -> tuple[Status, str]:
    factor = numbers["rmse"] / numbers["central"]
    return ("=" if factor > 1 else "≠"), f"RMSE {nearest(factor, 2)} times larger"


def _draws_alone(numbers: Numbers) -> tuple[Status, str]:
    same = numbers["delta_total"] <= numbers["delta"]
    return ("=" if same else "≠"), f"δ {at_most(numbers['delta_total'])}{', of the draws' * same}"


def _judge_assignment(numbers: Numbers) -> tuple[Status, str]:
    """Judge Lemma 2.1: all items together are no farther apart than the farthest user's."""
    farthest = numbers["farthest"]
    verdict = f"{nearest(numbers['users_moved'])} moved, at most {at_most(farthest, 3)}"
    return ("=" if numbers["pools"] <= farthest else "≠"), verdict


def _judge_loss(numbers: Numbers) -> tuple[Status, str]:
    """Judge by ε of the user who moved farthest, which is at most α times that distance."""
    one, every = numbers["eps_one"], numbers["eps_all"]
    within = one <= numbers["alpha"] * numbers["farthest"] * (1 + 1e-9)
    return ("=" if within else "≠"), f"ε {at_most(one, 3)} for one, {at_most(every, 3)} all"


JUDGES: dict[str, Judge] = {
    "places": _judge_moves,
    "shares": _this_draw,
    "local": _locally,
    "any-size": _draws_alone,
    "who-moved": _judge_assignment,
    "told-apart": _judge_loss,
    "city": lambda numbers: ("+", f"noise RMS {nearest(numbers['rmse'], 3)} mi"),
}
PRESETS = with_verdicts("users-data", _PRESETS, JUDGES)
