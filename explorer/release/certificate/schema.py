"""The form of a certificate, as its JSON Schema has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from explorer.files import read_bounded
from explorer.release.errors import ReleaseError
from explorer.release.exact_json import read_json
from explorer.resources import resource_bytes

SCHEMA_1, SCHEMA = "privacy-explorer/certificate/1", "privacy-explorer/certificate/2"
"""Version 1 is only read and verified, version 2 is written."""
LARGEST = 256_000_000
"""Bytes."""
_LONGEST = 160
"""Characters of what the schema says."""


class CertificateError(ReleaseError):
    """A certificate that is not what it says; one sentence."""


def read_certificate(path: Path) -> dict[str, Any]:
    """Return a certificate whose form was checked, and nothing else.

    Raises
    ------
    CertificateError
        One sentence that begins with the file's name.
    """
    try:
        data = read_bounded(path, LARGEST)
    except OSError as error:
        raise CertificateError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    try:
        document = read_json(data, path.name)
        check_schema(document)
    except CertificateError as error:
        raise CertificateError(f"{path.name}: {error}") from None
    except ReleaseError as error:
        raise CertificateError(str(error)) from None
    found: dict[str, Any] = document
    return found


def check_schema(document: object) -> None:
    """Raise CertificateError at what the schema does not allow, naming the place."""
    version = document.get("schema") if isinstance(document, dict) else None
    found = next(
        _validator(SCHEMA_1 if version == SCHEMA_1 else SCHEMA).iter_errors(document), None
    )
    if found is not None:
        where = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in found.absolute_path
        ).lstrip(".")
        said = " ".join(found.message.split())
        said = said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
        raise CertificateError(f"{where or 'the certificate'}: {said}")


_FILES = {
    SCHEMA_1: "release/certificate.schema.json",
    SCHEMA: "release/certificate-2.schema.json",
}


@cache
def schema(version: str = SCHEMA) -> Mapping[str, Any]:
    """Return the schema of a version."""
    found: dict[str, Any] = json.loads(resource_bytes(_FILES[version]))
    return found


@cache
def _validator(version: str) -> Any:
    from jsonschema import Draft202012Validator  # slow to import, and rarely needed

    return Draft202012Validator(schema(version))
