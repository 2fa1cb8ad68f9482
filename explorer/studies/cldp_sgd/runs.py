"""Trainings for real, a piece at a time: what runs in the worker process."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy import learning
from explorer.privacy.learning import (
    Convolutional,
    Model,
    Perceptron,
    Plan,
    Rates,
    Softmax,
    State,
)
from explorer.studies.cldp_sgd.data import Images, clients_of, digits, enlarged, mnist

CLASSES = 10
HIDDEN = 32
"""Units of the hidden layer, as many as the paper's network has in its dense one."""
PLAIN_RATE = 0.5
"""Rate of the training without privacy."""
CONSTANT, THEOREM, FIGURE_5A, FIGURE_5B = "constant", "theorem", "figure5a", "figure5b"
_PRINTED = {
    FIGURE_5A: ((0.0, 0.3), (70.0, 0.18)),
    FIGURE_5B: ((0.0, 12.0), (30.0, 4.0), (60.0, 3.5)),
}
"""(after so many epochs, rate), as the paper prints them."""


@dataclass(frozen=True)
class Job:
    """Everything that decides a training, the number of epochs apart.

    Attributes
    ----------
    source : str
        ``digits`` or ``mnist``.
    folder, fingerprint : str
        Where MNIST's files are, and their content; empty for digits.
    data_seed : int
        Of the split and of who holds what.
    model : str
        ``softmax``, ``perceptron`` or ``convolutional``.
    private : bool
        False trains by plain SGD: no clipping, no randomiser, rate 0.5, no projection.
    p, best_cap, eps0, clip
        The randomiser.
    clients, sampled : int
        n and k.
    diameter, steps, rate
        D, which learning rates, and the rate of `CONSTANT`.
    seed, run : int
        Of the training's randomness.
    """

    source: str
    folder: str
    fingerprint: str
    data_seed: int
    model: str
    private: bool
    p: float
    best_cap: bool
    eps0: float
    clip: float
    clients: int
    sampled: int
    diameter: float
    steps: str
    rate: float
    seed: int = 0
    run: int = 0

    def numbered(self, run: int) -> Job:
        """Return the training with the same seed and another run's randomness."""
        return replace(self, run=run)

    def plain(self) -> Job:
        """Return the training without privacy on the same data."""
        return replace(
            self,
            private=False,
            p=2.0,
            best_cap=True,
            eps0=1.0,
            clip=1.0,
            diameter=1.0,
            steps=CONSTANT,
            rate=PLAIN_RATE,
        )


@dataclass(frozen=True)
class Run:
    """How far a training has come.

    Attributes
    ----------
    state : State or None
        None before the first piece.
    accuracy : tuple of float
        On the test pictures after 0, 1, 2, … epochs.
    pictures : int
        Training pictures there are.
    lipschitz : float
        Largest gradient norm that softmax regression can have on the training pictures.
    """

    state: State | None = None
    accuracy: tuple[float, ...] = ()
    pictures: int = 0
    lipschitz: float = math.nan

    @property
    def epochs(self) -> int:
        """Whole epochs trained; −1 before the first piece."""
        return len(self.accuracy) - 1


def images_of(job: Job) -> Images:
    """Return the pictures of a job."""
    if job.source != "digits":
        return mnist(job.folder, job.fingerprint)
    return enlarged(job.data_seed) if job.model == "convolutional" else digits(job.data_seed)


def model_of(name: str, pixels: int) -> Model:
    """Return the model for pictures of so many pixels.

    Raises
    ------
    ValueError
        If the convolutional network can't take them.
    """
    if name != "convolutional":
        return (
            Perceptron(pixels, HIDDEN, CLASSES)
            if name == "perceptron"
            else Softmax(pixels, CLASSES)
        )
    if pixels != learning.SIDE**2:
        raise ValueError(
            f"the convolutional network takes pictures of 28 × 28 pixels, these have {pixels}; "
            "choose another model"
        )
    return Convolutional(CLASSES)


def plan_of(job: Job, pixels: int) -> Plan:
    """Return the plan of a job."""
    model = model_of(job.model, pixels)
    if not job.private:
        rates = Rates(((0.0, PLAIN_RATE),))
        return Plan(model, job.sampled, math.inf, math.inf, rates, None)
    made = learning.randomiser_for(job.p, model.size, job.eps0, job.clip, best_cap=job.best_cap)
    if job.steps == THEOREM:
        square = learning.moment(made, model.size, job.clip, job.sampled, job.p)
        rates = learning.theorem_rates(job.diameter, square)
    elif job.steps == CONSTANT:
        rates = Rates(((0.0, job.rate),))
    else:
        an_epoch = job.clients / job.sampled
        rates = Rates(tuple((after * an_epoch, rate) for after, rate in _PRINTED[job.steps]))
    return Plan(model, job.sampled, job.clip, job.diameter, rates, made, job.p)


def _lipschitz(images: Images, p: float) -> float:
    found = 0.0
    for begin in range(0, len(images.x), 4096):
        pixels = np.asarray(images.x[begin : begin + 4096] * images.unit, float)
        found = max(found, learning.lipschitz(pixels, p))
    return found


def train(job: Job, run: Run, epochs: int, seconds: float) -> Run:
    """Return the run some epochs, or about so many seconds, further.

    Cutting a training into pieces does not change it.

    Parameters
    ----------
    job : Job
    run : Run
        Where it is.
    epochs : int
        Where it shall end.
    seconds : float
        How long this piece may take; at least one round is run.

    Raises
    ------
    ValueError
        If the data can't be read.
    """
    until = time.perf_counter() + seconds
    images = images_of(job)
    pixels = images.x.shape[1]
    plan = plan_of(job, pixels)
    held = clients_of(images, job.clients, job.data_seed)
    state, scores = run.state, list(run.accuracy)
    if state is None:
        state = learning.start(plan, np.random.default_rng([job.seed, job.run]))
        scores.append(learning.accuracy(plan.model, state.theta, images.x_test, images.y_test))
        run = Run(state, (), len(images.y), _lipschitz(images, job.p))
    while len(scores) <= epochs:
        target = int(learning.rounds_of(len(scores), job.clients, job.sampled))
        while state.rounds < target:
            state = learning.advance(plan, held, state)
            if time.perf_counter() > until:
                break
        if state.rounds < target:
            break
        scores.append(learning.accuracy(plan.model, state.theta, images.x_test, images.y_test))
        if time.perf_counter() > until:
            break
    return replace(run, state=state, accuracy=tuple(scores))


def train_piece(task: tuple[Job, Run, int, float]) -> Run:
    """Return `train` of its arguments in one."""
    return train(*task)
