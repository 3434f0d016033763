#!/usr/bin/env python3
"""Install what the tests need into .venv and run everything: lint, types, audit, tests.

    python3 scripts/test.py [PYTEST ARGUMENT ...]

The two small models that the tests use are fetched and verified first; where that
cannot be done, the tests that need them are skipped, which pytest's summary shows.
The arguments are passed on to pytest.
"""

from __future__ import annotations

import subprocess
import sys

import audit
import bootstrap

_CHECKS = (
    ["-m", "ruff", "check"],
    ["-m", "ruff", "format", "--check"],
    ["-m", "mypy"],
)
_MODELS = ("smollm2-135m", "qwen2.5-coder-1.5b")


def main() -> None:
    """Run all checks; the exit code is the first one that is not 0."""
    bootstrap.install("test")
    failed = [code for code in map(_run, _CHECKS) if code]
    for model in _MODELS:
        _run(["-m", "local_react", "pull", model])
    failed += [code for code in (audit.main(),) if code]
    tests = _run(["-m", "pytest", *sys.argv[1:]])
    sys.exit(tests or (failed[0] if failed else 0))


def _run(arguments: list[str]) -> int:
    print("$ python", *arguments, flush=True)
    return subprocess.run(
        [bootstrap.python(), *arguments], cwd=bootstrap.ROOT, check=False
    ).returncode


if __name__ == "__main__":
    main()
