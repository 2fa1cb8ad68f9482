"""Limits of memory, disk space and open files."""

import re
import resource
import shutil
from contextlib import suppress
from pathlib import Path

from explorer import bounded

MB = 1_000_000
MIN, MAX = 512 * MB, 8_000 * MB
SHARE = 4
"""A database gets 1/SHARE of the free memory."""

WORKER_SHARE = 0.6
"""Share of a worker's memory for its database; libraries and arrays use the rest."""

MAX_SPILLED = 64_000 * MB

_USUAL_FILES = 1024
"""Files a program has open besides memory-mapped ones."""

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")


def database_bytes() -> int:
    """Return the memory limit of a database in bytes: a quarter of the free memory.

    Free memory is the minimum of the machine's, the container's and the limit of this process.
    In a worker of `explorer.bounded` it is a share of the worker's limit.
    """
    limit = bounded.memory_limit()
    if limit is not None:
        return int(WORKER_SHARE * limit)
    free = min([_free_in_machine(), *_free_in_groups(), *_free_in_process()])
    return min(max(free // SHARE, MIN), MAX)


def allow_files(more: int) -> None:
    """Raise this process's limit of open files by `more`, as far as the system permits.

    A file that is mapped counts as open, and 1,024 are what most systems start a program with.
    """
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _USUAL_FILES + more
    if now == resource.RLIM_INFINITY or now >= wanted:
        return
    allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    with suppress(OSError, ValueError):  # then opening says which file was one too many
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, allowed), most))


def spill_bytes(folder: Path) -> int:
    """Return the disk space in bytes a database may use: half of the free space."""
    return min(shutil.disk_usage(folder).free // 2, MAX_SPILLED)


def format_bytes(count: float) -> str:
    """Format a number of bytes: ``512 MB``, ``1.2 GB``."""
    if count < 999.5 * MB:
        return f"{count / MB:,.0f} MB" if count >= MB else f"{count / 1000:,.0f} kB"
    return f"{count / (1000 * MB):,.1f} GB"


def out_of_memory(name: str, message: str, doing: str, allowed: int) -> str:
    """Return the message for a file whose rows exceed memory or disk.

    Parameters
    ----------
    name : str
        Of the file.
    message : str
        Of the database.
    doing : str
        The current step, as the subject of a sentence.
    allowed : int
        Bytes of memory that the database might use.
    """
    sizes = re.search(r"of size ([\d.]+ \w+) \(([\d.]+ \w+)/([\d.]+ \w+) used\)", message)
    needed = f": {sizes[1]} more were needed when {sizes[2]} were in use" if sizes else ""
    if "temp_directory" in message or "offload" in message:
        return (
            f"{name} needs more disk space: {doing} filled {format_bytes(allowed)} of memory and "
            f"the space for temporary files{needed}. Free space on the disk of the cache folder, "
            "or open a part of the file."
        )
    return (
        f"{name} needs more memory than there is: {doing} was allowed {format_bytes(allowed)}, a "
        f"quarter of what was free{needed}. Close other programs, or open a part of the file."
    )


def _free_in_machine() -> int:
    import psutil

    return int(psutil.virtual_memory().available)


def _free_in_groups() -> list[int]:
    """Return the free memory of each control group with a limit."""
    try:
        lines = _OWN_GROUP.read_text().splitlines()
    except OSError:
        return []
    free_bytes = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            names, base = ("memory.max", "memory.current"), _GROUPS
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            base = _GROUPS / "memory"
        else:
            continue
        own = base / path.strip("/")
        for group in (own, *own.parents):
            free = _free_in_group(group, *names)
            if free is not None:
                free_bytes.append(free)
            if group == base:
                break
    return free_bytes


def _free_in_group(group: Path, limit: str, usage: str) -> int | None:
    try:
        most = (group / limit).read_text().strip()
        used = int((group / usage).read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    if not most.isdecimal():  # "max"
        return None
    files = int(stat.get("inactive_file", 0)) + int(stat.get("active_file", 0))
    return max(int(most) - max(used - files, 0), 0)


def _free_in_process() -> list[int]:
    """Return the free address space of this process, if it is limited."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return []
    import psutil

    return [max(limit - int(psutil.Process().memory_info().vms), 0)]
