"""Classifiers with gradients for every sample: softmax regression and a one-layer network.

The convolutional one is in `explorer.privacy.learning.convolution`.

The gradient of a dense layer's weights for one sample is the outer product of what enters the
layer and what comes back to it, so per-sample gradients are kept as these two factors: norms and
single entries need no (k, d) array.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

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
    """What is trained."""

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
        found = np.empty(index.size)
        start = 0
        for a, b in self.layers:
            size = a.shape[1] * b.shape[1]
            here = np.flatnonzero((index >= start) & (index < start + size))
            row, column = np.divmod(index[here] - start, b.shape[1])
            found[here] = a[here, row] * b[here, column]
            start += size
        return found

    def clipped(self, rows: slice | IntArray, p: float, clip: float) -> FloatArray:
        """Return some samples' gradients, shortened to ‖g‖_p ≤ clip, shape (rows, d)."""
        some = Gradients(tuple((a[rows], b[rows]) for a, b in self.layers))
        return some.dense(slice(None)) * _kept(some.norms(p), clip)[:, None]

    def clipped_entries(self, index: IntArray, clip: float) -> FloatArray:
        """Return entry index[i] of sample i's gradient, shortened to ‖g‖_∞ ≤ clip."""
        return self.entries(index) * _kept(self.norms(np.inf), clip)

    def clipped_total(self, p: float, clip: float) -> FloatArray:
        """Return the sum of the samples' clipped gradients, shape (d,)."""
        return self.total(_kept(self.norms(p), clip))

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
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    found[np.arange(len(found)), y] -= 1.0
    return np.asarray(found)


def with_one(x: FloatArray) -> FloatArray:
    """Return rows with a 1 at their end."""
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def _kept(norms: FloatArray, clip: float) -> FloatArray:
    """Return 1/max(1, ‖g‖/C): what is left of each gradient after clipping."""
    return np.asarray(1.0 / np.maximum(1.0, norms / clip))
