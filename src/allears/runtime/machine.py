"""What this machine has: physical cores, and memory that a model may take. None or a guess where it does not say."""

from __future__ import annotations

import os
from pathlib import Path

from allears.runtime.side_by_side import cores

_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def physical_cores() -> int:
    """Cores that this process may use, each counted once however many threads it runs."""
    if not hasattr(os, "sched_getaffinity"):
        return cores()
    try:
        return len({Path(_SIBLINGS.format(each)).read_text() for each in os.sched_getaffinity(0)})
    except OSError:
        return cores()


def free_memory() -> int | None:
    """Bytes that can be had without swapping, a container's limit included."""
    found = [
        each for each in (_available(Path("/proc/meminfo")), _left_to_group(Path("/sys/fs/cgroup"))) if each
    ]
    return min(found, default=None)


def _available(meminfo: Path) -> int | None:
    try:
        for line in meminfo.read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    return None


def _left_to_group(folder: Path) -> int | None:
    """What a control group may still take; pages of files that it would give back count as free."""
    try:
        limit, used = ((folder / name).read_text().strip() for name in ("memory.max", "memory.current"))
        rows = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return None if limit == "max" else int(limit) - int(used) + int(rows.get("inactive_file", 0))
    except (OSError, ValueError):
        return None
