"""Libraries that would write to the terminal of themselves."""

from __future__ import annotations

import logging


def quiet(*libraries: str) -> None:
    """Leave the libraries' log to whoever asks for it: without a handler, Python would
    print their warnings."""
    for library in libraries:
        logger = logging.getLogger(library)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
