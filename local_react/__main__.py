"""`python -m local_react` is `local-react`."""

import os
import sys

# Python puts the folder in which somebody works before all others, as it does not for
# `local-react`: a file of that folder named as a library is none, and is not run.
if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    _here = sys.path.pop(0)
    if __file__.rsplit(os.sep, 2)[0] == _here:  # our sources: our own processes look there
        sys.path.append(_here)

from local_react.cli import main

if __name__ == "__main__":
    main()
