"""Finds the files of a data set and inspects their beginnings.

Files are sorted by name and their lines are numbered consecutively. Folders named ``key=value``
between the data set and its files add columns (Hive partitioning). Names beginning with ``.`` or
``_`` are metadata and skipped.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from explorer.bounded import in_worker
from explorer.checkins.database import check
from explorer.checkins.errors import CheckinError, printable, shown_name
from explorer.checkins.model import Dialect, IsCancelled, Mapping, Preview
from explorer.checkins.parsing.guess_columns import roles_by_name
from explorer.checkins.parsing.times import time_format
from explorer.checkins.readers import all_readers, get_reader
from explorer.checkins.readers.base import HEAD, FileStart
from explorer.checkins.readers.parquet import have_columns
from explorer.checkins.workers import IN_PLACE, run_in_worker


def check_readable(path: Path) -> int:
    """Return a file's size; raise with the reason if it cannot be read.

    Raises
    ------
    CheckinError
    """
    name = shown_name(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise CheckinError(f"{name} is a folder; choose a check-in file inside it.")
        if not stat.S_ISREG(status.st_mode):
            raise CheckinError(f"{name} is not a regular file; save its contents to a file first.")
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise CheckinError(
            f"{name} does not exist (any more); check its name and folder."
        ) from None
    except PermissionError:
        raise CheckinError(
            f"{name} can't be read without permission; ask its owner for it."
        ) from None
    except OSError as fault:
        raise CheckinError(
            f"{name} can't be read ({fault.strerror or fault}); copy it to a local disk and retry."
        ) from None
    if status.st_size == 0:
        raise CheckinError(f"{name} is empty; choose a file with check-ins in it.")
    return status.st_size


def sniff(
    path: str | os.PathLike[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    cancelled: IsCancelled | None = None,
    decimal: str | None = None,
    layer: str | None = None,
    unpack: bool = False,
    header: int | None = None,
) -> Preview:
    """Inspect the beginning of a file and guess how to read it.

    Parameters
    ----------
    path : path
        In a format of one of the readers.
    delimiter : str, optional
        The character between two fields of text; guessed if omitted.
    encoding : str, optional
        A codec of `encodings.NAMES`; detected if omitted.
    cancelled : callable, optional
        Called every few milliseconds; True stops.
    decimal : str, optional
        Decimal sign, a point or a comma; detected if omitted.
    layer : str, optional
        Of a file with several layers or sheets; the one with check-ins if omitted.
    unpack : bool
        Whether it may unpack to any multiple of its size.
    header : int, optional
        Line of text with the names of the columns, from 1, or 0 for none; detected if omitted.

    Returns
    -------
    Preview
        Its mapping lacks columns that could not be detected, about which the user is asked.

    Raises
    ------
    CheckinError
        If the file can't be opened, is empty, is of no format with a reader, or has over 20,000
        columns.
    UnpackNeeded
        If a workbook unpacks to far more than its size, without `unpack`.
    LoadCancelled
        If `cancelled` returns True.
    """
    path = Path(path)
    check(cancelled)
    size = check_readable(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as fault:
        raise CheckinError(
            f"{shown_name(path)} can't be read ({fault.strerror or fault}); copy it and retry."
        ) from None
    suffix = path.suffix.lower()
    best = max(all_readers(), key=lambda r: (r.can_read(head), suffix in r.suffixes))
    if best is not get_reader(IN_PLACE) and not in_worker():
        sniffed: Preview = run_in_worker(
            sniff,
            path,
            delimiter,
            encoding,
            decimal=decimal,
            layer=layer,
            unpack=unpack,
            header=header,
            name=shown_name(path),
            cancelled=cancelled,
        )
        return sniffed
    preview = best.preview(
        FileStart(path, size, head, delimiter, encoding, layer, cancelled, decimal, unpack, header)
    )
    return replace(preview, dialect=replace(preview.dialect, unpack=unpack))


Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One or several files or folders."""

_SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "spaces"}

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a data set.

    Attributes
    ----------
    path : Path
    name : str
        Path within the data set, for display.
    values : tuple of (str or None)
        Values of the columns encoded in the names of its folders.
    """

    path: Path
    name: str
    values: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files of a data set.

    Attributes
    ----------
    name : str
        Name of the file or folder, without its location; used in recipes.
    parts : tuple of SourceFile
        Sorted by name.
    together : bool
        Whether there are several files, or a folder; False for a single file.
    columns : tuple of str
        Columns encoded in the names of the folders.
    left_out : tuple of str
        Files of a folder whose names are not those of check-in files.
    """

    name: str
    parts: tuple[SourceFile, ...]
    together: bool = False
    columns: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def states(self) -> list[list[int]]:
        """Return sizes and modification times of the files."""
        states = [part.path.stat() for part in self.parts]
        return [[status.st_size, status.st_mtime_ns] for status in states]

    @property
    def settings(self) -> list[str]:
        """Cache settings besides the state of the files: their names."""
        return [self.name, *(part.name for part in self.parts)] if self.together else []

    def fingerprint(self, hashes: Sequence[str]) -> str:
        """Return the sha256 of the file, or of all names and sha256; empty if one is missing."""
        if not self.together:
            return hashes[0]
        if not all(hashes):
            return ""
        digest = hashlib.sha256()
        for part, sha256 in zip(self.parts, hashes, strict=True):
            digest.update(f"{part.name}\0{sha256}\0".encode())
        return digest.hexdigest()


def find_files(source: Source, cancelled: IsCancelled | None = None) -> DataFiles:
    """Return the files of a data set.

    Raises
    ------
    CheckinError
        If a folder has none, or the folders around them name other columns.
    LoadCancelled
        If `cancelled` returns True.
    """
    paths = [Path(source)] if isinstance(source, str | os.PathLike) else [Path(p) for p in source]
    if not paths:
        raise CheckinError("No file was chosen; choose one with check-ins in it.")
    paths = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))
    if len(paths) == 1 and not paths[0].is_dir():
        return DataFiles(shown_name(paths[0]), (SourceFile(paths[0], shown_name(paths[0])),))
    root = paths[0] if len(paths) == 1 else Path(os.path.commonpath([p.parent for p in paths]))
    paths_inside: set[Path] = set()
    others: set[Path] = set()
    for path in paths:
        if path.is_dir():
            _walk(path, paths_inside, others, cancelled)
        else:
            paths_inside.add(path)
    files = sorted(paths_inside, key=lambda path: path.relative_to(root).parts)
    name = shown_name(root if len(paths) == 1 else files[0] if files else root)
    if not files:
        usual = " ".join(suffix for reader in all_readers() for suffix in reader.suffixes)
        raise CheckinError(
            f"{name} is a folder without a file of check-ins ({usual}); choose another one."
        )
    if len(paths) > 1 and len(files) > 1:
        name += f" and {len(files) - 1} more"
    folders = [_hive(path.relative_to(root)) for path in files]
    keys = tuple(folders[0])
    parts = []
    for path, values in zip(files, folders, strict=True):
        within = _display(path.relative_to(root))
        if tuple(values) != keys:
            raise CheckinError(
                f"{within} is in folders that name {_listed(values)}, while "
                f"{_display(files[0].relative_to(root))} is in folders that name {_listed(keys)}; "
                "open those that belong together."
            )
        parts.append(SourceFile(path, within, tuple(values.values())))
    left_out = tuple(_display(path.relative_to(root)) for path in sorted(others))
    return DataFiles(name, tuple(parts), True, keys, left_out)


def _walk(folder: Path, files: set[Path], others: set[Path], cancelled: IsCancelled | None) -> None:
    """Collect the files below a folder; links to folders are not followed."""
    suffixes = {suffix for reader in all_readers() for suffix in reader.suffixes}

    def refuse(fault: OSError) -> None:
        name = shown_name(Path(fault.filename or folder))
        raise CheckinError(
            f"The folder {name} can't be read ({fault.strerror or fault}); "
            "ask its owner for permission to read it."
        )

    for place, folders, names in os.walk(folder, onerror=refuse):
        check(cancelled)
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in names:
            path = Path(place, name)
            if name.startswith((".", "_")) or not path.is_file():
                continue
            known = path.suffix.lower() in suffixes
            # parallel writers leave empty files for empty partitions
            (files if known and path.stat().st_size else others).add(path)


def _hive(within: Path) -> dict[str, str | None]:
    """Return the columns encoded in the names of a file's folders."""
    pairs = [unquote(name).partition("=") for name in within.parts[:-1] if "=" in name]
    return {key: None if value == _HIVE_NULL else value for key, _, value in pairs}


def _listed(keys: Sequence[str] | dict[str, str | None]) -> str:
    return ", ".join(keys) or "no column"


def _display(within: Path) -> str:
    return "/".join(shown_name(Path(name)) for name in within.parts)


def sniff_files(
    files: DataFiles,
    delimiter: str | None = None,
    encoding: str | None = None,
    cancelled: IsCancelled | None = None,
    decimal: str | None = None,
    layer: str | None = None,
    unpack: bool = False,
    header: int | None = None,
) -> Preview:
    """Inspect the beginning of the first file and the names of the folders.

    Raises as `explorer.checkins.sources.sniff` does.
    """
    first = files.parts[0].path
    preview = sniff(first, delimiter, encoding, cancelled, decimal, layer, unpack, header)
    if not files.together:
        if not preview.sample:
            below = f" below its header “{printable(', '.join(preview.columns)[:60])}”"
            raise CheckinError(
                f"{preview.basename} holds no rows{below * bool(preview.delimiter)}; choose a file "
                "with check-ins."
            )
        return preview
    size = sum(check_readable(part.path) for part in files.parts)
    preview = replace(preview, basename=files.name, size=size)
    inside = {name.lower() for name in preview.columns}
    columns = [i for i, name in enumerate(files.columns) if name.lower() not in inside]
    if not columns:
        return preview
    values = [tuple(part.values[i] or "" for i in columns) for part in files.parts]
    names, width = [files.columns[i] for i in columns], len(preview.columns)
    named = roles_by_name(names, values, preview.dialect.decimal)
    mapping = preview.mapping
    for role, column in named.items():
        open_question = preview.question(role) is not None and role != "user"
        if open_question or getattr(mapping, role) is not None:
            continue
        extra: dict[str, Any] = {role: width + column}
        if role == "time":
            texts = [row[column] for row in values]
            extra["time_format"] = time_format(texts, preview.dialect.decimal) or "iso"
        mapping = replace(mapping, **extra)
    known_roles = {role for role in named if getattr(mapping, role) is not None}
    return replace(
        preview,
        columns=(*preview.columns, *names),
        rows=tuple((*row, *values[0]) for row in preview.rows),
        sample=tuple((*row, *values[0]) for row in preview.sample),
        mapping=mapping,
        questions=tuple(q for q in preview.questions if q.key not in known_roles),
        added=len(names),
        problems=tuple(
            p for p in preview.problems if mapping.time is None or "like a time" not in p
        ),
    )


class SniffSettings(NamedTuple):
    """Settings of the user for inspecting a file; None is detected.

    Attributes
    ----------
    encoding, decimal, layer : str or None
        As in `FileStart`.
    unpack : bool
        As in `Dialect`.
    delimiter, header
        As in `Mapping`.
    """

    encoding: str | None = None
    decimal: str | None = None
    layer: str | None = None
    unpack: bool = False
    delimiter: str | None = None
    header: int | None = None

    @classmethod
    def of(cls, mapping: Mapping | None, dialect: Dialect | None) -> SniffSettings:
        """Return the settings that a mapping and a dialect contain."""
        chosen = mapping or Mapping()
        layer, unpack = (dialect.layer, dialect.unpack) if dialect else (None, False)
        return cls(chosen.encoding, chosen.decimal, layer, unpack, chosen.delimiter, chosen.header)


@dataclass(frozen=True, slots=True)
class SniffedSource:
    """The files of a data set with the preview of the first.

    Attributes
    ----------
    files : DataFiles
    preview : Preview
    settings : SniffSettings
        With which the first file was inspected.
    """

    files: DataFiles
    preview: Preview
    settings: SniffSettings


def sniff_source(
    source: Source | DataFiles,
    settings: SniffSettings,
    cancelled: IsCancelled | None = None,
    sniffed: SniffedSource | None = None,
) -> SniffedSource:
    """Find the files of a data set and inspect the first.

    Parameters
    ----------
    source : path, sequence of paths, or DataFiles
    settings : SniffSettings
    cancelled : callable or None
        As in `sniff`.
    sniffed : SniffedSource or None
        An earlier result for the same source. It is returned if its settings are the same; else
        only its files are used.

    Raises
    ------
    CheckinError, UnpackNeeded, LoadCancelled
        As `find_files` and `sniff`.
    """
    if sniffed is not None and sniffed.settings == settings:
        return sniffed
    if sniffed is not None:
        files = sniffed.files
    else:
        files = source if isinstance(source, DataFiles) else find_files(source, cancelled)
    encoding, decimal, layer, unpack, delimiter, header = settings
    preview = sniff_files(files, delimiter, encoding, cancelled, decimal, layer, unpack, header)
    return SniffedSource(files, preview, settings)


def added_columns(files: DataFiles, preview: Preview) -> list[int]:
    """Return which folder columns are part of the preview."""
    added = preview.columns[len(preview.columns) - preview.added :]
    return [i for i, name in enumerate(files.columns) if name in added]


def check_alike(
    files: DataFiles,
    first: Preview,
    tick: Callable[[], None],
    encoding: str | None = None,
    header: int | None = None,
) -> list[Dialect]:
    """Return the dialect of each file; all must have the columns of the first.

    Parts may differ in compression, encoding and lines before the header, unless the latter two are
    given for all.

    Raises
    ------
    CheckinError
        Naming the first part that differs, and in what.
    """
    dialects = []
    columns = first.columns[: len(first.columns) - first.added]
    alike = [False] * len(files.parts)
    if first.dialect.reader == "parquet":
        for part in files.parts:
            check_readable(part.path)
        alike = have_columns([part.path for part in files.parts], columns, _ticking(tick))
    for part, known in zip(files.parts, alike, strict=True):
        tick()
        check_readable(part.path)
        dialect = first.dialect
        text = bool(dialect.delimiter)
        layer = dialect.layer if first.layers else None
        if known:
            dialects.append(dialect)  # inspecting its rows would take longer than counting them
            continue
        own = sniff(
            part.path,
            dialect.delimiter or None,
            encoding,
            layer=layer,
            unpack=dialect.unpack,
            header=header,
        )
        difference = _difference(first, own)
        if difference and text:  # with another delimiter, nothing else agrees either
            other = sniff(part.path, None, encoding).delimiter
            if other and other != dialect.delimiter:
                difference = (
                    f"its fields are separated by {_SEPARATORS.get(other, repr(other))}, not by "
                    f"{_SEPARATORS.get(dialect.delimiter, repr(dialect.delimiter))}"
                )
        if difference:
            raise CheckinError(
                f"{part.name} differs from {files.parts[0].name}: {difference}. Open the files "
                "that are alike, or make this one like the others."
            )
        if text:
            dialect = replace(
                dialect,
                encoding=own.dialect.encoding,
                compressed=own.dialect.compressed,
                line_end=own.dialect.line_end,
                quoted=own.dialect.quoted,
                lines_before_header=own.dialect.lines_before_header,
                header_lines=own.dialect.header_lines,
                lines_after_header=own.dialect.lines_after_header,
            )
        else:
            dialect = replace(dialect, layer=own.dialect.layer, has_header=own.has_header)
        dialects.append(dialect)
    return dialects


def _ticking(tick: Callable[[], None]) -> IsCancelled:
    """Return a `cancelled` callback that calls `tick` and returns False."""

    def cancelled() -> bool:
        tick()
        return False

    return cancelled


def _difference(first: Preview, own: Preview) -> str:
    """Return how a file's beginning differs from the first file's; empty if it does not."""
    if own.dialect.reader != first.dialect.reader:
        return f"it is {own.dialect.reader}, not {first.dialect.reader}"
    if any(question.key == "encoding" for question in own.questions):
        return "its encoding is not certain, so choose one for all"
    if own.mapping.crs != first.mapping.crs:
        return f"its coordinates are in {own.mapping.crs or 'degrees'}"
    if own.layers and not own.dialect.layer:
        return f"it has several tables ({', '.join(own.layers)})"
    columns = first.columns[: len(first.columns) - first.added]
    if first.has_header and own.rows and tuple(c.strip() for c in own.rows[0]) == columns:
        return ""  # a header that was not detected
    if own.has_header != first.has_header:
        return "it has a header" if own.has_header else "it has no header"
    if len(own.columns) != len(columns):
        return f"its lines have {len(own.columns)} fields, not {len(columns)}"
    pairs = enumerate(zip(own.columns, columns, strict=True), 1)
    other = next(((i, a, b) for i, (a, b) in pairs if a != b), None)
    if other is None:
        return ""
    return "its column {} is “{}”, not “{}”".format(*other)
