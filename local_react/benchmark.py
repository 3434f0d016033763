"""How fast a model is on this machine: what `local-react bench` and bench/ measure.

    python -m local_react.benchmark MODEL --threads 2 --repack off

prints the Speed of a model that is loaded so, as JSON: a process of its own for each
way to load it, because the most memory that a process has taken never goes down.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from local_react import protocol
from local_react.backends.llama import LlamaModel
from local_react.backends.llama.measure import bare_seconds, our_seconds
from local_react.core import Sampling
from local_react.errors import LocalReactError, ModelError
from local_react.network import Network
from local_react.tools import builtin_tools

QUESTION = "Explain, step by step, how a bicycle stays upright, and then compute 12 * 7."


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured of a model that was loaded in one way."""

    threads: int
    repack: bool
    load_seconds: float
    read_rate: float
    """Tokens of a prompt read in a second."""
    bare_rate: float
    """Tokens written in a second by llama_decode alone."""
    write_rate: float
    """Tokens written in a second under the grammar of a step."""
    peak_bytes: int
    """The most memory that the process had."""
    file_bytes: int
    cache_bytes: int
    """Of the context's keys and values, as they are when the context is full."""

    @property
    def question_seconds(self) -> float:
        """Return what a typical question takes: loading, reading a question and two
        observations (100 tokens), and writing two steps (100 tokens)."""
        return self.load_seconds + 100 / self.read_rate + 100 / self.write_rate


@dataclass(frozen=True, slots=True)
class Pair:
    """How long the same tokens took us, and llama_decode alone: medians over rounds."""

    ours: float
    """Seconds a token, of all sequences together."""
    bare: float
    """Seconds a token."""
    ratio: float
    """Our speed as a share of the bare one, each round by itself."""


def compare(
    model: LlamaModel,
    *,
    sequences: int = 1,
    tokens: int = 64,
    rounds: int = 5,
    temperature: float = 0.0,
) -> Pair:
    """Return how long it takes to write so many tokens of each of so many replies at the
    same time under the grammar of all built-in tools, and how long llama_decode alone
    takes to read the same tokens, in turn. The first round is not counted."""
    tools = builtin_tools(Network("allow"))
    grammar = protocol.step_grammar(tools)
    context = model.start(protocol.opening(tools, QUESTION), fixed=True)
    ours, bare = [], []
    for number in range(rounds + 1):
        # A seed of its own for each, so that the replies differ where they can.
        seeds = range(number * sequences, (number + 1) * sequences)
        samplings = [Sampling(temperature, seed) for seed in seeds]
        seconds, replies = our_seconds(model, context, [(grammar, s, tokens) for s in samplings])
        again = bare_seconds(model, context, replies)
        if number:
            read = sum(len(reply) + 1 for reply in replies)
            ours.append(seconds / read)
            bare.append(again / read)
    ratios = [b / o for b, o in zip(bare, ours, strict=True)]
    return Pair(median(ours), median(bare), median(ratios))


def speed(name: str, *, threads: int | None, repack: bool | None, rounds: int = 3) -> Speed:
    """Return what a model does in this process. Nothing is taken from an earlier one."""
    started = perf_counter()
    with LlamaModel(name, threads=threads, repack=repack, warm_start=False) as model:
        loaded = perf_counter()
        context = model.start(
            protocol.opening(builtin_tools(Network("allow")), QUESTION), fixed=True
        )
        before = perf_counter()
        context.fork(1)
        read = perf_counter()
        pair = compare(model, rounds=rounds)
        return Speed(
            threads=model.threads,
            repack=model.repack,
            load_seconds=loaded - started,
            read_rate=context.usage.evaluated / (read - before),
            bare_rate=1 / pair.bare,
            write_rate=1 / pair.ours,
            peak_bytes=_peak_memory(),
            file_bytes=model.path.stat().st_size,
            cache_bytes=model.memory.cache,
        )


def speed_in_child(name: str, *, threads: int | None, repack: bool | None) -> Speed:
    """Return what a model does in a process of its own.

    Raises ModelError, with what the process said, where it failed.
    """
    command = _python("local_react.benchmark")
    command += ["--threads", str(threads)] if threads else []
    command += [] if repack is None else ["--repack", "on" if repack else "off"]
    done = subprocess.run([*command, "--", name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [_ended(done.returncode)])[-1]
        raise ModelError(f"{name} could not be measured: {said}")
    return Speed(**json.loads(done.stdout))


def _python(module: str) -> list[str]:
    """Return the command that runs a module with the packages of this process. `-m` would
    take a file of the same name as one of them from the current directory first."""
    code = f"import sys; sys.path[:] = {sys.path!r}; import runpy; "
    return [sys.executable, "-c", f"{code}runpy.run_module({module!r}, None, '__main__', True)"]


def _ended(code: int) -> str:
    """Return how a process ended that said nothing, as subprocess has its exit code."""
    if code < 0:
        return f"it was ended by signal {-code}, maybe because memory ran out"
    return f"exit code {code}"


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Seconds from the start of a `local-react` process to the first token that it shows:
    with an empty cache, and with what that process left in it. Medians."""

    cold: float
    warm: float
    cold_parts: Parts
    warm_parts: Parts

    @property
    def ratio(self) -> float:
        """Return the warm start's share of the cold one."""
        return self.warm / self.cold


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the seconds went. Medians, each for itself."""

    model: float
    """To load the model and make its context."""
    instructions: float
    """To read the instructions and tools, or to fetch what was made of them."""
    rest: float
    """Python's start, imports, and reading the question."""


def warm_start(name: str, options: Sequence[str] = (), rounds: int = 3) -> WarmStart:
    """Return what a warm start saves: whole processes, each pair with a cache of its own.

    Raises ModelError, with what the process said, where one shows no token.
    """
    cold, warm = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_first_token(name, options, cache))
            warm.append(_first_token(name, options, cache))
    return WarmStart(
        median(seconds for seconds, _ in cold),
        median(seconds for seconds, _ in warm),
        _median_parts([parts for _, parts in cold]),
        _median_parts([parts for _, parts in warm]),
    )


def _median_parts(parts: Sequence[Parts]) -> Parts:
    return Parts(*(median(values) for values in zip(*map(astuple, parts), strict=True)))


_SAID = re.compile(
    r"first token after .*: model (?P<model>[\d.]+), instructions (?P<instructions>[\d.]+) "
)
"""What `local-react -v` says before it shows the first token."""


def _first_token(name: str, options: Sequence[str], cache: str) -> tuple[float, Parts]:
    """Return the seconds until a new process shows its first token, and their parts."""
    command = [*_python("local_react"), "-v", f"--model={name}", *options, "--", QUESTION]
    environment = {**os.environ, "LOCAL_REACT_CACHE": cache, "PYTHONUNBUFFERED": "1"}
    started = perf_counter()
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        assert process.stderr is not None
        line = ""
        for line in process.stderr:
            if said := _SAID.search(line):
                seconds = perf_counter() - started
                model, instructions = float(said["model"]), float(said["instructions"])
                return seconds, Parts(model, instructions, seconds - model - instructions)
        process.wait()
    finally:  # its part is done, or Ctrl-C was pressed
        process.kill()
        process.communicate()
    why = line.strip().removeprefix("local-react: ") or _ended(process.returncode)
    raise ModelError(f"{name} could not be measured: {why}")


def _peak_memory() -> int:
    """Return the most bytes of memory that this process has had."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    # On Linux getrusage has the peak of the process that started this one in it.
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        if found := re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE):
            return int(found[1]) * 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most if sys.platform == "darwin" else most * 1024)


def main() -> int:
    """Measure one way to load a model, and print it as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repack", choices=("on", "off"))
    options = parser.parse_args()
    repack = None if options.repack is None else options.repack == "on"
    try:
        found = speed(options.model, threads=options.threads, repack=repack)
    except LocalReactError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(json.dumps(asdict(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
