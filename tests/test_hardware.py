"""What the machine gives: read from made-up /proc and /sys trees."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from local_react import hardware

GIB = 2**30
NO_LIMIT = "9223372036854771712"
"""What version 1 of cgroups has where there is no limit."""

Affinity = Callable[[int], None]


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture(autouse=True)
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Linux on x86 with 64 GiB of memory, 48 of them available."""
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    memory = SimpleNamespace(total=64 * GIB, available=48 * GIB)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)


@pytest.fixture
def affinity(monkeypatch: pytest.MonkeyPatch) -> Affinity:
    """Return a function that gives this process so many CPUs, from the first."""

    def give(count: int) -> None:
        cpus = list(range(count))
        monkeypatch.setattr("psutil.Process.cpu_affinity", lambda _: cpus, raising=False)

    return give


# CPUs


@pytest.mark.parametrize(
    ("files", "usable"),
    [
        ({}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "6400000 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "damaged\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "100000 0\n"}, 8),
        # The limit of a group holds for all in it.
        (
            {
                "proc/self/cgroup": "0::/a.slice/b.scope\n",
                "sys/fs/cgroup/a.slice/cpu.max": "200000 100000\n",
                "sys/fs/cgroup/a.slice/b.scope/cpu.max": "400000 100000\n",
            },
            2,
        ),
        # Version 1: at the process's path, or at the top, as containers see it.
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/x\n0::/\n",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "150000\n",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/docker/0123\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            8,
        ),
        # Another controller's limit is none of the CPUs'.
        ({"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/cpu/cpu.max": "100000 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/../..\n", "sys/fs/cgroup/cpu.max": "100000 100000\n"}, 1),
        ({"proc/self/cgroup": "not a cgroup line\n\n"}, 8),
    ],
)
def test_usable_cpus_are_those_of_the_affinity_within_the_quota(
    tmp_path: Path, affinity: Affinity, files: dict[str, str], usable: int
) -> None:
    affinity(8)
    assert hardware.usable_cpus(tree(tmp_path, files)) == usable


@pytest.mark.parametrize("count", [5, None])
def test_without_affinity_all_cpus_are_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int | None
) -> None:
    monkeypatch.delattr("psutil.Process.cpu_affinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: count)
    assert hardware.usable_cpus(tmp_path) == (count or 1)


def test_an_affinity_that_may_not_be_asked_for_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> list[int]:
        raise psutil.AccessDenied(1)

    monkeypatch.setattr("psutil.Process.cpu_affinity", refuse, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert hardware.usable_cpus(tmp_path) == 3


def topology(file: str, of_cpu: Callable[[int], str], count: int = 8) -> dict[str, str]:
    return {f"sys/devices/system/cpu/cpu{n}/topology/{file}": of_cpu(n) for n in range(count)}


SIBLINGS = topology("thread_siblings_list", lambda n: f"{n % 4},{n % 4 + 4}\n")
"""Eight CPUs on four cores, numbered as Intel does: the second threads come last."""
NEIGHBOURS = topology("thread_siblings_list", lambda n: f"{n // 2 * 2}-{n // 2 * 2 + 1}\n")
PACKAGES = topology("core_id", lambda n: f"{n % 2}\n") | topology(
    "physical_package_id", lambda n: f"{n // 4}\n"
)
"""Eight CPUs, two packages, each with the cores 0 and 1."""


@pytest.mark.parametrize(
    ("files", "cpus", "cores"),
    [
        (SIBLINGS, 8, 4),
        (SIBLINGS, 4, 4),
        (SIBLINGS, 3, 3),
        (NEIGHBOURS, 8, 4),
        (NEIGHBOURS, 3, 2),
        (PACKAGES, 8, 4),
        (PACKAGES, 4, 2),
        (topology("thread_siblings_list", lambda n: f"{n}\n"), 8, 8),
    ],
)
def test_physical_cores_are_those_under_the_usable_cpus(
    tmp_path: Path, affinity: Affinity, files: dict[str, str], cpus: int, cores: int
) -> None:
    affinity(cpus)
    root = tree(tmp_path, files)
    assert hardware.physical_cores(root) == cores
    assert hardware.default_threads(root) == cores


def test_the_quota_caps_the_threads_and_not_the_cores(tmp_path: Path, affinity: Affinity) -> None:
    affinity(8)
    limit = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}
    root = tree(tmp_path, {**SIBLINGS, **limit})
    assert hardware.physical_cores(root) == 4
    assert hardware.default_threads(root) == 2


@pytest.mark.parametrize(
    ("told", "cpus", "threads"), [(6, 12, 6), (6, 4, 4), (None, 4, 4), (0, 2, 2)]
)
def test_without_a_topology_psutil_tells_the_cores(
    tmp_path: Path,
    affinity: Affinity,
    monkeypatch: pytest.MonkeyPatch,
    told: int | None,
    cpus: int,
    threads: int,
) -> None:
    affinity(cpus)
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: None if logical else told)
    assert hardware.default_threads(tmp_path) == threads
    # One CPU without its files makes the others' of no use.
    part = tree(tmp_path, topology("thread_siblings_list", lambda n: f"{n}\n", cpus - 1))
    assert hardware.default_threads(part) == threads


# Memory


def v2(path: str, limit: int | str, used: int, **stat: int) -> dict[str, str]:
    lines = "".join(f"{name} {value}\n" for name, value in {"anon": 1, **stat}.items())
    return {
        f"sys/fs/cgroup{path}/memory.max": f"{limit}\n",
        f"sys/fs/cgroup{path}/memory.current": f"{used}\n",
        f"sys/fs/cgroup{path}/memory.stat": lines,
    }


def v1(path: str, limit: int | str, used: int, **stat: int) -> dict[str, str]:
    lines = "".join(f"{name} {value}\n" for name, value in {"inactive_file": 7, **stat}.items())
    return {
        f"sys/fs/cgroup/memory{path}/memory.limit_in_bytes": f"{limit}\n",
        f"sys/fs/cgroup/memory{path}/memory.usage_in_bytes": f"{used}\n",
        f"sys/fs/cgroup/memory{path}/memory.stat": lines,
    }


TOP = {"proc/self/cgroup": "0::/\n"}
SERVICE = {"proc/self/cgroup": "0::/a.slice/b.service\n"}
OLD = {"proc/self/cgroup": "9:memory:/docker/0123\n0::/\n"}


@pytest.mark.parametrize(
    ("files", "available", "total"),
    [
        ({}, 48 * GIB, 64 * GIB),
        ({**TOP, **v2("", "max", GIB)}, 48 * GIB, 64 * GIB),
        ({**TOP, **v2("", 8 * GIB, 3 * GIB)}, 5 * GIB, 8 * GIB),
        ({**TOP, **v2("", 100 * GIB, 3 * GIB)}, 48 * GIB, 64 * GIB),
        # What the page cache holds is given back on demand, and only that.
        (
            {**TOP, **v2("", 8 * GIB, 7 * GIB, inactive_file=2 * GIB, active_file=3 * GIB)},
            6 * GIB,
            8 * GIB,
        ),
        ({**TOP, **v2("", 8 * GIB, 7 * GIB, file=5 * GIB, shmem=5 * GIB)}, GIB, 8 * GIB),
        ({**TOP, **v2("", 8 * GIB, 9 * GIB)}, 0, 8 * GIB),
        ({**TOP, **v2("", 8 * GIB, GIB, inactive_file=2 * GIB)}, 8 * GIB, 8 * GIB),
        # The tightest of the groups counts.
        (
            {
                **SERVICE,
                **v2("/a.slice", 10 * GIB, 8 * GIB),
                **v2("/a.slice/b.service", 4 * GIB, GIB),
            },
            2 * GIB,
            4 * GIB,
        ),
        # Version 1, in a container and on the host.
        ({**OLD, **v1("", 4 * GIB, 3 * GIB, total_inactive_file=GIB)}, 2 * GIB, 4 * GIB),
        (
            {**OLD, **v1("", NO_LIMIT, 9 * GIB), **v1("/docker/0123", 4 * GIB, GIB)},
            3 * GIB,
            4 * GIB,
        ),
        ({**OLD, **v1("", NO_LIMIT, 9 * GIB)}, 48 * GIB, 64 * GIB),
        ({**TOP, "sys/fs/cgroup/memory.max": "damaged\n"}, 48 * GIB, 64 * GIB),
        ({**TOP, "sys/fs/cgroup/memory.max": f"{GIB}\n"}, 48 * GIB, 64 * GIB),
    ],
)
def test_memory_is_capped_by_the_limits_of_the_cgroups(
    tmp_path: Path, files: dict[str, str], available: int, total: int
) -> None:
    root = tree(tmp_path, files)
    assert hardware.available_memory(root) == available
    assert hardware.total_memory(root) == total


# GPUs


def card(number: int, vendor: str) -> dict[str, str]:
    return {f"sys/class/drm/card{number}/device/vendor": f"{vendor}\n"}


NVIDIA = {
    "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA GeForce RTX 3060\n"
    "IRQ:   \t\t 165\nGPU UUID: \t GPU-0\n"
}


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({}, ()),
        (NVIDIA, ("NVIDIA GeForce RTX 3060",)),
        ({**NVIDIA, **card(0, "0x10de")}, ("NVIDIA GeForce RTX 3060",)),
        ({**NVIDIA, **card(0, "0x1002")}, ("NVIDIA GeForce RTX 3060", "AMD GPU")),
        (
            {"proc/driver/nvidia/gpus/0/information": "Model: Tesla T4\n"},
            ("NVIDIA Tesla T4",),
        ),
        ({"proc/driver/nvidia/gpus/0/information": "\n"}, ("NVIDIA GPU",)),
        (card(0, "0x10de"), ("NVIDIA GPU",)),
        (card(1, "0x1002"), ("AMD GPU",)),
        (card(0, "0x8086"), ()),  # Intel
        (card(0, "0x1af4") | card(1, "0x1a03") | card(2, "0x15ad"), ()),  # virtual, consoles
        (card(0, "0x1013") | card(1, "0x1b36") | card(2, "0x1414"), ()),
        # A connector is no card of its own.
        (card(0, "0x1002") | {"sys/class/drm/card0-DP-1/device/uevent": ""}, ("AMD GPU",)),
        ({"sys/class/drm/renderD128/device/vendor": "0x1002\n"}, ()),
        ({"usr/lib/wsl/lib/libcuda.so.1": ""}, ("NVIDIA GPU",)),
    ],
)
def test_gpus_of_linux(tmp_path: Path, files: dict[str, str], names: tuple[str, ...]) -> None:
    assert hardware.gpus(tree(tmp_path, files)) == names


@pytest.mark.parametrize(("machine", "names"), [("arm64", ("Apple GPU",)), ("x86_64", ())])
def test_gpus_of_macos(
    monkeypatch: pytest.MonkeyPatch, machine: str, names: tuple[str, ...]
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert hardware.gpus() == names


def test_gpus_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Windows")
    monkeypatch.setenv("SYSTEMROOT", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert hardware.gpus() == ()
    monkeypatch.setattr("shutil.which", lambda name: name if name == "nvidia-smi" else None)
    assert hardware.gpus() == ("NVIDIA GPU",)
    monkeypatch.setattr("shutil.which", lambda _: None)
    tree(tmp_path, {"System32/nvcuda.dll": ""})
    assert hardware.gpus() == ("NVIDIA GPU",)


# Names


@pytest.mark.parametrize(
    ("cpuinfo", "name"),
    [
        ("processor\t: 0\nmodel\t\t: 17\nmodel name\t: A  CPU\n\nmodel name\t: B\n", "A CPU"),
        ("processor\t: 0\nCPU part\t: 0xd08\n\nModel\t\t: Raspberry Pi 4\n", "Raspberry Pi 4"),
        ("processor\t: 0\nCPU part\t: 0xd08\n", "fallback"),
        ("", "fallback"),
    ],
)
def test_the_name_of_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpuinfo: str, name: str
) -> None:
    monkeypatch.setattr("platform.processor", lambda: "fallback")
    assert hardware.cpu_name(tree(tmp_path, {"proc/cpuinfo": cpuinfo})) == name


def test_the_name_of_the_cpu_on_macos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr("platform.processor", lambda: "arm")
    done = subprocess.CompletedProcess([], 0, stdout="Apple M3\n", stderr="")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: done)
    assert hardware.cpu_name(tmp_path) == "Apple M3"

    def fail(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("subprocess.run", fail)
    assert hardware.cpu_name(tmp_path) == "arm"


def test_the_fingerprint_tells_machines_apart(tmp_path: Path, affinity: Affinity) -> None:
    root = tree(tmp_path, {"proc/cpuinfo": "model name\t: A CPU\n"})
    affinity(8)
    assert hardware.fingerprint(root) == "A CPU, x86_64, 8 CPUs"
    affinity(4)
    assert hardware.fingerprint(root) == "A CPU, x86_64, 4 CPUs"


def test_this_machine_has_what_every_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert 1 <= hardware.default_threads() <= hardware.usable_cpus()
    assert 0 < hardware.available_memory() <= hardware.total_memory()
    assert hardware.fingerprint() == hardware.fingerprint()
    assert isinstance(hardware.gpus(), tuple)


@pytest.mark.parametrize(
    ("cpuinfo", "features"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx2  fma\n\nprocessor\t: 1\n", {"fpu", "avx2", "fma"}),
        ("processor\t: 0\nFeatures\t: fp asimd\n", {"fp", "asimd"}),
        ("processor\t: 0\nflags\t\t:\n", None),
        ("processor\t: 0\nvmx flags\t: avx2\n", None),
        ("", None),
    ],
)
def test_what_the_cpu_can_do(tmp_path: Path, cpuinfo: str, features: set[str] | None) -> None:
    assert hardware.cpu_features(tree(tmp_path, {"proc/cpuinfo": cpuinfo})) == features
