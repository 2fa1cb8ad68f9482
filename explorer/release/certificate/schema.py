"""Reading of certificates and validation against their JSON Schema."""

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
"""Version 2 is written; version 1 can be read and verified."""
MAX_CERTIFICATE_BYTES = 256_000_000
_MAX_MESSAGE = 160
"""Maximum length of a schema error in a message."""


class CertificateError(ReleaseError):
    """A certificate is invalid or contradicts itself, its ledger or its data."""


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate and validate it against the schema only.

    Raises
    ------
    CertificateError
        The message begins with the file's name.
    """
    try:
        data = read_bounded(path, MAX_CERTIFICATE_BYTES)
    except OSError as error:
        raise CertificateError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    try:
        document = read_json(data, path.name)
        check_schema(document)
    except CertificateError as error:
        raise CertificateError(f"{path.name}: {error}") from None
    except ReleaseError as error:
        raise CertificateError(str(error)) from None
    result: dict[str, Any] = document
    return result


def check_schema(document: object) -> None:
    """Raise CertificateError at the first violation of the schema, naming the path."""
    version = document.get("schema") if isinstance(document, dict) else None
    error = next(
        _validator(SCHEMA_1 if version == SCHEMA_1 else SCHEMA).iter_errors(document), None
    )
    if error is not None:
        path = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path
        ).lstrip(".")
        message = " ".join(error.message.split())
        message = message if len(message) <= _MAX_MESSAGE else message[: _MAX_MESSAGE - 1] + "…"
        raise CertificateError(f"{path or 'the certificate'}: {message}")


_FILES = {
    SCHEMA_1: "release/certificate.schema.json",
    SCHEMA: "release/certificate-2.schema.json",
}


@cache
def schema(version: str = SCHEMA) -> Mapping[str, Any]:
    """Return the JSON Schema of a version."""
    result: dict[str, Any] = json.loads(resource_bytes(_FILES[version]))
    return result


@cache
def _validator(version: str) -> Any:
    from jsonschema import Draft202012Validator  # slow to import

    return Draft202012Validator(schema(version))
