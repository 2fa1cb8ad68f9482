"""Classifiers with per-sample gradients: softmax regression, one-layer and convolutional networks.

**Dense models.** The convolutional one is in `explorer.privacy.learning.models`.

The gradient of a dense layer's weights for one sample is the outer product of what enters the
layer and what comes back to it, so per-sample gradients are kept as these two factors: norms and
single entries need no (k, d) array.

**The convolutional network of Girgis, Data & Diggavi's Table 1.** Sixteen 8 × 8 filters with stride
2 on a picture with a border of 3, the largest of each 2 × 2 neighbours, sixteen 4 × 4 filters with
stride 2, again the largest of 2 × 2, 32 units, 10 classes; tanh throughout, as in Papernot et al.
2020. Of 28 × 28 pixels these are 13,706 parameters.

A filter's gradient for one sample is a sum over the places where it is applied, so that it is no
outer product: gradients are computed a block of samples at a time, and only on use.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from explorer.privacy.core.bound import FloatArray

IntArray = np.ndarray[Any, np.dtype[np.intp]]


class Clippable(Protocol):
    """Gradients of k samples, as clients report them."""

    @property
    def count(self) -> int:
        """Number of samples k."""
        ...

    def clipped(self, rows: slice | IntArray, p: float, clip: float) -> FloatArray:
        """Return some samples' gradients, shortened to ‖g‖_p ≤ clip, shape (rows, d)."""
        ...

    def clipped_entries(self, index: IntArray, clip: float) -> FloatArray:
        """Return entry index[i] of sample i's gradient, shortened to ‖g‖_∞ ≤ clip."""
        ...

    def clipped_total(self, p: float, clip: float) -> FloatArray:
        """Return the sum of the samples' clipped gradients, shape (d,)."""
        ...


class Model(Protocol):
    """Interface of a trainable model."""

    @property
    def size(self) -> int:
        """Number of parameters d."""
        ...

    def initial(self, rng: np.random.Generator) -> FloatArray:
        """Return θ₀, shape (d,)."""
        ...

    def scores(self, theta: FloatArray, x: FloatArray) -> FloatArray:
        """Return the classes' logits, shape (k, classes), for features of shape (k, features)."""
        ...

    def gradients(self, theta: FloatArray, x: FloatArray, y: IntArray) -> Clippable:
        """Return the gradients of −ln Pr[y] for each sample."""
        ...


@dataclass(frozen=True)
class Gradients(Clippable):
    """Gradients of k samples, one pair of factors a layer.

    Attributes
    ----------
    layers : tuple of (inputs, signals)
        Arrays (k, a) and (k, b); the layer's gradient for sample i is inputs[i] ⊗ signals[i],
        flattened row by row, layer after layer.
    """

    layers: tuple[tuple[FloatArray, FloatArray], ...]

    @property
    def count(self) -> int:
        """Number of samples k."""
        return len(self.layers[0][0])

    def norms(self, p: float) -> FloatArray:
        """Return the ℓp norm of each sample's gradient, shape (k,)."""
        if p != 2:
            # That of an outer product is the product of the norms.
            each = np.stack([norms_of(a, p) * norms_of(b, p) for a, b in self.layers], axis=1)
            return norms_of(each, p)
        squares = sum(
            np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b) for a, b in self.layers
        )
        return np.asarray(np.sqrt(squares))

    def entries(self, index: IntArray) -> FloatArray:
        """Return entry index[i] of sample i's gradient, shape (k,)."""
        values = np.empty(index.size)
        start = 0
        for a, b in self.layers:
            size = a.shape[1] * b.shape[1]
            here = np.flatnonzero((index >= start) & (index < start + size))
            row, column = np.divmod(index[here] - start, b.shape[1])
            values[here] = a[here, row] * b[here, column]
            start += size
        return values

    def clipped(self, rows: slice | IntArray, p: float, clip: float) -> FloatArray:
        """Return some samples' gradients, shortened to ‖g‖_p ≤ clip, shape (rows, d)."""
        selected = Gradients(tuple((a[rows], b[rows]) for a, b in self.layers))
        return selected.dense(slice(None)) * _clip_factors(selected.norms(p), clip)[:, None]

    def clipped_entries(self, index: IntArray, clip: float) -> FloatArray:
        """Return entry index[i] of sample i's gradient, shortened to ‖g‖_∞ ≤ clip."""
        return self.entries(index) * _clip_factors(self.norms(np.inf), clip)

    def clipped_total(self, p: float, clip: float) -> FloatArray:
        """Return the sum of the samples' clipped gradients, shape (d,)."""
        return self.total(_clip_factors(self.norms(p), clip))

    def dense(self, rows: slice | IntArray) -> FloatArray:
        """Return some samples' gradients in full, shape (rows, d)."""
        parts = [(a[rows, :, None] * b[rows, None, :]) for a, b in self.layers]
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)

    def total(self, weights: FloatArray) -> FloatArray:
        """Return the weighted sum of the samples' gradients, shape (d,)."""
        return np.concatenate([(a.T @ (weights[:, None] * b)).ravel() for a, b in self.layers])


@dataclass(frozen=True)
class Softmax:
    """Multinomial logistic regression: a convex loss in θ.

    Attributes
    ----------
    features, classes : int
        A constant 1 is appended to the features, so d = (features + 1)·classes.
    """

    features: int
    classes: int

    @property
    def size(self) -> int:
        """Number of parameters d."""
        return (self.features + 1) * self.classes

    def initial(self, rng: np.random.Generator) -> FloatArray:
        """Return θ₀ = 0."""
        return np.zeros(self.size)

    def scores(self, theta: FloatArray, x: FloatArray) -> FloatArray:
        """Return the classes' logits, shape (k, classes), for features of shape (k, features)."""
        weights = theta.reshape(self.features + 1, self.classes)
        return np.asarray(x @ weights[:-1] + weights[-1])

    def gradients(self, theta: FloatArray, x: FloatArray, y: IntArray) -> Gradients:
        """Return the gradients of −ln Pr[y] for each sample."""
        return Gradients(((with_one(x), residuals(self.scores(theta, x), y)),))


@dataclass(frozen=True)
class Perceptron:
    """A network with one hidden layer of tanh units; its loss is not convex in θ.

    Attributes
    ----------
    features, hidden, classes : int
        d = (features + 1)·hidden + (hidden + 1)·classes.
    """

    features: int
    hidden: int
    classes: int

    @property
    def size(self) -> int:
        """Number of parameters d."""
        return (self.features + 1) * self.hidden + (self.hidden + 1) * self.classes

    def initial(self, rng: np.random.Generator) -> FloatArray:
        """Return θ₀: uniform weights that keep variances (Glorot & Bengio 2010), biases 0."""
        parts = []
        for a, b in ((self.features, self.hidden), (self.hidden, self.classes)):
            width = math.sqrt(6.0 / (a + b))
            parts += [rng.uniform(-width, width, a * b), np.zeros(b)]
        return np.concatenate(parts)

    def scores(self, theta: FloatArray, x: FloatArray) -> FloatArray:
        """Return the classes' logits, shape (k, classes), for features of shape (k, features)."""
        return self._forward(theta, x)[1]

    def gradients(self, theta: FloatArray, x: FloatArray, y: IntArray) -> Gradients:
        """Return the gradients of −ln Pr[y] for each sample."""
        hidden, scores, second = self._forward(theta, x)
        back = residuals(scores, y)
        signal = (back @ second[:-1].T) * (1.0 - hidden**2)
        return Gradients(((with_one(x), signal), (with_one(hidden), back)))

    def _forward(
        self, theta: FloatArray, x: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        cut = (self.features + 1) * self.hidden
        first = theta[:cut].reshape(self.features + 1, self.hidden)
        second = theta[cut:].reshape(self.hidden + 1, self.classes)
        hidden = np.tanh(x @ first[:-1] + first[-1])
        return hidden, hidden @ second[:-1] + second[-1], second


def losses(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return −ln Pr[y] of each sample, from the logits."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(shifted)), y])


def accuracy(model: Model, theta: FloatArray, x: FloatArray, y: IntArray) -> float:
    """Return the share of samples whose class has the largest logit."""
    return float(np.mean(model.scores(theta, x).argmax(axis=1) == y))


def lipschitz(x: FloatArray, p: float) -> float:
    """Return the largest ‖∇f‖_p that softmax regression can have on these features.

    The residual (class probabilities minus the label) has entries in [−1, 1] and ℓ2 norm at most
    √2, whatever θ.

    Parameters
    ----------
    x : ndarray, shape (n, features)
    p : float
        In [1, ∞].
    """
    if p == np.inf:
        return max(1.0, float(np.abs(x).max()))
    if p == 2:
        return math.sqrt(2.0 * (1.0 + float(np.einsum("ij,ij->i", x, x).max())))
    # The residual's entries are −s and others that sum to s ≤ 1.
    return float((2.0 * (1.0 + (np.abs(x) ** p).sum(axis=1).max())) ** (1 / p))


def norms_of(rows: FloatArray, p: float) -> FloatArray:
    """Return the ℓp norm of each row, p in [1, ∞]."""
    return np.asarray(np.linalg.norm(rows, p, axis=1))


def residuals(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return class probabilities minus the label, shape (k, classes)."""
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    probabilities[np.arange(len(probabilities)), y] -= 1.0
    return np.asarray(probabilities)


def with_one(x: FloatArray) -> FloatArray:
    """Return rows with a 1 at their end."""
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def _clip_factors(norms: FloatArray, clip: float) -> FloatArray:
    """Return 1/max(1, ‖g‖/C): the factor of each gradient by clipping."""
    return np.asarray(1.0 / np.maximum(1.0, norms / clip))


SIDE = 28
"""Pixels on a side of the pictures."""
_BORDER, _FIRST, _SECOND, _FILTERS, _STRIDE = 3, 8, 4, 16, 2
_HIDDEN = 32
_BLOCK = 128
"""Samples at once: their windows and gradients are then 30 MB."""


@dataclass(frozen=True)
class Convolutional:
    """The network of Table 1; its loss is not convex in θ.

    Attributes
    ----------
    classes : int
        d = 13,376 + 33·classes: 13,706 for ten.
    """

    classes: int

    @property
    def size(self) -> int:
        """Number of parameters d."""
        return sum(a * b for a, b in self._shapes)

    @property
    def _shapes(self) -> tuple[tuple[int, int], ...]:
        """Input and output sizes of each layer's weights, including the constant 1 for biases."""
        side = _places(_places(SIDE + 2 * _BORDER, _FIRST) - 1, _SECOND) - 1
        return (
            (_FIRST**2 + 1, _FILTERS),
            (_SECOND**2 * _FILTERS + 1, _FILTERS),
            (side**2 * _FILTERS + 1, _HIDDEN),
            (_HIDDEN + 1, self.classes),
        )

    def initial(self, rng: np.random.Generator) -> FloatArray:
        """Return θ₀: uniform weights that keep variances (Glorot & Bengio 2010), biases 0."""
        parts = []
        for i, (a, b) in enumerate(self._shapes):
            fan_out = b * (_FIRST, _SECOND, 1, 1)[i] ** 2
            width = math.sqrt(6.0 / (a - 1 + fan_out))
            parts += [rng.uniform(-width, width, (a - 1) * b), np.zeros(b)]
        return np.concatenate(parts)

    def scores(self, theta: FloatArray, x: FloatArray) -> FloatArray:
        """Return the classes' logits, shape (k, classes), for pictures of shape (k ≥ 1, 784)."""
        weights = self._weights(theta)
        blocks = range(0, len(x), _BLOCK)
        return np.concatenate([self._forward(weights, x[i : i + _BLOCK]).scores for i in blocks])

    def gradients(self, theta: FloatArray, x: FloatArray, y: IntArray) -> "ConvolutionalGradients":
        """Return the gradients of −ln Pr[y] for each sample."""
        return ConvolutionalGradients(self, theta, x, y)

    def _weights(self, theta: FloatArray) -> list[FloatArray]:
        cuts = np.cumsum([a * b for a, b in self._shapes])[:-1]
        parts = np.split(theta, cuts)
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def _forward(self, weights: list[FloatArray], x: FloatArray) -> "_Pass":
        first, second, third, fourth = weights
        pictures = np.pad(
            x.reshape(-1, SIDE, SIDE, 1), ((0, 0), (_BORDER, _BORDER), (_BORDER, _BORDER), (0, 0))
        )
        windows1, side1 = _windows(pictures, _FIRST)
        top1, which1 = _largest(_apply_filter(windows1, first, side1))
        hidden1 = np.tanh(top1)
        windows2, side2 = _windows(hidden1, _SECOND)
        top2, which2 = _largest(_apply_filter(windows2, second, side2))
        hidden2 = np.tanh(top2)
        flat = hidden2.reshape(len(x), -1)
        hidden3 = np.tanh(flat @ third[:-1] + third[-1])
        scores = hidden3 @ fourth[:-1] + fourth[-1]
        return _Pass(windows1, which1, hidden1, windows2, which2, hidden2, hidden3, scores)

    def factors(
        self, theta: FloatArray, x: FloatArray, y: IntArray
    ) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Return each layer's inputs, (k, places, a), and backward signals, (k, places, b).

        The layer's gradient for sample i is Σ_m entering[i, m] ⊗ back[i, m].
        """
        weights = self._weights(theta)
        run = self._forward(weights, x)
        _, second, third, fourth = weights
        back4 = residuals(run.scores, y)
        back3 = (back4 @ fourth[:-1].T) * (1.0 - run.hidden3**2)
        onto2 = (back3 @ third[:-1].T).reshape(run.hidden2.shape) * (1.0 - run.hidden2**2)
        back2 = _back_to_all(onto2, run.which2)
        onto1 = _overlap(back2, second[:-1], run.hidden1.shape) * (1.0 - run.hidden1**2)
        back1 = _back_to_all(onto1, run.which1)
        flat = run.hidden2.reshape(len(x), -1)
        return (
            (_ones_beside(run.windows1), back1.reshape(len(x), -1, _FILTERS)),
            (_ones_beside(run.windows2), back2.reshape(len(x), -1, _FILTERS)),
            (with_one(flat)[:, None, :], back3[:, None, :]),
            (with_one(run.hidden3)[:, None, :], back4[:, None, :]),
        )


@dataclass(frozen=True)
class _Pass:
    windows1: FloatArray
    which1: IntArray
    hidden1: FloatArray
    windows2: FloatArray
    which2: IntArray
    hidden2: FloatArray
    hidden3: FloatArray
    scores: FloatArray


class ConvolutionalGradients(Clippable):
    """Gradients of k samples, computed lazily.

    Parameters
    ----------
    model, theta, x, y
        As in `Convolutional.gradients`.
    """

    def __init__(self, model: Convolutional, theta: FloatArray, x: FloatArray, y: IntArray) -> None:
        self._model, self._theta, self._x, self._y = model, theta, x, y

    @property
    def count(self) -> int:
        """Number of samples k."""
        return len(self._x)

    def clipped(self, rows: slice | IntArray, p: float, clip: float) -> FloatArray:
        """Return some samples' gradients, shortened to ‖g‖_p ≤ clip, shape (rows, d)."""
        dense = self.dense(rows)
        return dense / np.maximum(1.0, norms_of(dense, p) / clip)[:, None]

    def clipped_entries(self, index: IntArray, clip: float) -> FloatArray:
        """Return entry index[i] of sample i's gradient, shortened to ‖g‖_∞ ≤ clip."""
        values = np.empty(index.size)
        for rows in self._blocks():
            dense = self.clipped(rows, np.inf, clip)
            values[rows] = dense[np.arange(len(dense)), index[rows]]
        return values

    def dense(self, rows: slice | IntArray) -> FloatArray:
        """Return some samples' gradients in full, shape (rows, d)."""
        factors = self._model.factors(self._theta, self._x[rows], self._y[rows])
        parts = [np.matmul(a.transpose(0, 2, 1), b) for a, b in factors]
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)

    def clipped_total(self, p: float, clip: float) -> FloatArray:
        """Return the sum of the samples' clipped gradients, shape (d,)."""
        total = np.zeros(self._model.size)
        for rows in self._blocks():
            if clip < np.inf:
                total += self.clipped(rows, p, clip).sum(axis=0)
                continue
            factors = self._model.factors(self._theta, self._x[rows], self._y[rows])
            flat = ((a.reshape(-1, a.shape[2]), b.reshape(-1, b.shape[2])) for a, b in factors)
            total += np.concatenate([(a.T @ b).ravel() for a, b in flat])
        return total

    def _blocks(self) -> Iterator[slice]:
        return (slice(i, i + _BLOCK) for i in range(0, self.count, _BLOCK))


def _places(side: int, width: int) -> int:
    """Return the number of positions of a filter along one side."""
    return (side - width) // _STRIDE + 1


def _windows(pictures: FloatArray, width: int) -> tuple[FloatArray, int]:
    """Return each filter place's input, (k, places, width²·channels), and places a side."""
    windows = sliding_window_view(pictures, (width, width), axis=(1, 2))[:, ::_STRIDE, ::_STRIDE]
    k, side = windows.shape[:2]
    return np.ascontiguousarray(windows.transpose(0, 1, 2, 4, 5, 3)).reshape(
        k, side * side, -1
    ), side


def _apply_filter(windows: FloatArray, weights: FloatArray, side: int) -> FloatArray:
    outputs = windows.reshape(-1, windows.shape[2]) @ weights[:-1] + weights[-1]
    return np.asarray(outputs.reshape(len(windows), side, side, -1))


_NEIGHBOURS = ((0, 0), (0, 1), (1, 0), (1, 1))


def _largest(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the largest of each 2 × 2 neighbours, and which of the four it is."""
    high, wide = values.shape[1] - 1, values.shape[2] - 1
    four = np.stack([values[:, i : i + high, j : j + wide] for i, j in _NEIGHBOURS])
    which = four.argmax(axis=0)
    return np.take_along_axis(four, which[None], axis=0)[0], which


def _back_to_all(signal: FloatArray, which: IntArray) -> FloatArray:
    """Return the backward signal of all values before pooling by largest."""
    k, high, wide, channels = signal.shape
    gradient = np.zeros((k, high + 1, wide + 1, channels))
    for place, (i, j) in enumerate(_NEIGHBOURS):
        gradient[:, i : i + high, j : j + wide] += signal * (which == place)
    return gradient


def _overlap(back: FloatArray, weights: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return the backward signal of the pictures that filters were applied to."""
    k, side = back.shape[:2]
    onto = (back.reshape(-1, back.shape[3]) @ weights.T).reshape(
        k, side, side, _SECOND, _SECOND, shape[3]
    )
    gradient = np.zeros(shape)
    end = _STRIDE * side
    for i in range(_SECOND):
        for j in range(_SECOND):
            gradient[:, i : i + end : _STRIDE, j : j + end : _STRIDE] += onto[:, :, :, i, j]
    return gradient


def _ones_beside(windows: FloatArray) -> FloatArray:
    return np.concatenate([windows, np.ones((*windows.shape[:2], 1))], axis=2)
