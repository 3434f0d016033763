"""`python -m local_react` is `local-react`."""

from local_react.cli import main

if __name__ == "__main__":
    main()
