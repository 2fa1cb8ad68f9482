"""Numbers as people type and read them. No Qt in here."""

from __future__ import annotations

import html
import math
import re

SUPERSCRIPT = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?(e[+-]?\d+)?")
_POWER = re.compile(
    r"(?:(?P<mantissa>[+-]?\d*\.?\d+)\s*[x×·*]\s*)?(?P<sign>[+-]?)10\s*(?:\^|\*\*)\s*"
    r"(?P<exponent>[+-]?\d+(?:\.\d+)?)"
)


def parse_number(text: str) -> float:
    """Read a number the way it is written in papers, programs and letters.

    ``1e-8``, ``10^6``, ``2.5·10^-3``, ``10⁻⁸``, ``1_000_000``, ``1,000,000``, ``1 000 000`` and the
    decimal comma of ``0,5`` are understood. ``1,000`` is a thousand.

    Raises
    ------
    ValueError
        If it is none of these, or not finite.
    """
    if not text.strip():
        raise ValueError("nothing is typed here; give a number")
    cleaned = re.sub(r"(?<=[\d^*])([⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"^\1", text.strip().lower())
    cleaned = cleaned.translate(_PLAIN).replace("^^", "^")
    cleaned = re.sub(r"(?<=\d)[_ \u00a0\u202f'](?=\d{3})", "", cleaned)
    if _GROUPED.fullmatch(cleaned):
        cleaned = cleaned.replace(",", "")
    elif cleaned.count(",") == 1 and "." not in cleaned:
        cleaned = cleaned.replace(",", ".")
    power = _POWER.fullmatch(cleaned)
    try:
        if power:
            mantissa = float(power["mantissa"] or 1) * (-1 if power["sign"] == "-" else 1)
            number = float(f"{mantissa!r}e{power['exponent']}") if _whole(power["exponent"]) else (
                mantissa * 10 ** float(power["exponent"])
            )  # fmt: skip
        else:
            number = float(cleaned)
    except (ValueError, OverflowError):
        raise ValueError(f"{text.strip()!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{text.strip()!r} is not a finite number")
    return number


def _whole(exponent: str) -> bool:
    return "." not in exponent


def format_number(number: float, digits: int = 6) -> str:
    """Write a number so that `parse_number` reads it back, to so many significant digits."""
    if isinstance(number, int):
        short = abs(number) >= 10**7 and float(f"{number:.3g}") == number
        if not short and abs(number) < 10**13:
            return f"{number:,}"
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return "∞" if number > 0 else ("−∞" if number < 0 else "–")
    size = abs(number)
    if 1e-3 <= size < 1e6 - 0.5:
        whole = size >= 10**digits - 0.5  # where "g" would turn to an exponent
        return f"{number:,.0f}" if whole else f"{number:.{digits}g}"
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def rich(text: str) -> str:
    """Return text as HTML with what follows an underscore as a subscript: ``λ_max``."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", html.escape(text))


def pretty_number(number: float | None, digits: int = 4) -> str:
    """Write a number for reading: ``1.0402``, ``2.5×10⁻⁶``, ``10⁸``; a dash for none."""
    if number is None or math.isnan(number):
        return "–"
    text = format_number(number, digits)
    if "e" not in text:
        return text.replace("-", "−")
    mantissa, exponent = text.split("e")
    power = "10" + exponent.translate(SUPERSCRIPT)
    if mantissa in ("1", "-1"):
        return ("−" if mantissa == "-1" else "") + power
    return f"{mantissa}×{power}".replace("-", "−")
