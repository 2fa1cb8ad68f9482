"""Help page and presets of the heatmap study, and verdicts on the paper's experiments.

Figures 10 and 11 are compared by the change of the errors as more cells are filled.
"""

from __future__ import annotations

from explorer.studies.base.help_page import (
    Formula,
    Judge,
    Numbers,
    Page,
    Preset,
    Status,
    preset_numbers,
    surpasses,
    trend,
    with_verdicts,
)
from explorer.studies.base.numbers import nearest
from explorer.studies.heatmap.mechanisms import (
    ALGORITHM_AND_BASELINE,
    MECHANISMS,
    ONE_USER,
    REFERENCES,
)

FILLED = (4, 15, 30, 75)
"""Per cent of the cells."""

MEASURES = {
    "emd": ("earth mover's distance", "EMD", 1),
    "similarity": ("similarity", "similarity", -1),
    "pearson": ("Pearson correlation", "Pearson", -1),
    "kl": ("KL divergence", "KL", 1),
}
"""Name, short name, and the direction that is worse."""

_WORDS = {1: "worse", 0: "no change beyond the 95 % intervals", -1: "better"}


def trends(figure: str, mechanism: str) -> dict[str, int]:
    """Return of each measure whether it gets worse (1), better (−1) or neither (0).

    Parameters
    ----------
    figure : str
        ``figure-10`` or ``figure-11``.
    mechanism : str
        ``pyramid`` or ``laplace``.
    """
    stored = preset_numbers("heatmap", figure)

    def mean(measure: str, filled: int) -> tuple[float, float, float]:
        mean, low, high = (
            stored[f"{mechanism}_{measure}{end}_{filled}"] for end in ("", "_low", "_high")
        )
        return mean, low, high

    return {
        measure: worse * trend(mean(measure, FILLED[0]), mean(measure, FILLED[-1]))
        for measure, (_, _, worse) in MEASURES.items()
    }


def trends_verdict(figure: str) -> str:
    """Return the verdict: by which measures the algorithm gets worse, as the paper says."""
    changes = trends(figure, "pyramid")
    worse = [short for key, (_, short, _) in MEASURES.items() if changes[key] > 0]
    if len(worse) > 2:
        return f"worse by {len(worse)} of {len(changes)} measures"
    return f"worse by {', '.join(worse) or 'no measure'}"


def trends_text(figure: str) -> str:
    """Return what comes out, measure by measure, with the means at each share of filled cells."""
    stored = preset_numbers("heatmap", figure)
    sentences = []
    for mechanism, name in (("pyramid", "the algorithm"), ("laplace", "the baseline")):
        moves = trends(figure, mechanism)
        parts = []
        for key, (measure, _, _) in MEASURES.items():
            means = ", ".join(nearest(stored[f"{mechanism}_{key}_{f}"], 2) for f in FILLED)
            parts.append(f"{measure} {means} ({_WORDS[moves[key]]})")
        sentences.append(f"Of {name}: {'; '.join(parts)}.")
    shares = ", ".join(map(str, FILLED[:-1]))
    return (
        f"“experiment {figure}”, ten sets of data, means at {shares} and {FILLED[-1]} % filled. "
        + " ".join(sentences)
    )


def figure_1_text() -> str:
    """Return what the experiment of Figure 1 prints for the bundled check-ins at ε = 1."""
    stored = preset_numbers("heatmap", "figure-1")
    means = ", ".join(
        f"{row.label} {nearest(stored[f'{key}_emd'], 2)}"
        for key, row in MECHANISMS.items()
        if f"{key}_emd" in stored
    )
    return (
        " For the bundled synthetic check-ins (“--data sample”) it prints these mean earth mover's "
        f"distances at ε = 1: {means}. {figure_1_measures()}"
    )


FIGURE_1_EPSILONS = ("0.1", "1")
"""Where the algorithm and the baseline are compared by every measure."""


def figure_1_leads(epsilon: str) -> dict[str, int]:
    """Return of each measure whether the algorithm is behind (1), ahead (−1) or neither (0).

    Means over all runs differ by more than their 95 % intervals, or do not (`trend`).
    """
    stored = preset_numbers("heatmap", "figure-1")

    def mean(mechanism: str, measure: str) -> tuple[float, float, float]:
        mean, low, high = (
            stored[f"{mechanism}_{measure}{end}_{epsilon}"] for end in ("", "_low", "_high")
        )
        return mean, low, high

    return {
        measure: worse * trend(mean("laplace", measure), mean("pyramid", measure))
        for measure, (_, _, worse) in MEASURES.items()
    }


def figure_1_measures() -> str:
    """Return how the algorithm's means compare with the baseline's, by every measure."""
    stored = preset_numbers("heatmap", "figure-1")
    words = {1: "worse", 0: "no difference shown", -1: "better"}
    sentences = []
    for epsilon in FIGURE_1_EPSILONS:
        parts = []
        for key, lead in figure_1_leads(epsilon).items():
            ours, theirs = (
                nearest(stored[f"{mechanism}_{key}_{epsilon}"], 2)
                for mechanism in ALGORITHM_AND_BASELINE
            )
            parts.append(f"{MEASURES[key][0]} {ours} against {theirs} ({words[lead]})")
        sentences.append(f"At ε = {epsilon}, over all runs: {'; '.join(parts)}.")
    return "The algorithm against the baseline. " + " ".join(sentences)


def figure_1_verdict() -> tuple[Status, str]:
    """Return the verdict: where the algorithm is behind by a measure, else the mean errors."""
    stored = preset_numbers("heatmap", "figure-1")
    for epsilon in FIGURE_1_EPSILONS:
        for key in (key for key, lead in figure_1_leads(epsilon).items() if lead > 0):
            ours, theirs = (
                nearest(stored[f"{mechanism}_{key}_{epsilon}"], 2)
                for mechanism in ALGORITHM_AND_BASELINE
            )
            return "≠", f"ε = {epsilon}: {MEASURES[key][1]} {ours}, Laplace {theirs}"
    ours, laplace = (nearest(stored[f"{key}_emd"], 2) for key in ALGORITHM_AND_BASELINE)
    return "=", f"mean EMD {ours}; Laplace {laplace}"


PAGE = Page(
    what=(
        "A map shows where people were. Left is the true heatmap, which only whoever holds the "
        "check-ins may see; right is what others could be shown in its place, where noise hides "
        "whether any one person is in the data at all. How much it hides is ε: smaller is more "
        "private and, on average, makes a worse map.",
        "Every user weighs the same, however often they checked in: their check-ins inside the "
        "region share a mass of 1: equally, by the cells visited, each once, or all of it in the "
        "cell visited most often; and at most k check-ins may count. None of this costs privacy, "
        "as nobody weighs more than 1 whatever they do; what it does to the true map is bias, told "
        "to the curator apart from the noise. The mechanisms differ in where they add noise. The "
        "adaptive quadtree splits a cell into four only where noisy counts show people, and counts "
        "a cell that stays whole twice, with all of ε that its quarters would have had; a fit "
        "makes parts and whole agree, and inside whole cells the map is smoothed. It needs no "
        "guess of how many users there are, and on nine regions of two public data sets errs least "
        "from ε = .5. The paper's counts ever smaller cells where there is something to see (a "
        "pyramid). With a capped depth it stops where cells would be lost in the noise; then "
        "either the paper's linear program or least squares makes a map of the counts. Dense "
        "aggregation counts on one level. The others add noise to every cell of the map: Laplace, "
        "Gaussian, or whole-number noise to whole counts, each also with only the largest cells "
        "kept. Two need nobody who sees all check-ins: in the shuffled pyramid and the shuffled "
        "histogram every user adds a share of the noise and a shuffler mixes the messages of all. "
        "They are simulated here, with what each user would have to send.",
        "All users are in the map unless a sample is asked for. Users are sampled by a hash of "
        "their ids: so many with the smallest hashes, where one user more in the file may push "
        "another out, so that one more or less costs 2ε; or a share of all hashes, where everyone "
        "is in or out on their own and one more or less costs ε. The hash's key is public, so a "
        "sample makes no map more private; it only leaves users out.",
        "Without the true map an exported or copied picture, table or recipe tells nothing that "
        "counts users or check-ins, names the file, or was found from it. If the region itself was "
        "found from the check-ins, or drawn over them, it does not say where the map lies either. "
        "Opened again it asks the same of whatever check-ins are open, with another draw.",
        "Centres (Add map) shows the private map as squares whose area goes with their mass, k "
        "numbered centres of least mean distance to it, found by a k-median search (Appendix A), "
        "and the borders between the places that are nearest to each. They are made from the "
        "private map alone and spend no further ε. For maps of one mass the mean distance to any "
        "centres differs by at most the earth mover's distance. k is a setting: chosen by looking "
        "at the true cost it is not private.",
        "Noisy points move every check-in, or one of each user's, by planar Laplace noise. What "
        "they promise goes by distance (metric differential privacy): places d apart are told "
        "apart by a factor of at most e^αd. They do not hide that a user is there, or how many "
        "check-ins there are, so their ε does not compare with that of the other maps, and no "
        "curve or table ranks them together.",
        "The numbers below compare both maps. The earth mover's distance is the one that matters "
        "most: how much of the heat must be carried how far to turn the private map into the true "
        "one, with the side of the map as unit (or in km). They are computed from the true data "
        "and are for the curator only.",
        "Moving a slider keeps the draw of the noise, so that you see the slider and not chance; "
        "New noise draws again. The noise on the screen is a demonstration and must not be "
        "published: every published map spends its ε, and another one spends it again.",
    ),
    assumptions=(
        f"Neighbouring data differ in {ONE_USER}.",
        "Region, time range, ε, δ, Δ, w, n₀, B, t, ρ, τ, q, L, σ, p, k and the sample of users are "
        "chosen without looking at the data. What the program found from them breaks this (✗); "
        "what somebody typed, they must vouch for.",
        "In a sample of so many users, adding or removing one is replacing one among the sampled.",
        "The number of users is not published; if it is, one user can only be replaced by another, "
        "and every ε doubles; Gaussian noise then has the level that the guarantee states for "
        "replacing one.",
        "Every published map counts: what is released from the same check-ins adds up.",
    ),
    formulas=(
        Formula(
            "adaptive quadtree: a cell's count s on level i, and what is left of ε below it",
            r"y=s+Lap(1/e_i),\quad e_i=\rho\,r_i,\quad r_{i+1}=r_i-e_i,\quad r_q=\varepsilon,"
            r"\quad e_L=r_L",
        ),
        Formula(
            "it is split if G, estimated from y, its siblings' and its parent's counts, is large",
            r"G\,r_{i+1}>\tau;\quad otherwise\ \ y'=s+Lap(1/r_{i+1})",
        ),
        Formula(
            "noise on level i of the pyramid, and how ε is split",
            r"t_i=P_i\,s+Lap(1/\varepsilon_i),\quad\varepsilon_i\propto 2^{-(i-q)/2},\quad"
            r"\sum_i\varepsilon_i=\varepsilon",
        ),
        Formula(
            "the map nearest to the counts: S the cells kept, r those left out",
            r"\min_{x\geq 0}\;\sum_{c\in S}2^{-i(c)}\left|t(c)-\sum_{v\subseteq c}x_v\right|+"
            r"\sum_r\left(2^{1-j(r)}-2^{-\ell}\right)x_r",
        ),
        Formula("depth cap", r"L=round\left(\frac{1}{2}\log_2(\varepsilon\,n_0)\right)"),
        Formula(
            "least squares over all cells of levels q to L, then projections on simplices",
            r"\min_h\;\sum_i\frac{\varepsilon_i^2}{2}\sum_c\left(t(c)-h(c)\right)^2,\quad"
            r"h(c)=\sum_{children}h",
        ),
        Formula(
            "shuffled pyramid: n₀ users' units of total B, noise shares, all of it added modulo m",
            r"t_i=\frac{1}{B}\left(\sum_u z_{u,i}+\sum_u(X_{u,i}-Y_{u,i})\right),\quad "
            r"X,Y\sim Polya(1/n_0,\,e^{-\varepsilon_i/B})",
        ),
        Formula(
            "shuffled histogram: n users of whom s are in a cell, noise bits with chance p",
            r"\hat s=n\left(y/n-p\right)\ if\ y>n,\ else\ 0,\quad y=s+Bin(n,p)",
        ),
        Formula(
            "cost of k centres, and how far that of two maps can be apart",
            r"cost_C(P)=\sum_c P(c)\,\min_{z\in C}\,|c-z|_1,\quad"
            r"|cost_C(P)-cost_C(Q)|\leq EMD(P,Q)",
        ),
        Formula(
            "noisy points: distance moved, with any direction (W the lower branch of Lambert's)",
            r"P(r\leq\rho)=1-(1+\alpha\rho)\,e^{-\alpha\rho},\quad"
            r"r=-\frac{1}{\alpha}\left(W_{-1}\left(\frac{u-1}{e}\right)+1\right),\quad"
            r"\alpha=\varepsilon/r_\varepsilon",
        ),
        Formula(
            "heatmap: each cell's mass spread by a Gaussian that keeps it inside",
            r"H=A\,p\,A^T,\quad A_{ab}\propto e^{-(a-b)^2/2\sigma^2\Delta^2}",
        ),
    ),
    sources=REFERENCES,
    errata=(
        "The paper prints levels 1 … ℓ for the budget and measures level 0 too; its experiments "
        "leave out all levels above q, whose rows must then be dropped from the program, as a "
        "target of 0 for them would make every answer 0 (errata heat-7, heat-21).",
        "The paper prints ŝ/|ŝ| as answer, which is 0/0 where every count of the start level is "
        "negative; the map is then uniform here, and says so (errata heat-7).",
        "The paper prints “the” minimiser of the linear program, which has very many; ties are "
        "shared evenly here, whose maps are 2 to 33 % nearer to the truth than the one a solver "
        "happens to find (errata heat-22).",
        "The paper prints a footnote that Gaussian noise is larger than Laplace noise for moderate "
        "δ, which is false for small ε: at δ = 1e-3 below ε = .0246 (errata heat-18).",
        "The paper prints top-t % baselines without a rule for rounding, which decides everything "
        "at its sizes; t % of Δ² is rounded up here, to at least one cell (errata heat-25).",
        "The paper prints Δ = ⌈log(ε/(n√k))⌉ for the coreset's grid, which is upside down and "
        "lacks a power of 2 (errata heat-14). Centres are sought on the private map as it is here.",
        "The paper prints neither σ nor the units of its distances nor the direction of KL; here "
        "σ = .02 of the side, the unit square with ℓ1, and KL of the truth from the estimate "
        "(errata heat-23).",
    ),
)

_BEATS = (
    "On the 30 busiest cells of a public split of Gowalla, 200 users each, two samples: mean "
    "earth mover's distance of 64 × 64 block sums "
)
_SWEEPS = tuple(
    Preset(
        key,
        f"{figure}: error against {what}",
        f"Utility draws the mean error over {what}, with its 95 % interval, on the check-ins that "
        "are open; other measures are in its list.",
        values=(("mechanism", "pyramid"), ("epsilon", epsilon), ("w", 20), ("resolution", "256")),
        users=200,
        error_over=axis,
        published=said,
        computed="“Study ▸ Figures of the paper…” and the command “experiment” with this figure's "
        "name repeat the paper's setting, at its places of the x axis, on a file of check-ins: "
        "they draw the mean over all runs with its interval by the paper's measures, and judge "
        "what it says by each." + (figure_1_text() if key == "figure-1" else ""),
        status=figure_1_verdict()[0] if key == "figure-1" else "▷",
        verdict=figure_1_verdict()[1] if key == "figure-1" else "needs a check-in file",
    )
    for key, figure, axis, what, epsilon, said in (
        (
            "figure-1",
            "Figure 1",
            "epsilon",
            "ε",
            1.0,
            "Section 4.1: ahead of the baseline and its variants in all metrics, most of all for ε "
            "between .2 and 5.",
        ),
        (
            "figure-4",
            "Figures 2 and 4",
            "users",
            "users at ε = 10",
            10.0,
            "Section 4.1: the algorithm and the baseline get better with more users; thresholds "
            "are less predictable.",
        ),
        (
            "figure-5",
            "Figures 2 and 5",
            "resolution",
            "Δ at ε = 10",
            10.0,
            "Section 4.1: the algorithm stays nearly constant, the baseline suffers as Δ grows.",
        ),
        (
            "figure-6",
            "Figure 6",
            "users",
            "users at ε = 1",
            1.0,
            "Appendix E.1: as at ε = 10, but the thresholds are poor throughout.",
        ),
        (
            "figure-7",
            "Figure 7",
            "resolution",
            "Δ at ε = 1",
            1.0,
            "Appendix E.1: as at ε = 10, but the thresholds are poor throughout.",
        ),
    )
)

_ON_MADE_DATA = (
    (
        "figure-8",
        "epsilon",
        "ε on points where people look",
        "one made picture of 50 users",
        1.0,
        "512",
        "Appendix E.2: on 38 pictures of a public data set.",
        "“experiment figure-8 --draws 1” on 38 made pictures: mean earth mover's distance of the "
        "pyramid .220, .144, .073, .043, .025 at ε = 1, 2, 5, 10, 20.",
        "",
    ),
    (
        "figure-10",
        "filled",
        "filled cells",
        "mixtures of 20 Gaussians, 200 users",
        1.0,
        "256",
        "Appendix E.3: the algorithm gets worse as more cells are filled, the baseline better.",
        trends_text("figure-10"),
        trends_verdict("figure-10"),
    ),
    (
        "figure-11",
        "filled",
        "filled cells",
        "mixtures of 5 or 10, 20, 20 and 80 Gaussians, 200 users",
        1.0,
        "256",
        "Appendix E.3: the algorithm gets worse faster than with one number of Gaussians.",
        trends_text("figure-11"),
        trends_verdict("figure-11"),
    ),
)

_PRESETS = (
    Preset(
        "adaptive",
        "Beyond the paper: adaptive quadtree, ε = 1",
        "Cells are split only where noisy counts show people; at the same ε nearer to the truth "
        "than the paper's algorithm and least squares, on average over the check-ins below.",
        values=(("mechanism", "adaptive"), ("epsilon", 1.0), ("resolution", "256")),
        users=200,
        published="",
        computed="On nine regions of two public data sets, ten draws each: mean earth mover's "
        "distance of 64 × 64 block sums .042 (± .0013) with 200 users, against .078 of the paper's "
        "algorithm and .051 of least squares; with all 891 to 7,102 users .0104, against .0188 and "
        ".0170.",
    ),
    *_SWEEPS,
    Preset(
        "figure-3-algorithm",
        "Figure 3: the paper's algorithm, ε = 1",
        "The pyramid with w = 20 at Δ = 256, on 200 users as in the paper, beside the true map, "
        "the baseline and its top .01 %.",
        values=(
            ("mechanism", "pyramid"),
            ("epsilon", 1.0),
            ("w", 20),
            ("resolution", "256"),
            ("top_percent", 0.01),
            ("beside", "true,laplace,top"),
        ),
        users=200,
        published="Section 4.1: better than the baseline and its variants in all metrics.",
        computed=_BEATS + ".078 (± .004), the Laplace baseline's .42.",
    ),
    Preset(
        "figure-3-baseline",
        "Figure 3: Laplace baseline, ε = 1",
        "Laplace noise on each of the 65,536 cells, negative ones emptied: a nearly uniform map.",
        values=(("mechanism", "laplace"), ("epsilon", 1.0), ("resolution", "256")),
        users=200,
        published="Section 4.1: rather poor in all metrics, even at ε = 10.",
        computed=_BEATS + ".42 at ε = 1 and .40 at ε = 10.",
    ),
    Preset(
        "figure-3-top",
        "Figure 3: top .01 % of the baseline, ε = 5",
        "Only the 7 largest of the noisy cells are kept; beside it the true map, the baseline and "
        "the paper's algorithm.",
        values=(
            ("mechanism", "top"),
            ("epsilon", 5.0),
            ("top_percent", 0.01),
            ("w", 20),
            ("resolution", "256"),
            ("beside", "true,laplace,pyramid"),
        ),
        users=200,
        published="Section 4.1: a significant improvement over the baseline, still behind.",
        computed=_BEATS + ".14 (± .007); the algorithm has .024.",
    ),
    *(
        Preset(
            key,
            f"Figure {key.removeprefix('figure-')}: error against {what}",
            f"Utility draws the mean error over {what} on {data}.",
            values=(
                ("mechanism", "pyramid"),
                ("epsilon", epsilon),
                ("w", 20),
                ("resolution", delta),
            ),
            error_over=axis,
            judged_on=key,
            published=published,
            computed="The paper leaves open how its data are made; what was chosen here stands in "
            "the experiment's description (“experiment --list”). " + computed,
            status="▷",
            verdict=verdict,
        )
        for key, axis, what, data, epsilon, delta, published, computed, verdict in _ON_MADE_DATA
    ),
    Preset(
        "figure-9",
        "Figure 9: gaze points on a picture, ε = 10",
        "The paper's algorithm at the size of a padded picture, on 50 users. Open a table of "
        "points with the picture they lie on; on check-ins it is a map of them.",
        values=(("mechanism", "pyramid"), ("epsilon", 10.0), ("w", 20), ("resolution", "512")),
        users=50,
        published="Appendix E.2: ahead of the baseline and its top .01 % on two pictures.",
        computed="“experiment figure-9 --draws 12” on one made picture with 20 points of each of "
        "50 users: mean earth mover's distance .040 (± .006), of the top .01 % .49, of the Laplace "
        "baseline .53, of the adaptive quadtree .023.",
    ),
    Preset(
        "figure-13",
        "Figure 13: the shuffled pyramid, B = 256, ε = 5",
        "The pyramid without a curator, on 50 users as in the paper; put the central pyramid "
        "beside it. Lower B and the map gets worse, raise it and messages get longer.",
        values=(
            ("mechanism", "shuffled-pyramid"),
            ("epsilon", 5.0),
            ("delta", 1e-5),
            ("n0", 50),
            ("B", 256),
            ("w", 20),
            ("resolution", "512"),
        ),
        users=50,
        published="Appendix F: in all metrics nearly the best already where B is no more than 256.",
        computed="“experiment figure-13” on one made picture with 20 points of each of 50 users, "
        "20 draws: mean earth mover's distance .0814 at B = 16, .0782 at B = 32 and .0761 at "
        "B = 256, against the central pyramid's .0763; from B = 64 the draws tell no difference.",
    ),
    Preset(
        "least-squares",
        "Beyond the paper: least squares, ε = 1",
        "At the same ε nearer to the truth, on average over the check-ins below: measure no deeper "
        "than 200 expected users can be seen, and fit all counts.",
        values=(("mechanism", "least-squares"), ("epsilon", 1.0), ("n0", 200), ("w", 20)),
        users=200,
        published="",
        computed=_BEATS + ".056 (± .002), against .078 of the paper's algorithm; .16 against .30 "
        "at ε = .1.",
    ),
    Preset(
        "whole-counts",
        "Beyond the paper: whole counts, ε = 10",
        "Every user counts once, and whole-number noise of scale 1/10 is almost always 0.",
        values=(("mechanism", "integers"), ("epsilon", 10.0), ("resolution", "256")),
        users=200,
        published="Section 4.1: baselines that add noise to every cell stay behind.",
        computed=_BEATS + "for users with one place each .0077, half of the paper's algorithm's "
        ".0147.",
    ),
)


def _ahead(rival: str, form: str) -> Judge:
    """Judge by the mean earth mover's distance of the algorithm and of a rival."""

    def judge(stored: Numbers) -> tuple[Status, str]:
        ours, theirs = stored["pyramid"], stored[rival]
        return ("=" if ours < theirs else "≠"), form.format(nearest(ours, 2), nearest(theirs, 2))

    return judge


def _poor(stored: Numbers) -> tuple[Status, str]:
    """Judge by the baseline's mean at ε = 10 and the algorithm's at ε = 1."""
    first, last = stored["laplace"], stored["laplace_10"]
    verdict = f"mean EMD {nearest(first, 2)}, at ε = 10 {nearest(last, 2)}"
    return ("=" if last > stored["pyramid"] else "≠"), verdict


def _behind(stored: Numbers) -> tuple[Status, str]:
    top, ours = stored["top"], stored["pyramid"]
    return ("=" if top > ours else "≠"), f"mean EMD {nearest(top, 2)}, not {nearest(ours, 2)}"


def _with_epsilon(stored: Numbers) -> tuple[Status, str]:
    return "▷", f"mean EMD {nearest(stored['first'], 2)} to {nearest(stored['last'], 2)}"


def _nearly_best(stored: Numbers) -> tuple[Status, str]:
    """Judge by the mean at B = 256 and that of the central pyramid."""
    shuffled, central = stored["shuffled_256"], stored["central"]
    verdict = f"mean {nearest(shuffled, 3)}, central {nearest(central, 3)}"
    return ("=" if shuffled <= 1.05 * central else "≠"), verdict


_SMALLER = "mean EMD {}, not {}"
JUDGES: dict[str, Judge] = {
    # Presets that are called as the mechanism they show.
    **{
        item.key: surpasses(item.key, "pyramid", _SMALLER, write=nearest)
        for item in _PRESETS
        if item.key in MECHANISMS
    },
    "figure-3-algorithm": _ahead("laplace", "mean EMD {}, Laplace {}"),
    "figure-3-baseline": _poor,
    "figure-3-top": _behind,
    "figure-8": _with_epsilon,
    "figure-9": _ahead("top", "mean EMD {}; top t % {}"),
    "figure-13": _nearly_best,
    "whole-counts": lambda found: (
        "≠" if found["integers"] < found["pyramid"] else "=",
        _SMALLER.format(nearest(found["integers"], 3), nearest(found["pyramid"], 3)),
    ),
}
PRESETS = with_verdicts("heatmap", _PRESETS, JUDGES)
