"""Exact JSON and fractions for ledgers, certificates and plans: no floats, canonical bytes."""

from __future__ import annotations

import hashlib
import json
import re
from fractions import Fraction
from typing import Any

from explorer.privacy.releases.means import DECIMAL_PLACES, read_decimal
from explorer.release.errors import ReleaseError

MAX_CHARACTERS = 400
"""Maximum length of a fraction."""
MAX_BYTES = 1 << 30
MAX_DEPTH = 50

_FRACTION = re.compile(r"(0|[1-9][0-9]*)/([1-9][0-9]*)", re.ASCII)
_RATIO = re.compile(r"([0-9]+)\s*/\s*(0*[1-9][0-9]*)", re.ASCII)


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a value: sorted keys, no spaces, ASCII. Hashes are of it.

    Raises
    ------
    ReleaseError
        If it contains a float or a value that JSON cannot express.
    """
    check_exact(value)
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ReleaseError(f"it cannot be written as JSON ({error})") from error
    return text.encode("ascii")


def check_exact(value: Any) -> None:
    """Raise ReleaseError if there is a float, a lone surrogate, or too deep a nesting.

    The message begins with the path of the value.
    """
    try:
        _check_exact(value, 0)
    except _InexactError as error:
        path = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in reversed(error.steps)
        )
        raise ReleaseError(f"{path.lstrip('.')}: {error}" if path else str(error)) from None


class _InexactError(ReleaseError):
    """A value that is not exact; `steps` is the path to it, innermost first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.steps: list[str | int] = []


def _check_exact(value: Any, depth: int) -> None:
    if isinstance(value, float):
        raise _InexactError(
            f"{value!r} is a decimal number; write a whole number, or a text such as '1/2'"
        )
    if depth > MAX_DEPTH:
        raise _InexactError(f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _check_encodable(value)
    if not isinstance(value, dict | list | tuple):
        return
    step: str | int = 0
    try:
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict):
                if not isinstance(step, str):
                    raise _InexactError("has a name that is not a text")
                _check_encodable(step)
            _check_exact(item, depth + 1)
    except _InexactError as error:
        error.steps.append(short_repr(step).strip("'") if isinstance(step, str) else step)
        raise


def _check_encodable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _InexactError("has characters that can't be written; leave them out") from None


def sha256(data: bytes) -> str:
    """Return SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def read_json(data: bytes, name: str) -> Any:
    """Parse strict JSON: no floats, no duplicate names, limited nesting.

    Parameters
    ----------
    data : bytes
        UTF-8.
    name : str
        Of the file, for error messages.

    Raises
    ------
    ReleaseError
        One sentence that begins with the name.
    """

    def no_float(text: str) -> Any:
        raise ReleaseError(f"{name}: {short_repr(text)} is a decimal number; write it as a text")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise ReleaseError(f"{name}: {short_repr(twice)} is given twice; leave one out")
        return content

    if len(data) > MAX_BYTES:
        raise ReleaseError(f"{name}: it is larger than 1 GB")
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text, parse_float=no_float, parse_constant=no_float, object_pairs_hook=unique
        )
    except UnicodeDecodeError:
        raise ReleaseError(f"{name}: it is not UTF-8 text; save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise ReleaseError(
            f"{name}: it is not valid JSON; correct line {error.lineno}, column {error.colno} "
            f"({error.msg})"
        ) from None
    except RecursionError:
        raise ReleaseError(f"{name}: it is nested too deeply") from None
    except ReleaseError:
        raise
    except ValueError:
        raise ReleaseError(f"{name}: it holds a number of too many digits") from None
    try:
        check_exact(value)
        canonical(value)
    except ReleaseError as error:
        raise ReleaseError(f"{name}: {error}") from None
    return value


def read_fraction(text: object, name: str) -> Fraction:
    """Parse a reduced fraction ``p/q`` ≥ 0.

    Raises
    ------
    ReleaseError
        If the text is not one; the message begins with the name.
    """
    match = _FRACTION.fullmatch(text) if isinstance(text, str) else None
    if match is None or len(str(text)) > MAX_CHARACTERS:
        raise ReleaseError(
            f"{name}: {short_repr(text)} is not a fraction p/q of whole numbers, such as 1/2; give "
            f"one of at least 0 and at most {MAX_CHARACTERS} characters"
        )
    value = Fraction(int(match[1]), int(match[2]))
    if write_fraction(value) != text:
        raise ReleaseError(
            f"{name}: {short_repr(text)} is not reduced; write {write_fraction(value)}"
        )
    return value


def read_amount(text: object, name: str) -> Fraction:
    """Parse a number ≥ 0 in any exact notation: ``1/10``, ``2/20``, ``0.1``, ``8``.

    Raises
    ------
    ReleaseError
        If the text is not one, or has too many digits; the message begins with the name.
    """
    value = None
    if isinstance(text, str) and len(text) <= MAX_CHARACTERS:
        ratio = _RATIO.fullmatch(text.strip())
        if ratio is not None:
            value = Fraction(int(ratio[1]), int(ratio[2]))
        elif (whole := read_decimal(text)) is not None:
            value = Fraction(whole, 10**DECIMAL_PLACES)
    if value is None or value < 0:
        raise ReleaseError(
            f"{name}: {short_repr(text)} is not a fraction p/q or decimal, such as 0.5; give "
            f"one of at least 0 and at most {MAX_CHARACTERS} characters"
        )
    return value


def write_fraction(value: Fraction) -> str:
    """Return a fraction as reduced ``p/q``."""
    return f"{value.numerator}/{value.denominator}"


def short_repr(value: object) -> str:
    """Return a value's repr, truncated for an error message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
