"""Validates JSON values from files against the structs of `explorer.engine.session.schema`."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct


class SchemaError(ValueError):
    """Invalid value in a file; the message is ``path of the field: what is wrong``."""


T = TypeVar("T")
S = TypeVar("S", bound=Struct)
LONGEST_SHOWN = 40
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
_PATTERN = "expected a text without strange characters"
_RULES = (
    (r"Object missing required field `(.+)`", r"lacks the field '\1'"),
    (r"Object contains unknown field `(.{,40}).*`", r"has a field '\1', which there is not"),
    (r"Invalid enum value", "expected one of the words that are known here"),
    (r"Expected `float` [<>]=|Number out of range", "expected a finite number"),
    (r"Expected `str` matching regex", _PATTERN),
    (r"Expected `(\w+)` of length ([<>=]* ?\d+)", r"expected `\1` of length \2"),
    (r"Expected `(.+?)` ([<>]=? \d+)", r"expected `\1` \2"),
    (r"Expected `(.+?)`", r"expected `\1`"),
)
_INSTANT = "expected an instant such as 2010-01-31T12:00:00Z"
_REMEDIES = {
    "start": _INSTANT,
    "end": _INSTANT,
    "time_format": (
        "expected iso, epoch_s, epoch_ms, epoch_us, excel_1900, excel_1904 or a strptime pattern "
        "such as %Y-%m-%d %H:%M"
    ),
    "sha256": "expected a sha256 of 64 hexadecimal digits",
    "geometry": "expected base64",
    "layout": "expected base64",
}
"""What to say of a text that does not match its pattern, by the name of the field."""


def decode(data: bytes) -> Any:
    """Parse JSON; Infinity and NaN are left to the fields' checks.

    Raises
    ------
    SchemaError
        If it is no JSON, or nested too deeply to be anything of ours.
    """
    try:
        return json.loads(data, parse_int=_integer)
    except RecursionError:
        raise SchemaError("it is nested too deeply") from None
    except ValueError as error:
        raise SchemaError(f"it is not JSON ({str(error)[:200]})") from None


def _integer(digits: str) -> int | float:
    """Parse a whole number; infinity if it has too many digits."""
    return int(digits) if len(digits) < 400 else math.inf


def read(raw: object, kind: type[T], where: str = "") -> T:
    """Return JSON values as one of the structs above (or another type that msgspec knows).

    Parameters
    ----------
    raw : JSON values
    kind : type
    where : str
        Path of what is read, for messages: ``requests[3]``.

    Raises
    ------
    SchemaError
        Naming the field by its path, what was expected and what was found.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise SchemaError(_sentence(str(error), raw, where)) from None
    except (ValueError, RecursionError, OverflowError):  # letters that are none, endless nesting
        raise SchemaError(f"{where or 'it'}: holds what can't be read") from None


def read_list(
    raw: Sequence[object],
    take: Callable[[Any, str], T],
    where: str,
    left_out: list[str],
    at_most: int,
) -> list[T]:
    """Return the items of a list that can be read.

    Parameters
    ----------
    raw : sequence of JSON values
    take : callable
        Returns an item from its JSON values and its path, or raises ValueError naming it.
    where : str
        Path of the list.
    left_out : list of str
        Gets a sentence for each item that is left out.
    at_most : int
        How many items are read; further ones are left out.
    """
    found: list[T] = []
    for place, item in enumerate(raw[:at_most]):
        try:
            found.append(take(item, f"{where}[{place}]"))
        except ValueError as error:
            left_out.append(str(error))
    if len(raw) > at_most:
        left_out.append(f"{where}: {len(raw)} items; the first {at_most} were read")
    return found


def read_fields(raw: object, kind: type[S], where: str, left_out: list[str]) -> S:
    """Return a struct all of whose fields have defaults, with the fields that can be read.

    `left_out` gets a sentence for each that can't.
    """
    if not isinstance(raw, Mapping):
        left_out.append(f"{where or 'it'}: expected an object, got {_shown(raw)}")
        return kind()
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.name in raw:
            path = f"{where}.{field.name}" if where else field.name
            try:
                found[field.name] = read(raw[field.name], field.type, path)
            except SchemaError as error:
                left_out.append(str(error))
    return kind(**found)


def plain(struct: Struct) -> dict[str, Any]:
    """Return a struct as JSON values."""
    found: dict[str, Any] = msgspec.to_builtins(struct)
    return found


def _sentence(message: str, raw: object, where: str) -> str:
    """Rephrase msgspec's message: the path first, then what is wrong."""
    said, _, at = message.partition(" - at ")
    path = at.strip("`").removeprefix("key` in `").removeprefix("$")
    value: object = raw
    for name, index in re.findall(r"\.(\w+)|\[(\d+|\.{3})\]", path):
        if index == "..." and isinstance(value, Mapping):  # which of them, msgspec does not say
            index = next(
                (k for k, v in value.items() if not isinstance(v, bool | int | float | str)), ""
            )
            path = path.replace("[...]", f".{str(index)[:LONGEST_SHOWN]}")
        try:
            value = value[name or (index if isinstance(value, Mapping) else int(index))]  # type: ignore[index]
        except (KeyError, IndexError, TypeError, ValueError):
            break
    for pattern, words in _RULES:
        if found := re.match(pattern, said):
            said = found.expand(words)
            break
    said = _REMEDIES.get(path.rpartition(".")[2], said) if said == _PATTERN else said
    said = re.sub(r"`(\w+(?: \| \w+)*)`", _in_words, said)
    got = f", got {_shown(value)}" if said.startswith("expected") else ""
    return f"{(where + path).lstrip('.') or 'it'}: {said}{got}"


def _in_words(match: re.Match[str]) -> str:
    return " or ".join(_WORDS.get(word, word) for word in match[1].split(" | "))


def _shown(value: object) -> str:
    """Return a value as JSON text, shortened."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**20:
        return "a number of more than 20 digits"
    text = json.dumps(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
