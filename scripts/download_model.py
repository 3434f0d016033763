#!/usr/bin/env python3
"""Fetch and verify a model: a thin shell over local_react.download.

    python3 scripts/download_model.py [NAME] [--list] [--source hub|index|FILE]
                                      [--dir DIR] [--verify] [--force]

The arguments are those of `local-react pull`, which does the work.
"""

from __future__ import annotations

import sys

import bootstrap

if __name__ == "__main__":
    bootstrap.install()
    bootstrap.become(["-m", "local_react", "pull", *sys.argv[1:]])
