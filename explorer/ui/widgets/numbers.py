"""Parsing of typed numbers. Imports no Qt."""

import html
import math
import re

_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?(e[+-]?\d+)?")
_POWER = re.compile(
    r"(?:(?P<mantissa>[+-]?\d*\.?\d+)\s*[x×·*]\s*)?(?P<sign>[+-]?)10\s*(?:\^|\*\*)\s*"
    r"(?P<exponent>[+-]?\d+(?:\.\d+)?)"
)


def parse_number(text: str) -> float:
    """Parse a number as written in papers, programs and letters.

    ``1e-8``, ``10^6``, ``2.5·10^-3``, ``10⁻⁸``, ``1_000_000``, ``1,000,000``, ``1 000 000`` and the
    decimal comma of ``0,5`` are understood. ``1,000`` is a thousand.

    Raises
    ------
    ValueError
        If it is not a finite number.
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
            number = (
                float(f"{mantissa!r}e{power['exponent']}")
                if _whole(power["exponent"])
                else (mantissa * 10 ** float(power["exponent"]))
            )
        else:
            number = float(cleaned)
    except (ValueError, OverflowError):
        raise ValueError(f"{text.strip()!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{text.strip()!r} is not a finite number")
    return number


def _whole(exponent: str) -> bool:
    return "." not in exponent


def rich(text: str) -> str:
    """Convert text to HTML, with subscripts after underscores: ``λ_max``."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", html.escape(text))
