"""The second step of an import: a shard's rows of all parts become a layout.

Safe to repeat: what is written appears, whole, by one renaming.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.database import connect, read_file, run, written_file
from explorer.checkins.layout import Layout
from explorer.checkins.model import Mapping
from explorer.checkins.rows import PARQUET
from explorer.checkins.shards.split import COLUMNS, FACTS, origin_of, part_folder
from explorer.user_rows import EARTH_STEP

USERS, DUPLICATES, LAYOUT = "users.parquet", "duplicates.npy", "layout"


def shard_folder(folder: Path, shard: int) -> Path:
    """Return where a shard is."""
    return folder / f"shard-{shard:06}"


def order_shard(task: dict[str, Any]) -> dict[str, Any]:
    """Put the rows of a shard into the order of their users' hashes, without duplicates.

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
        again = repeated(columns["same"], user, y, x, t)
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
    """Return a column of a shard, part after part; an empty one that the parts have not."""
    found = [np.empty(0, COLUMNS[name])]
    for place in parts:
        file = place / f"{name}.bin"
        if not file.exists() or not file.stat().st_size:
            continue
        whole = np.memmap(file, COLUMNS[name], "r")
        offsets = np.load(place / "offsets.npy")
        found += [whole[piece[shard] : piece[shard + 1]] for piece in offsets]
    return np.concatenate(found)


def _within(place: Path, shard: int, bits: int) -> tuple[slice, np.ndarray[Any, Any]]:
    """Return which of a part's users are in a shard, and their hashes."""
    hashes = np.load(place / "hashes.npy", mmap_mode="r")
    limits = [shard, shard + 1]
    upper = hashes[:, 0] >> np.uint64(64 - bits)
    start, end = np.searchsorted(upper, np.array(limits, np.uint64))
    return slice(int(start), int(end)), np.array(hashes[start:end])


def _users(
    parts: list[Path], shard: int, bits: int
) -> tuple[np.ndarray[Any, Any], list[tuple[int, np.ndarray[Any, Any]]]]:
    """Return the hashes of a shard's users, and of every part its users' places among them.

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


def repeated(same: Any, user: Any, y: Any, x: Any, t: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell which rows repeat an earlier one; rows are in the order of the data set."""
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
    """Write the ids of a shard's users, in their order: for samples under other seeds."""
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
    """Return the places of some hashes, ascending, among others that hold them all."""
    from numpy.lib.recfunctions import unstructured_to_structured

    kind = np.dtype([("upper", "u8"), ("lower", "u8")])
    found = np.searchsorted(
        unstructured_to_structured(hashes, kind), unstructured_to_structured(own, kind)
    )
    places: np.ndarray[Any, np.dtype[np.int32]] = found.astype(np.int32)
    return places
