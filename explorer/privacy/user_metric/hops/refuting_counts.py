"""The law of plus less minus answers of the pair that refutes a promise: see `refuting`."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray

_ROUNDING = 1e-15


@dataclass(frozen=True)
class Counts:
    """The law of T: j answers for x and `others` for z."""

    moved: float
    others: float
    p: float
    eta: float
    lean: float
    """2s − 1 = tanh(α₀d/2)."""

    @classmethod
    def of(cls, alpha0: float, d: float, moved: float, others: float) -> "Counts":
        """Return the law at α₀ and a distance d of x and y."""
        a = alpha0 * d
        lean = math.tanh(a / 2)
        if others == 0:
            return cls(moved, 0.0, 0.0, 0.0, lean)
        near = math.exp(-alpha0)
        # 2s = 1 + tanh(a/2).
        p = (1 + lean) * near * -math.expm1(-alpha0) / (1 - (1 + lean) * near * near)
        p = min(p, 1.0)
        return cls(moved, others, p, (1 - p) * near, lean)

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """Return K, K′ and K″ of T at a tilt."""
        ch, sh = math.cosh(tilt), math.sinh(tilt)
        rise = 2 * math.sinh(tilt / 2) ** 2
        f = (1 - self.eta) * (rise + self.lean * sh)
        g = self.p * rise
        f1, g1 = (1 - self.eta) * (sh + self.lean * ch), self.p * sh
        f2, g2 = (1 - self.eta) * (ch + self.lean * sh), self.p * ch
        # Far out 1 + f itself would cancel.
        share = (1 + self.lean) / 2
        whole = self.eta + (1 - self.eta) * (
            share * math.exp(tilt) + (1 - share) * math.exp(-tilt) + 1e-300
        )
        first = self.moved * f1 / whole + self.others * g1 / (1 + g)
        second = self.moved * (f2 / whole - (f1 / whole) ** 2)
        second += self.others * (g2 / (1 + g) - (g1 / (1 + g)) ** 2)
        value = self.moved * (
            math.log1p(f) if f > -0.5 else math.log(whole)
        ) + self.others * math.log1p(g)
        return value, first, max(second, 0.0)

    def tilted(
        self, tilt: float, start: int, size: int, mirrored: bool
    ) -> tuple[FloatArray, float]:
        """Return the tilted probabilities of T from `start` on, or of −T, and by how much they err.

        Probabilities outside the window come back into it.
        """
        lean = -self.lean if mirrored else self.lean
        ch, sh = math.cosh(tilt), math.sinh(tilt)
        omega = 2 * np.pi * np.arange(self._frequencies(tilt, size)) / size
        real, imag = -2 * np.sin(omega / 2) ** 2, np.sin(omega)
        rise = 2 * math.sinh(tilt / 2) ** 2
        f = 1 + (1 - self.eta) * (rise + lean * sh)
        up, down = (1 + lean) / 2 * math.exp(tilt), (1 - lean) / 2 * math.exp(-tilt)
        if f < 0.5:
            # Far out the sum itself would cancel.
            f = self.eta + (1 - self.eta) * (up + down) + 1e-300
        g = 1 + self.p * rise
        moved = (1 - self.eta) * ((up + down) * real + 1j * (up - down) * imag) / f
        others = self.p * (ch * real + 1j * sh * imag) / g
        log_phi = self.moved * _log1p(moved) + self.others * _log1p(others)
        turned = np.exp(np.conj(log_phi) + 1j * np.mod(omega * start, 2 * np.pi))
        law: FloatArray = np.fft.irfft(turned, size)
        # Angles reach π times these and have as many digits; the transform loses fewer.
        error = _ROUNDING * (100 + self.moved + abs(start) + size)
        return law, error * 2 * float(np.abs(turned).mean()) * turned.size / size + 1e-30

    def _frequencies(self, tilt: float, size: int) -> int:
        """Return how many of the transform's frequencies there are before it is below e^−45."""
        omega = 2 * np.pi * np.arange(0, size // 2 + 1, max(size // 2048, 1)) / size
        g = 1 + 2 * self.p * math.sinh(tilt / 2) ** 2
        step = -2 * np.sin(omega / 2) ** 2 * math.cosh(tilt) + 1j * math.sinh(tilt) * np.sin(omega)
        gone = np.flatnonzero(self.others * _log1p(self.p * step / g).real < -45)
        whole = size // 2 + 1
        return min(int(gone[0]) * max(size // 2048, 1) + 1, whole) if gone.size else whole


def _log1p(u: Any) -> Any:
    """ln(1+u) of complex u; numpy's loses the digits of a small one."""
    a, b = u.real, u.imag
    with np.errstate(divide="ignore"):
        return 0.5 * np.log1p(2 * a + a * a + b * b) + 1j * np.arctan2(b, 1 + a)
