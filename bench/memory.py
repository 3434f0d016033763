#!/usr/bin/env python3
"""How much memory does a model take?

    python bench/memory.py [--model NAME ...] [--check]

For each model that is present a process of its own loads it, reads the instructions, and
writes under the grammar; the most memory that it had is set against the file and the
cache of a full context, which nothing can do without.
With --check the exit code is 1 where it is more than 300 MB beyond those.
"""

from __future__ import annotations

from common import names, parser, run, verdict

from local_react.benchmark import speed_in_child

BAR = 300_000_000


def main() -> int:
    """Run the bench; return the exit code."""
    options = parser(__doc__).parse_args()
    missed = []
    print(f"{'model':<36} {'repack':>6} {'file':>6} {'cache':>6} {'peak':>6} {'beyond':>6}   (MB)")
    for name in names(options):
        for repack in (False, True):
            found = speed_in_child(name, threads=None, repack=repack)
            beyond = found.peak_bytes - found.file_bytes - found.cache_bytes
            figures = (found.file_bytes, found.cache_bytes, found.peak_bytes, beyond)
            label = name.rsplit("/", 1)[-1]
            print(
                f"{label:<36} {'yes' if repack else 'no':>6} "
                + " ".join(f"{bytes_ / 1e6:>6.0f}" for bytes_ in figures),
                flush=True,
            )
            if beyond > BAR:
                missed.append(f"{label}: {beyond / 1e6:.0f} MB beyond file and cache")
    return verdict([f"{line}, above {BAR / 1e6:.0f}" for line in missed], options)


if __name__ == "__main__":
    run(main)
