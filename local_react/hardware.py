"""What this machine gives a process: CPUs, memory, GPUs.

Every function that reads Linux's /proc and /sys takes the root of the file tree. Where a
file is missing, as on other systems, there is no limit of that kind.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

ROOT = Path("/")

_NVIDIA, _AMD = "0x10de", "0x1002"
_GPU_VENDORS = {_NVIDIA: "NVIDIA GPU", _AMD: "AMD GPU"}
"""PCI vendors whose cards are worth a build of llama.cpp. Those of virtual machines and
servers' consoles only draw, and on Intel's the CPU is about as fast."""


def usable_cpus(root: Path = ROOT) -> int:
    """Return how many CPUs this process may use: its affinity, and the CPU quota of its
    cgroups, rounded up."""
    allowed = len(_affinity()) or os.cpu_count() or 1
    return max(1, min([allowed, *_quotas(root)]))


def physical_cores(root: Path = ROOT) -> int:
    """Return how many cores the CPUs of this process's affinity are on."""
    cores = {_core(root, cpu) for cpu in _affinity()}
    if cores and "" not in cores:
        return len(cores)
    return max(1, min(psutil.cpu_count(logical=False) or usable_cpus(root), usable_cpus(root)))


def default_threads(root: Path = ROOT) -> int:
    """Return the threads to calculate with: one for each core, because the threads of
    one core share its arithmetic units, and no more than the CPUs there are for us."""
    return min(physical_cores(root), usable_cpus(root))


def available_memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that a new program could have without swapping.

    The page cache counts as available, because it is dropped on demand.
    """
    free = [limit - used for limit, used in _memory_limits(root)]
    free += _address_space()
    return max(0, min([psutil.virtual_memory().available, *free]))


def _address_space() -> list[int]:
    """Return what a limit on the address space (`ulimit -v`) leaves, where there is one:
    native code that meets it may end the process."""
    if sys.platform == "win32":
        return []
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return [] if limit == resource.RLIM_INFINITY else [limit - psutil.Process().memory_info().vms]


def total_memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that this process could have at most."""
    limits = [limit for limit, _ in _memory_limits(root)]
    return min([psutil.virtual_memory().total, *limits])


def gpus(root: Path = ROOT) -> tuple[str, ...]:
    """Return the names of the GPUs that seem to be there, as far as the system tells
    without a driver's library. Each begins with its maker: NVIDIA, AMD or Apple."""
    system = platform.system()
    if system == "Darwin":
        return ("Apple GPU",) if platform.machine() == "arm64" else ()
    if system == "Windows":
        driver = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32" / "nvcuda.dll"
        return ("NVIDIA GPU",) if driver.is_file() or shutil.which("nvidia-smi") else ()
    return tuple(_nvidia_cards(root)) + tuple(_other_cards(root))


def cpu_name(root: Path = ROOT) -> str:
    """Return the name of the CPU for a person, or that of its kind."""
    lines = _read(root / "proc/cpuinfo").splitlines()
    facts = dict(reversed([(key.strip(), value.strip()) for key, _, value in _parted(lines)]))
    for key in ("model name", "Model", "Hardware", "cpu"):
        if facts.get(key):
            return " ".join(facts[key].split())
    return _macos_cpu_name() or platform.processor() or platform.machine() or "unknown CPU"


def cpu_features(root: Path = ROOT) -> frozenset[str] | None:
    """Return what the CPU can do by Linux's names, such as "avx2" and "asimd", None where
    the system does not tell."""
    for key, _, value in _parted(_read(root / "proc/cpuinfo").splitlines()):
        if key.strip() in ("flags", "Features") and value.strip():  # x86, ARM
            return frozenset(value.split())
    return None


def fingerprint(root: Path = ROOT) -> str:
    """Return what stands for this machine where a measurement is kept: CPU, architecture
    and number of usable CPUs."""
    return f"{cpu_name(root)}, {platform.machine()}, {usable_cpus(root)} CPUs"


def _affinity() -> list[int]:
    """Return the CPUs that this process may run on, none where the system has no such
    notion."""
    process = psutil.Process()
    if not hasattr(process, "cpu_affinity"):
        return []
    try:
        return list(process.cpu_affinity() or [])
    except (psutil.Error, OSError):
        return []


def _core(root: Path, cpu: int) -> str:
    """Return what the CPUs of one core have in common, "" where it is not known."""
    topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
    if siblings := _read(topology / "thread_siblings_list"):
        return siblings
    core = _read(topology / "core_id")
    return core and f"package {_read(topology / 'physical_package_id')}, core {core}"


def _quotas(root: Path) -> Iterator[int]:
    """Yield the CPUs that each cgroup of this process may keep busy."""
    for group in _cgroups(root, "cpu"):
        quota, _, period = _read(group / "cpu.max").partition(" ")  # v2
        if not quota:
            quota, period = (_read(group / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        if quota.isdecimal() and period.isdecimal() and int(quota) and int(period):
            yield -(-int(quota) // int(period))


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each cgroup of this process and what is used of it, in bytes,
    without the page cache, which the kernel takes back before it refuses memory."""
    for group in _cgroups(root, "memory"):
        for limit, used, prefix in (
            ("memory.max", "memory.current", ""),  # v2
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
        ):
            bound, taken = _read(group / limit), _read(group / used)
            if bound.isdecimal() and taken.isdecimal():
                cached = _file_pages(_read(group / "memory.stat"), prefix)
                yield int(bound), max(0, int(taken) - cached)


def _file_pages(statistics: str, prefix: str) -> int:
    """Return the bytes of the page cache. The active half counts too: the weights of a
    model that was used before are there."""
    names = (f"{prefix}inactive_file", f"{prefix}active_file")
    pairs = (line.partition(" ") for line in statistics.splitlines())
    return sum(int(value) for name, _, value in pairs if name in names and value.isdecimal())


def _cgroups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the directories of this process's cgroups and of all that they are in, where
    systems have them by custom. Those of version 2 and of the controller's own tree in
    version 1 are tried alike; in a container the last may be the only one."""
    mounted = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            trees = [mounted, mounted / "unified"]
        elif controller in controllers.split(","):
            trees = [mounted / controller]
        else:
            continue
        # A path with ".." leads out of what this process can see.
        parts = [] if ".." in Path(path).parts else Path(path.lstrip("/")).parts
        for tree in trees:
            for depth in range(len(parts), -1, -1):
                yield tree.joinpath(*parts[:depth])


def _nvidia_cards(root: Path) -> Iterator[str]:
    cards = sorted(root.glob("proc/driver/nvidia/gpus/*/information"))
    for card in cards:
        facts = {key.strip(): value.strip() for key, _, value in _parted(_read(card).splitlines())}
        name = facts.get("Model") or "GPU"
        yield name if name.startswith("NVIDIA") else f"NVIDIA {name}"
    # Windows lends its driver to a Linux inside it, and there is no other trace.
    if not cards and (root / "usr/lib/wsl/lib/libcuda.so.1").exists():
        yield "NVIDIA GPU"


def _other_cards(root: Path) -> Iterator[str]:
    named = (root / "proc/driver/nvidia/gpus").is_dir()
    for file in sorted(root.glob("sys/class/drm/card[0-9]*/device/vendor")):
        vendor = _read(file)
        if vendor in _GPU_VENDORS and not (named and vendor == _NVIDIA):
            yield _GPU_VENDORS[vendor]


def _macos_cpu_name() -> str:
    if platform.system() != "Darwin":
        return ""
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _parted(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    return (line.partition(":") for line in lines)


def _read(path: Path) -> str:
    """Return a small file's text without the space around it, "" where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
