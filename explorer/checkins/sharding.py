"""Import of data larger than memory: its cost; splits files into shards and sorts each shard.

Each step is idempotent: its output appears atomically, by renaming a folder.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.database import connect, parquet_table, read_file, run, written_file
from explorer.checkins.errors import CheckinError
from explorer.checkins.layout import LAYOUT, Layout
from explorer.checkins.memory import format_bytes
from explorer.checkins.model import Dialect, IsCancelled, Mapping
from explorer.checkins.multifile import accept, head_check_of, write_part
from explorer.checkins.progress import LoadProgress
from explorer.checkins.queries import EPOCH, ends_of, joined_ends, positions
from explorer.checkins.readers.base import Plan
from explorer.checkins.readers.parquet import count_rows
from explorer.checkins.sampling import HashArray, hash_ids, sample_key
from explorer.checkins.scan import shifts
from explorer.checkins.sources import DataFiles
from explorer.checkins.store import PARQUET, ROWS, USERS, count, count_spellings
from explorer.checkins.workers import needs_worker, run_in_worker
from explorer.user_rows import EARTH_STEP, steps

IN_MEMORY = 30_000_000
"""Maximum number of rows of a data set held in memory."""
SHARD_ROWS = 1_500_000
MAX_BITS = 12

MIN_BYTES_PER_ROW = 5
"""Lower bound of a file's bytes per row, for any compression."""

_BYTES_A_ROW = 60
"""Bytes per row of a shard while it is sorted."""
_MEANWHILE, _KEPT = 60, 20
"""Disk bytes per row: peak during the import, and permanent."""
_SECONDS = {True: 4e-6, False: 6e-6}
"""Initial estimates per row of Parquet and of text on one processor; the measured time of the first
files replaces them."""
QUICK_S = 10.0
"""Imports estimated to be faster start without confirmation."""
_WORKER_BYTES = 200_000_000
"""Bytes of a process with all imports of an import step."""
_HEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ImportSize:
    """Resources of an import.

    Attributes
    ----------
    rows : int
        Estimated.
    bits : int
        The hashes' leading bits: there are 2^bits shards.
    workers : int
    memory : int
        Bytes that the database of each worker may use.
    seconds : float
        Estimated.
    disk : int
        Bytes that the disk must have.
    """

    rows: int
    bits: int
    workers: int
    memory: int
    seconds: float
    disk: int

    @property
    def notice(self) -> str:
        """Message about duration and disk space, shown before the import begins."""
        time = f"{self.seconds / 60:,.0f} min" if self.seconds > 90 else f"{self.seconds:,.0f} s"
        permanent = format_bytes(self.rows * _KEPT)
        return (
            f"About {self.rows:,} rows are too many to be opened at once and are sorted by user on "
            f"disk first. This takes about {time} (an estimate) and {format_bytes(self.disk)} of "
            f"disk space, of which {permanent} stay in use. An interrupted import is continued."
        )

    @property
    def slow(self) -> bool:
        """Whether the user must confirm the import."""
        return self.seconds >= QUICK_S


def max_rows_in_memory(memory: int) -> int:
    """Return the maximum number of rows held in memory for a memory limit in bytes."""
    return min(IN_MEMORY, memory // _BYTES_A_ROW)


def estimated_rows(files: DataFiles, dialect: Dialect) -> int:
    """Return the estimated number of rows: exact for Parquet, 0 for formats of few rows."""
    if dialect.reader == "parquet":
        return count_rows([part.path for part in files.parts])
    if not dialect.delimiter:
        return 0
    lines, size = 0.0, 0
    for part in files.parts[:3]:
        line_count, used = _lines(part.path)
        lines, size = lines + line_count, size + used
    whole = sum(part.path.stat().st_size for part in files.parts)
    return round(lines / max(size, 1) * whole)


def _lines(path: Path) -> tuple[int, int]:
    """Return the lines at the beginning of a file and the disk bytes they occupy."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    text = head
    if head.startswith(b"\x1f\x8b"):
        try:
            text = zlib.decompressobj(31).decompress(head)
        except zlib.error:  # damaged, which is reported when it is read
            return 0, len(head)
    return text.count(b"\n"), len(head)


def plan_import(
    rows: int,
    dialect: Dialect,
    memory: int,
    folder: Path,
    shard_rows: int | None = None,
    workers: int | None = None,
) -> ImportSize:
    """Return the resources of an import within a memory limit in bytes.

    By default as many workers as processors and memory allow.

    Raises
    ------
    CheckinError
        If there is not enough disk space.
    """
    processors = min(os.cpu_count() or 1, 8)
    workers = workers or max(1, min(processors, memory // (2 * _WORKER_BYTES) - 1))
    each = max((memory - _WORKER_BYTES) // workers - _WORKER_BYTES, 100_000_000)
    fitting = shard_rows or min(SHARD_ROWS, each // _BYTES_A_ROW // 4)
    bits = max(1, min(MAX_BITS, (max(rows, 1) // max(fitting, 1)).bit_length()))
    seconds = rows * _SECONDS[dialect.reader == "parquet"] / workers
    size = ImportSize(rows, bits, workers, each, seconds, rows * (_MEANWHILE + _KEPT))
    free = shutil.disk_usage(folder).free
    if free < size.disk:
        raise CheckinError(
            f"About {rows:,} rows are sorted on the disk, which takes {format_bytes(size.disk)}, "
            f"but {format_bytes(free)} are free there. Make room, choose another disk with the "
            "environment variable XDG_CACHE_HOME, or open fewer of the files."
        )
    return size


FACTS = "facts.json"
COLUMNS: dict[str, str] = {
    "user": "i4",
    "y": "i4",
    "x": "i4",
    "t": "i4",
    "weight": "f8",
    "same": "u8",
    "row": "u4",
}
"""Files of a split file, by name and type: rows sorted by shard within each piece."""

_CHUNK_SIZE = 1_000_000
"""Rows sorted at a time."""
_IDS = 100_000
"""Ids hashed at a time."""
_MAX_ROWS = 2**32
_INTERPRETER = 300_000_000
"""Bytes of a worker with all imports, besides the database and its arrays."""


def plan_task(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON values."""
    return {
        "name": plan.name,
        "path": os.fspath(plan.path),
        "dialect": asdict(plan.dialect),
        "mapping": plan.mapping.stored(),
        "width": plan.width,
        "duplicates": plan.duplicates,
        "fingerprint": plan.fingerprint,
        "added": list(plan.added),
        "part": plan.part,
    }


def _plan(task: dict[str, Any]) -> Plan:
    return Plan(
        task["name"],
        Path(task["path"]),
        Dialect(**task["dialect"]),
        Mapping(**task["mapping"]),
        task["width"],
        task["duplicates"],
        task["fingerprint"],
        tuple(task["added"]),
        text_ids=True,
        part=task["part"],
    )


def part_folder(folder: Path, part: int) -> Path:
    """Return the folder of a split file."""
    return folder / f"part-{part:06}"


def split_part(task: dict[str, Any], cancelled: IsCancelled | None = None) -> dict[str, Any]:
    """Read one file and write its rows in the order of their shards.

    Parameters
    ----------
    task : dict
        ``folder`` of the import, number of the ``part``, name of the ``first`` one, ``plan`` as
        `plan_task` has it, whether columns were ``guessed``,
        ``bits`` by which shards are cut, ``memory`` in bytes.
    cancelled : callable, optional
        Called now and then; True stops.

    Returns
    -------
    dict
        Counts of lines, and statistics of the rows.

    Raises
    ------
    CheckinError
        If the file can't be read, or not as the first one is.
    """
    folder, part = Path(task["folder"]), task["part"]
    target = part_folder(folder, part)
    if (target / FACTS).exists():
        known: dict[str, Any] = json.loads((target / FACTS).read_text())
        return known
    plan = _plan(task["plan"])
    if needs_worker(plan.dialect):
        result: dict[str, Any] = run_in_worker(
            split_part,
            task,
            name=plan.name,
            cancelled=cancelled,
            memory=2 * task["memory"] + _INTERPRETER,
        )
        return result
    new = folder / f"new-part-{part:06}"  # of a worker that was killed, if it is there
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    con = connect(new / "spill", task["memory"])
    try:
        facts = _split(con, plan, task, new, cancelled)
    finally:
        con.close()
    shutil.rmtree(new / "spill", ignore_errors=True)
    (new / ROWS).unlink()
    (new / FACTS).write_text(json.dumps(facts))
    shutil.rmtree(target, ignore_errors=True)
    new.rename(target)
    return facts


def _split(
    con: Any, plan: Plan, task: dict[str, Any], new: Path, cancelled: IsCancelled | None
) -> dict[str, Any]:
    work = LoadProgress(plan.path.stat().st_size, None, cancelled, plan.dialect.needs_copy)
    check_head = head_check_of(plan, task["first"]) if task["part"] or task["guessed"] else accept
    scan = write_part(con, plan, new, work, check_head)
    steps_, shift = shifts(*scan.skipped())
    lines, codes = scan.malformed.arrays()
    total = count(con, new / ROWS)
    if total >= _MAX_ROWS:
        raise ValueError(f"{plan.name}: {total:,} rows are too many for one file; cut it into more")
    bad = con.execute(
        f"SELECT file_row_number AS row, code FROM {parquet_table(new / ROWS, numbered=True)} "
        "WHERE code <> 0"
    ).fetchnumpy()
    lines = np.concatenate([lines, line_of(bad["row"], steps_, shift)])
    codes = np.concatenate([codes, bad["code"].astype(np.uint8)])
    for name, array in (("steps", steps_), ("shift", shift), ("lines", lines), ("codes", codes)):
        np.save(new / f"{name}.npy", array)
    naive, merged = count_spellings(con, new)
    users = _number_users(con, new, task["bits"])
    shard = users >> np.uint64(64 - task["bits"])
    extent = _write_columns(con, plan, new, total, shard, task["bits"])
    return {
        "lines": scan.lines,
        "header": len(scan.names),
        "before_header": len(scan.before),
        "blank": len(scan.blank),
        "continued": len(scan.joined),
        "rejected": len(lines),
        "notes": scan.damage.notes,
        "fingerprint": scan.fingerprint,
        "users": len(users),
        "naive_times": naive,
        "merged_ids": merged,
        **extent,
    }


def line_of(rows: Any, steps_: Any, shift: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return line numbers of rows (from 0), using `explorer.checkins.scan.shifts`."""
    rows = np.asarray(rows, np.int64) + 1
    place = np.searchsorted(steps_, rows, side="right")
    lines: np.ndarray[Any, np.dtype[np.int64]] = rows + np.concatenate([[0], shift])[place]
    return lines


def _number_users(con: Any, new: Path, bits: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Store the file's users in the order of their hashes; return the upper hash halves."""
    rows = parquet_table(new / ROWS)
    con.execute(
        f"CREATE TEMP TABLE ids AS SELECT DISTINCT user_id AS name FROM {rows} WHERE code = 0"
    )
    key, pieces = sample_key(0), [np.empty((0, 2), np.uint64)]
    names = con.execute("SELECT name FROM ids ORDER BY rowid")
    while batch := names.fetchmany(_IDS):
        pieces.append(hash_ids((name for (name,) in batch), key))
    hashes: HashArray = np.concatenate(pieces)
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    con.register("numbers", {"place": place})
    con.execute("CREATE TEMP TABLE users AS SELECT name, place FROM ids POSITIONAL JOIN numbers")
    con.unregister("numbers")
    con.execute("DROP TABLE ids")
    con.execute(
        f"COPY (SELECT name FROM users ORDER BY place) TO {written_file(new / 'users.parquet')} "
        f"{PARQUET}"
    )
    hashes = hashes[order]
    np.save(new / "hashes.npy", hashes)
    upper: np.ndarray[Any, np.dtype[np.uint64]] = hashes[:, 0]
    return upper


def _write_columns(
    con: Any, plan: Plan, new: Path, total: int, shard: Any, bits: int
) -> dict[str, Any]:
    """Write the columns by shard within each piece; return extent and counts."""
    weighted, timed = plan.mapping.weight is not None, plan.mapping.time is not None
    step = EARTH_STEP if plan.mapping.plane_there is None else plan.mapping.plane_there.step
    origin = origin_of(plan.mapping)
    offsets, firsts = [], 0
    lat: list[float] = []
    lon: list[list[float | None]] = []
    times: list[int] = []
    files = {
        name: (new / f"{name}.bin").open("wb")
        for name in COLUMNS
        if (weighted or name != "weight") and (timed or name != "t")
    }
    shard = np.append(shard, 0).astype(np.uint16)
    try:
        for batches in _pieces(con, plan, new, total):
            place = batches["place"].astype(np.int32)
            of = shard[place]
            order = np.argsort(of, kind="stable")
            columns = {
                "user": place,
                "y": (steps(batches["lat"], step) - origin[0]).astype(np.int32),
                "x": (steps(batches["lon"], step) - origin[1]).astype(np.int32),
                "same": batches["same"].astype(np.uint64),
                "row": batches["row"].astype(np.uint32),
            }
            if timed:
                instants = batches["t"]
                columns["t"] = (instants // 1_000_000 - int(EPOCH.timestamp())).astype(np.int32)
                times += [int(instants.min()), int(instants.max())]
            if weighted:
                columns["weight"] = batches["weight"].astype(np.float64)
            for name, file in files.items():
                columns[name][order].tofile(file)
            lat += [float(batches["lat"].min()), float(batches["lat"].max())]
            lon.append(ends_of(batches["lon"]))
            ends = np.searchsorted(of[order], np.arange((1 << bits) + 1))
            offsets.append(firsts + ends)
            firsts += len(place)
    finally:
        for file in files.values():
            file.close()
    pieces = np.array(offsets, np.int64).reshape(-1, (1 << bits) + 1)
    np.save(new / "offsets.npy", pieces)
    return {
        "good": firsts,
        "ends": [min(lat), max(lat), *joined_ends(lon)] if lat else None,
        "times": [min(times), max(times)] if times else None,
    }


def origin_of(mapping: Mapping) -> tuple[int, int]:
    """Return the origin (y, x) of positions, in steps."""
    plane = mapping.plane_there
    if plane is None:
        return (0, 0)
    south, west, _, _ = plane.turned((plane.low, plane.left, plane.high, plane.right))
    y, x = steps((south, west), plane.step).tolist()
    return y, x


def _pieces(con: Any, plan: Plan, new: Path, total: int) -> Iterator[dict[str, Any]]:
    """Yield valid rows with the indices of their users, in file order."""
    rows = parquet_table(new / ROWS, numbered=True)
    rows = f"(SELECT {positions(plan.mapping.plane_there)} FROM {rows} WHERE code = 0)"
    columns = "place, lat, lon, same, file_row_number AS row"
    columns += ", epoch_us(time) AS t" if plan.mapping.time is not None else ""
    columns += ", weight" if plan.mapping.weight is not None else ""
    for at in range(0, total, _CHUNK_SIZE):
        result = con.execute(
            f"SELECT {columns} FROM {rows} r JOIN users ON r.user_id = users.name "
            "WHERE file_row_number >= ? AND file_row_number < ?",
            [at, at + _CHUNK_SIZE],
        ).fetchnumpy()
        if len(result["row"]):
            order = np.argsort(result["row"], kind="stable")  # a join may lose it
            yield {name: np.asarray(column)[order] for name, column in result.items()}


DUPLICATES = "duplicates.npy"


def shard_folder(folder: Path, shard: int) -> Path:
    """Return the folder of a shard."""
    return folder / f"shard-{shard:06}"


def order_shard(task: dict[str, Any]) -> dict[str, Any]:
    """Sort a shard by its users' hashes and remove duplicates.

    Parameters
    ----------
    task : dict
        ``folder`` of the import, number of the ``shard``, of ``parts``, the ``mapping``, whether
        ``duplicates`` are sought, ``memory`` in bytes.

    Returns
    -------
    dict
        ``users``, ``rows``, ``duplicates``.
    """
    folder, shard = Path(task["folder"]), task["shard"]
    target = shard_folder(folder, shard)
    if (target / FACTS).exists():
        known: dict[str, Any] = json.loads((target / FACTS).read_text())
        return known
    new = folder / f"new-shard-{shard:06}"  # of a worker that was killed, if it is there
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    facts = _order(task, new)
    (new / FACTS).write_text(json.dumps(facts))
    shutil.rmtree(target, ignore_errors=True)
    new.rename(target)
    return facts


def _order(task: dict[str, Any], new: Path) -> dict[str, Any]:
    folder, shard = Path(task["folder"]), task["shard"]
    mapping = Mapping(**task["mapping"])
    parts = [part_folder(folder, number) for number in range(task["parts"])]
    hashes, users = _users(parts, shard, task["bits"])
    columns = {name: _column(parts, shard, name) for name in COLUMNS}
    part = np.repeat(
        np.arange(len(parts), dtype=np.uint32), [_rows(place, shard) for place in parts]
    )
    ends = np.searchsorted(part, np.arange(1, len(parts)))
    own = zip(users, np.split(columns["user"], ends), strict=True)
    user = np.concatenate([places[number - first] for (first, places), number in own])
    y, x, t, weight = (columns[name] for name in ("y", "x", "t", "weight"))
    timed, weighted = mapping.time is not None, mapping.weight is not None
    again = np.zeros(len(user), bool)
    if task["duplicates"]:
        again = find_repeated(columns["same"], user, y, x, t)
    np.save(new / DUPLICATES, np.column_stack([part[again], columns["row"][again]]))
    keep = ~again
    del part, columns
    plane = mapping.plane_there
    layout = Layout.build(
        user[keep],
        y[keep],
        x[keep],
        t[keep] if timed else None,
        weight[keep] if weighted and (weight[keep] != 1).any() else None,
        None,
        hashes,
        EARTH_STEP if plane is None else plane.step,
        origin_of(mapping),
    )
    layout.save(new / LAYOUT)
    _store_names(parts, shard, task["bits"], hashes, new, task["memory"])
    return {
        "users": len(hashes),
        "rows": int(keep.sum()),
        "duplicates": int(again.sum()),
    }


def _rows(place: Path, shard: int) -> int:
    offsets = np.load(place / "offsets.npy")
    return int((offsets[:, shard + 1] - offsets[:, shard]).sum())


def _column(parts: list[Path], shard: int, name: str) -> np.ndarray[Any, Any]:
    """Return a column of a shard, concatenated over the files; empty if they lack it."""
    values = [np.empty(0, COLUMNS[name])]
    for place in parts:
        file = place / f"{name}.bin"
        if not file.exists() or not file.stat().st_size:
            continue
        whole = np.memmap(file, COLUMNS[name], "r")
        offsets = np.load(place / "offsets.npy")
        values += [whole[piece[shard] : piece[shard + 1]] for piece in offsets]
    return np.concatenate(values)


def _within(place: Path, shard: int, bits: int) -> tuple[slice, np.ndarray[Any, Any]]:
    """Return which of a file's users are in a shard, and their hashes."""
    hashes = np.load(place / "hashes.npy", mmap_mode="r")
    limits = [shard, shard + 1]
    upper = hashes[:, 0] >> np.uint64(64 - bits)
    start, end = np.searchsorted(upper, np.array(limits, np.uint64))
    return slice(int(start), int(end)), np.array(hashes[start:end])


def _users(
    parts: list[Path], shard: int, bits: int
) -> tuple[np.ndarray[Any, Any], list[tuple[int, np.ndarray[Any, Any]]]]:
    """Return the hashes of a shard's users, and each file's user indices among them.

    The places come with the number, within the part, of the first of its users that are there.
    """
    slices, pieces = [], [np.empty((0, 2), np.uint64)]
    for place in parts:
        inside, hashes = _within(place, shard, bits)
        slices.append(inside)
        pieces.append(hashes)
    together = np.concatenate(pieces)
    order = np.lexsort((together[:, 1], together[:, 0]))
    ranked = together[order]
    first = np.ones(len(ranked), bool)
    first[1:] = (ranked[1:] != ranked[:-1]).any(1)
    place_of = np.empty(len(ranked), np.int32)
    place_of[order] = np.cumsum(first) - 1
    own, at = [], 0
    for inside in slices:
        size = inside.stop - inside.start
        own.append((inside.start, place_of[at : at + size]))
        at += size
    return ranked[first], own


def find_repeated(
    same: Any, user: Any, y: Any, x: Any, t: Any
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of rows that repeat an earlier one, in the order of the data set."""
    again = np.zeros(len(same), bool)
    ranked = np.sort(same)
    if not (ranked[1:] == ranked[:-1]).any():  # sorting without an order is three times as fast
        return again
    order = np.argsort(same, kind="stable")
    alike = np.flatnonzero(ranked[1:] == ranked[:-1])
    # only those whose hashes are equal are compared in full
    near = np.unique(np.concatenate([alike, alike + 1]))
    rows = np.sort(order[near])
    facts = np.column_stack([c[rows].astype(np.int64) for c in (user, y, x, t)])
    facts = np.column_stack([facts, same[rows].view(np.int64)])
    _, first = np.unique(facts, axis=0, return_index=True)
    keep = np.zeros(len(rows), bool)
    keep[first] = True
    again[rows[~keep]] = True
    return again


def _store_names(
    parts: list[Path], shard: int, bits: int, hashes: Any, new: Path, memory: int
) -> None:
    """Write the ids of a shard's users in their order, for samples under other seeds."""
    con = connect(None, memory)
    try:
        con.execute("CREATE TABLE found (place INTEGER, name VARCHAR)")
        for place in parts:
            inside, own = _within(place, shard, bits)
            if inside.start == inside.stop:
                continue
            where = _places(hashes, own)
            con.register("numbers", {"place": where})
            con.execute(
                "INSERT INTO found SELECT place, name FROM (SELECT name FROM "
                f"read_parquet({read_file(place / USERS)}, file_row_number=true, "
                "hive_partitioning=false) WHERE file_row_number >= ? AND file_row_number < ? "
                "ORDER BY file_row_number) POSITIONAL JOIN numbers",
                [inside.start, inside.stop],
            )
            con.unregister("numbers")
        names = "SELECT any_value(name) AS name FROM found GROUP BY place ORDER BY place"
        run(con, f"COPY ({names}) TO {written_file(new / USERS)} {PARQUET}", lambda _: None)
    finally:
        con.close()


def _places(hashes: Any, own: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the indices of ascending hashes within a superset."""
    from numpy.lib.recfunctions import unstructured_to_structured

    kind = np.dtype([("upper", "u8"), ("lower", "u8")])
    positions = np.searchsorted(
        unstructured_to_structured(hashes, kind), unstructured_to_structured(own, kind)
    )
    places: np.ndarray[Any, np.dtype[np.int32]] = positions.astype(np.int32)
    return places
