#!/usr/bin/env python3
"""How many questions are answered right, by the agent and by the model alone?

    python bench/quality/run.py --set gsm8k --set svamp --arm cot --arm agent --n 100 \\
        --together 16 --out FILE [--check]

It is `local-react eval`, whose --help tells of the sets and the arms, and bars: with
--check the exit code is 1 where a figure misses its own (bars.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import run, verdict

from local_react.cli.evaluate import evaluation_options, measured, report
from quality.bars import missed


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--set", "sets", multiple=True, metavar="SET|FILE", help="May be repeated.")
@click.option("--check", is_flag=True, help="Exit 1 where a bar is missed.")
@evaluation_options
def quality(sets: tuple[str, ...], check: bool, **options: Any) -> int:
    """How many questions are answered right, by the agent and by the model alone?"""
    rows, code = measured(sets, options)
    print(report(rows))
    print()
    return code or verdict(missed(rows), argparse.Namespace(check=check))


def main() -> int:
    """Run the bench; return the exit code."""
    try:
        return int(quality.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code


if __name__ == "__main__":
    run(main)
