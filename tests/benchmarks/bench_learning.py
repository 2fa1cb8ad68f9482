"""CLDP-SGD: training against scikit-learn's SGD and against drawing its normals; study latency."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from explorer.engine.runtime import StudyRuntime
from explorer.privacy import learning
from explorer.studies.base.study import Request, default_request, default_sweep
from explorer.studies.cldp_sgd.data import clients_of, digits
from explorer.studies.registry import get_study
from tests.benchmarks.table import Row, at_least, at_most, sized

CLIENTS, SAMPLED = 1437, 100


def _median(call: Callable[[], object], repeats: int = 9) -> float:
    if sized(True, False):  # warm
        call()
    times = []
    for _ in range(sized(repeats, 1)):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _training() -> list[Row]:
    from sklearn.linear_model import SGDClassifier

    images = digits(0)
    x = images.x * images.unit
    held = clients_of(images, CLIENTS, 0)
    model = learning.Softmax(64, 10)
    rounds = int(learning.rounds_of(1, CLIENTS, SAMPLED))

    def epoch_of(p: float | None, best_cap: bool = True) -> tuple[float, float]:
        """Return seconds an epoch and accuracy after ten."""
        made = None
        if p is not None:
            made = learning.randomiser_for(p, model.size, 4.0, 1.0, best_cap=best_cap)
        rates = learning.Rates(((0.0, 0.5),))
        if made is not None:
            square = learning.moment(made, model.size, 1.0, SAMPLED)
            rates = learning.theorem_rates(20.0, square)
        plan = learning.Plan(model, SAMPLED, np.inf if p is None else 1.0, 20.0, rates, made)
        state = learning.start(plan, np.random.default_rng(0))
        seconds = _median(lambda: learning.advance(plan, held, state, rounds))
        end = learning.advance(plan, held, state, sized(10, 1) * rounds)
        return seconds, learning.accuracy(model, end.theta, images.x_test, images.y_test)

    peer = SGDClassifier(loss="log_loss", alpha=0.0, learning_rate="constant", eta0=0.05)
    classes = np.arange(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = _median(lambda: peer.partial_fit(x, images.y, classes))
        reached = float(np.mean(peer.predict(images.x_test) == images.y_test))
    plain, plain_score = epoch_of(None)
    sparse, _ = epoch_of(np.inf)
    dense, _ = epoch_of(2.0)
    rng = np.random.default_rng(0)
    normals = _median(lambda: rng.standard_normal((CLIENTS, model.size)))
    unit = learning.priv_unit(model.size, 4.0, 1.0)
    vectors = rng.standard_normal((SAMPLED, model.size)) * 0.01
    summed = _median(lambda: unit.total(vectors, rng))
    one_by_one = _median(lambda: unit.randomise(vectors, rng).sum(axis=0))
    return [
        Row(
            "SGDClassifier.partial_fit, one epoch of the digits",
            theirs * 1e3,
            None,
            "ms",
            None,
            f"one sample a step, ten one-vs-rest; accuracy {reached:.3f} after ten",
        ),
        at_most(
            "plain SGD here ÷ SGDClassifier, one epoch",
            plain / theirs,
            1.5,
            "×",
            f"{SAMPLED} samples a step; accuracy {plain_score:.3f} after ten",
        ),
        at_most("R∞ ÷ plain SGD, one epoch", sparse / plain, 2.5, "×"),
        at_most("R₂ ÷ drawing its normals, one epoch", dense / normals, 3.0, "×"),
        at_least("R₂ summed: faster than report by report", one_by_one / summed, 1.0, "×"),
    ]


def _study() -> list[Row]:
    study = get_study("cldp-sgd")
    host = StudyRuntime()

    def asked(what: str, key: str, **values: float) -> Request:
        request = default_request(study, **values)
        return replace(request, quantity=what, sweep=default_sweep(study, key, sized(100, 3)))

    def first(what: str, key: str, name: str, values: list[float]) -> float:
        """Median time to the first answer while a slider moves."""
        times = []
        for value in values:
            start = time.perf_counter()
            answers = host.answer(asked(what, key, **{name: value}), lambda: None)
            next(answers)
            times.append(time.perf_counter() - start)
            answers.close()
        return 1e3 * statistics.median(times[1:])

    def last(what: str, key: str, **values: float) -> float:
        start = time.perf_counter()
        for _ in host.answer(asked(what, key, **values), lambda: None):
            continue
        return 1e3 * (time.perf_counter() - start)

    try:
        epochs = [float(e) for e in range(20, 60, sized(3, 20))]
        levels = list(np.linspace(1.0, 3.0, sized(15, 2)))
        rows = [
            at_most(
                "risk, dragging ε₀: first answer",
                first("risk", "epochs", "eps0", levels),
                8.0,
                "ms",
            ),
            at_most(
                "ε over epochs, dragging E: first answer",
                first("eps", "epochs", "epochs", epochs),
                8.0,
                "ms",
            ),
            at_most(
                "ε over epochs, dragging ε₀: first answer",
                first("eps", "epochs", "eps0", levels),
                40.0,
                "ms",
            ),
            at_most("ε over ε₀: first answer", first("eps", "eps0", "epochs", epochs), 40.0, "ms"),
            at_most("ε over epochs, refined", last("eps", "epochs", eps0=2.5), 1000.0, "ms"),
            at_most("ε over ε₀, refined", last("eps", "eps0", n=20_000), 1000.0, "ms"),
            at_most(
                "accuracy, dragging ε₀: first answer",
                first("accuracy", "spent", "eps0", levels),
                40.0,
                "ms",
            ),
        ]
        last("accuracy", "spent", epochs=1, runs=1, n=500, k=100)  # starts the worker
        size = sized({}, {"epochs": 1, "runs": 1, "n": 500, "k": 100})
        trained = last("accuracy", "spent", **size)
        again = last("accuracy", "spent", delta=1e-6, **size)
        return [
            *rows,
            Row(
                "accuracy, defaults: 3 runs of 20 epochs, all trained",
                trained / 1e3,
                None,
                "s",
                None,
            ),
            at_most("accuracy, δ changed: nothing trained anew", again, 1000.0, "ms"),
        ]
    finally:
        host.close()


def run() -> list[Row]:
    return [*_training(), *_study()]
