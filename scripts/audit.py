#!/usr/bin/env python3
"""Ask the advisory database about every package of the lock file.

    python3 scripts/audit.py

The exit code is 1 where one has a known vulnerability. Where the database cannot be asked,
or does not know a package, that is said in a line that begins with SKIPPED, and is no failure:
tests run without a network, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import bootstrap

_SECONDS = 120
_ANSWER_SECONDS = 10
"""For one answer: whoever does not come by then does not come."""


def main() -> int:
    """Print what was found, and return the exit code."""
    command = [
        *(bootstrap.python(), "-m", "pip_audit", "-r", str(bootstrap.LOCK), "--require-hashes"),
        *("--disable-pip", "--format", "json", "--progress-spinner", "off"),
        *("--timeout", str(_ANSWER_SECONDS)),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return skipped(str(error))
    return judged(done.stdout, done.stderr)


def judged(answer: str, complaints: str) -> int:
    """Print what pip-audit's answer says, and return the exit code."""
    try:
        packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return skipped((complaints.strip().splitlines() or ["it gave no reason"])[-1])
    found = [
        f"{package['name']} {package['version']}: {flaw['id']}, mended in {flaw['fix_versions']}"
        for package in packages
        for flaw in package.get("vulns", ())
    ]
    for line in found:
        print(line)
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    if unknown or not packages:
        skipped(f"{len(unknown)} of {len(packages)} packages are unknown to the database")
    print(f"{len(packages) - len(unknown)} packages audited, {len(found)} known vulnerabilities")
    return 1 if found else 0


def skipped(reason: str) -> int:
    """Say that not all was audited, and why; return the exit code."""
    print(f"SKIPPED, the audit of the dependencies: {reason[:300]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
