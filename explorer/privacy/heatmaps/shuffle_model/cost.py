"""What the shuffle-model protocol of the paper's Appendix F costs in communication."""

import math
from dataclasses import dataclass

from explorer.privacy.core import checks


@dataclass(frozen=True, slots=True)
class Communication:
    """What every user sends.

    Attributes
    ----------
    shares : int
        r, shares of every cell.
    messages : int
        r·m.
    message_bits : int
        ⌈log₂(m·q)⌉.
    """

    shares: int
    messages: int
    message_bits: int

    @property
    def bits(self) -> int:
        """Bits a user sends."""
        return self.messages * self.message_bits


def modulus_at_least(users: int, resolution: int, tail: int) -> int:
    """Return Bn + 2τ + 1, the least q with room for the true counts and noise up to ±τ.

    The printed q = Bn wraps every negative count and the full root (errata heat-3). τ concerns
    accuracy alone, not privacy.

    Parameters
    ----------
    users, resolution, tail : int
        n, B and τ.
    """
    return resolution * users + 2 * tail + 1


def communication(
    users: int, cells: int, modulus: int, epsilon: float, delta: float, printed: bool = False
) -> Communication:
    """Return the number and size of messages of the protocol.

    r = ⌈(2 ln(e^ε + 1) + 2 ln(m/δ) + ln q)/(ln n − 1) + 2⌉ shares hide each user's cells for the
    worst case; the paper prints "/ ln n + 1", an average-case count that exact enumeration exceeds
    ninefold.

    Parameters
    ----------
    users : int
        n, those guaranteed to take part: ≥ 19, or ≥ 2 with the printed count.
    cells : int
        m ≥ 1, cells of all levels.
    modulus : int
        q ≥ 2, see `modulus_at_least`.
    epsilon : float
        The level claimed, finite and > 0.
    delta : float
        In (0, 1).
    printed : bool
        Use the paper's own count, to compare with its figures.

    Raises
    ------
    ValueError
        Naming the parameter, its value and the domain.
    """
    fewest = 2 if printed else 19
    checks.reals("users", users, fewest)
    checks.reals("cells", cells, 1)
    checks.reals("modulus", modulus, 2)
    checks.positive("epsilon", epsilon)
    checks.open_unit("delta", delta)
    # ln(e^ε + 1) without overflow.
    needed = 2 * (epsilon + math.log1p(math.exp(-epsilon)))
    needed += 2 * (math.log(cells) - math.log(delta)) + math.log(modulus)
    if printed:
        shares = math.ceil(needed / math.log(users) + 1)
    else:
        shares = math.ceil(needed / (math.log(users) - 1) + 2)
    return Communication(shares, shares * cells, (cells * modulus - 1).bit_length())
