"""Audits: a mechanism run many times on two neighbouring data sets, compared with its promise.

Tests are chosen on the first part of the runs and judged on the rest, by Clopper and Pearson's
bounds: what they do on the rest proves, but for a stated risk, that *some* test does so well. A
test below the promised trade-off curve refutes the promise; one above it proves nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy.audit import Tested, judged_tests, thresholds_of
from explorer.privacy.core.bound import FloatArray, Reference, Role
from explorer.privacy.odds import tradeoff_from_deltas
from explorer.studies.base.builders import count
from explorer.studies.base.numbers import at_least, at_most
from explorer.studies.base.parameters import Kind, Parameter
from explorer.studies.base.study import (
    Condition,
    Context,
    Guarantee,
    Mark,
    Request,
    Result,
    ScalarResult,
    Series,
)

RISK = 1e-6
"""Probability with which any result of an audit may be wrong."""
_EVALUATIONS = 8
"""Number of evaluations while an audit runs; the risk is divided among them."""
_PILOT_SHARE = 0.25
"""Share of the runs on which tests are chosen."""
_AUDIT_ON = (("audit", ("True",)),)
AUDIT_PARAMETERS = (
    Parameter(
        "audit",
        "",
        "audit",
        "Run the mechanism on two neighbouring data sets, again and again, and draw how well "
        "tests tell them apart. Not for releases: the noise is seeded.",
        Kind.FLAG,
        False,
        group="simulation",
        quantities=("tradeoff",),
    ),
    count(
        "audit_runs",
        "",
        "runs of the audit",
        "How often the mechanism is run on each of the two data sets. More runs detect smaller "
        "losses of privacy.",
        20_000,
        1_000,
        10_000_000,
        group="simulation",
        quantities=("tradeoff",),
        relevant_when=_AUDIT_ON,
    ),
)
CLOPPER_PEARSON = Reference(
    "Clopper and Pearson 1934",
    "tests of runs",
    f"all dots together wrong with probability at most {at_most(RISK)}",
)


@dataclass(frozen=True)
class Audited:
    """A mechanism, two neighbouring data sets, and the guarantee to be audited.

    Attributes
    ----------
    what : str
        Description of the mechanism and the two data sets.
    run : callable
        From the data set (0 or 1), a number of runs and a generator to a score of each output,
        shape (runs,): the larger, the more the output looks like the second data set.
    eps, delta : float
        Guarantee of the mechanism.
    promise : str
        Whose promise that is.
    at_once : int
        Runs between two checks for cancellation.
    """

    what: str
    run: Callable[[int, int, np.random.Generator], FloatArray]
    eps: float
    delta: float = 0.0
    promise: str = "claimed of what is run"
    at_once: int = 1000


Audits = Callable[[Request, Guarantee, Context], Audited | str]
"""Function from a request and its guarantee to an audit, or the reason why there is none."""


@dataclass(frozen=True)
class AuditState:
    """State of a running audit.

    Attributes
    ----------
    tested : Tested or None
        None while tests are chosen.
    runs : int
        Judged, of each of the two data sets.
    share : float
        Of the work, 0 to 1.
    """

    tested: Tested | None
    runs: int
    share: float


def run_audit(
    subject: Audited, runs: int, seed: int, check: Callable[[], None] = lambda: None
) -> Iterator[AuditState]:
    """Run an audit, and yield its state several times.

    Parameters
    ----------
    subject : Audited
    runs : int
        Of each of the two data sets.
    seed : int
        The same seed gives the same audit.
    check : callable
        Called between pieces of runs; what it raises ends the audit.
    """
    rng = np.random.default_rng((seed, 13))
    first = max(int(_PILOT_SHARE * runs), 1)
    done = 0

    def scores(side: int, wanted: int) -> Iterator[FloatArray]:
        while wanted > 0:
            check()
            some = min(subject.at_once, wanted)
            result = np.asarray(subject.run(side, some, rng), float)
            if result.shape != (some,):
                raise ValueError(f"run: scores have shape {result.shape}, not ({some},)")
            # The last digits of floating-point noise leak what no guarantee covers (Mironov 2012).
            yield np.round(result, 9)
            wanted -= some

    pilot = [np.concatenate(list(scores(side, first))) for side in (0, 1)]
    cuts = thresholds_of(pilot[0], pilot[1])
    yield AuditState(None, 0, first / runs)
    hits = np.zeros((2, cuts.size), int)
    for look in range(1, _EVALUATIONS + 1):
        until = (runs - first) * look // _EVALUATIONS
        if until == done:
            continue
        for side in (0, 1):
            for result in scores(side, until - done):
                hits[side] += (result[:, None] >= cuts).sum(axis=0)
        done = until
        tested = judged_tests(hits[0], hits[1], done, 1 - RISK / _EVALUATIONS, subject.delta)
        yield AuditState(tested, done, (first + done) / runs)


def audited_answer(full: Result, subject: Audited | str, context: Context) -> Iterator[Result]:
    """Yield the answer with the results of an audit, updated while it runs."""
    request = full.request
    if isinstance(subject, str):
        yield replace(full, notes=(*full.notes, f"No audit: {subject}"), complete=True)
        return
    yield replace(full, complete=False, progress=0.0)
    x = full.series[0].x
    claim = tradeoff_from_deltas(x, min(subject.eps, 700.0), subject.delta)
    label = f"{subject.promise}: ({at_most(subject.eps)}, {at_most(subject.delta)})"
    own = Series("promised", label, Role.LOWER, x, claim.value, claim.reference, formula=True)
    known = full.guarantee.pairs if full.guarantee is not None else ()
    # If the audited guarantee is that of the answer, its curve is drawn already.
    curves = full.series if (subject.eps, subject.delta) in known else (*full.series, own)
    for result in run_audit(subject, int(request["audit_runs"]), request.seed, context.check):
        last = result.share >= 1
        if result.tested is None:
            yield replace(full, complete=False, progress=0.99 * result.share)
            continue
        yield replace(
            full,
            complete=last,
            progress=1.0 if last else 0.99 * result.share,
            series=(*curves, _dots(subject, result.tested, result.runs)),
            readouts=(*full.readouts, *_readouts(result.tested, result.runs)),
            conditions=(*full.conditions, verdict(subject, result.tested)),
        )


def is_refuted(subject: Audited, tested: Tested) -> bool:
    """Return whether some test is better than the guarantee allows."""
    allowed = tradeoff_from_deltas(tested.type1, min(subject.eps, 700.0), subject.delta).value
    return bool((tested.type2 < allowed).any()) or tested.epsilon > subject.eps


def verdict(subject: Audited, tested: Tested) -> Condition:
    """Return the condition that the audit does not refute the guarantee."""
    shown = max(tested.epsilon, 0.0)
    return Condition(
        f"The audit refutes nothing ({subject.what})",
        not is_refuted(subject, tested),
        f"it shows ε ≥ {at_least(shown)}; promised {at_most(subject.eps)} at "
        f"δ = {at_most(subject.delta)}",
        of_guarantee=False,
        short="The audit refutes nothing",
    )


def _dots(subject: Audited, tested: Tested, runs: int) -> Series:
    order = np.argsort(tested.type1, kind="stable")
    return Series(
        "audit",
        "audit: a test does at least so well",
        Role.UPPER,
        tested.type1[order],
        tested.type2[order],
        CLOPPER_PEARSON,
        mark=Mark.DOTS,
        note=f"{subject.what}; judged on {runs:,} runs of each",
    )


def _readouts(tested: Tested, runs: int) -> tuple[ScalarResult, ...]:
    risk = f"too high with probability at most {at_most(RISK)}"
    return (
        ScalarResult(
            "audit_eps", "ε that the audit shows", max(tested.epsilon, 0.0), Role.LOWER, note=risk
        ),
        ScalarResult("audit_judged", "runs judged, of each data set", float(runs)),
    )
