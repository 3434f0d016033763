"""`python -m local_react` is `local-react`."""

from local_react.cli.main import main

main()
