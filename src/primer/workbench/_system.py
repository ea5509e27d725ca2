"""What this computer says about itself: processors, caches, memory, its model name."""

import os
import platform
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
MEMINFO = Path("/proc/meminfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
QUOTA = Path("/sys/fs/cgroup/cpu.max")
X86 = ("x86_64", "amd64", "i386", "i686", "x86")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""


def n_visible_cpus() -> int:
    """Processors on which this program may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_cpus() -> int:
    """The same, cut to the share that a container is given, at least 1."""
    quota, _, period = _read(QUOTA).strip().partition(" ")
    if quota.isdigit() and period.isdigit() and int(period) > 0:
        return max(1, min(n_visible_cpus(), int(quota) // int(period)))
    return n_visible_cpus()


def cpu_name() -> str:
    """Model name of the processor; its architecture where the system does not tell."""
    for line in _read(CPUINFO).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return f"{platform.machine() or 'unknown'} processor"


def cpu_hz() -> float | None:
    """The clock that the system reports now, float [Hz]; it is neither pinned nor the boost."""
    for line in _read(CPUINFO).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "cpu MHz":
            return float(value) * 1e6
    return None


def cpu_flags() -> frozenset[str]:
    """Instruction set extensions, as Linux names them."""
    for line in _read(CPUINFO).splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()


def fetches_before_writing() -> bool:
    """Whether ordinary stores fetch the line first: x86 does, ARM cores stream long runs."""
    return platform.machine().lower() in X86


def last_cache_bytes() -> int | None:
    """Size of the largest cache of one processor, int [B]; None where unknown."""
    sizes = [_cache_size(_read(index / "size")) for index in CACHES.glob("index*")]
    return max(sizes, default=0) or None


def _cache_size(text: str) -> int:
    """Bytes of "32768K", 0 if it cannot be read.

    >>> _cache_size("32K"), _cache_size("16M"), _cache_size("")
    (32768, 16777216, 0)
    """
    text = text.strip()
    factor = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    return int(digits) * factor if digits.isdigit() else 0


def available_bytes() -> int | None:
    """Memory that can be had without swapping, int [B]; None where unknown."""
    return _meminfo("MemAvailable")


def memory_bytes() -> int | None:
    """Memory of this computer, used or not, int [B]; None where unknown."""
    if (known := _meminfo("MemTotal")) is not None:
        return known
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _meminfo(key: str) -> int | None:
    for line in _read(MEMINFO).splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 2**10
    return None
