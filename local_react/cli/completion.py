"""`local-react completion SHELL`, and the answers to a shell that asks at TAB."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import click
from click.shell_completion import shell_complete

from local_react.cli.commands import PROGRAM
from local_react.cli.root import COMPLETE_VARIABLE, root

SWITCHED_ON: Final[Mapping[str, str]] = {
    "bash": f"""echo 'eval "$({PROGRAM} completion bash)"' >> ~/.bashrc""",
    "zsh": f"""echo 'eval "$({PROGRAM} completion zsh)"' >> ~/.zshrc""",
    "fish": f"{PROGRAM} completion fish > ~/.config/fish/completions/{PROGRAM}.fish",
    "powershell": f"Add-Content $PROFILE '{PROGRAM} completion powershell | Out-String "
    "| Invoke-Expression'",
}
"""The line that switches completion on for good, in each shell."""

_EPILOG = "\b\nTo switch it on, in:\n" + "\n".join(
    f"  {shell}\n    {line}" for shell, line in SWITCHED_ON.items()
)


@click.command(
    "completion", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("shell", type=click.Choice(list(SWITCHED_ON)))
def completion(shell: str) -> None:
    """Print the script by which a shell completes commands, options and names at TAB."""
    shell_complete(root, {}, PROGRAM, COMPLETE_VARIABLE, f"{shell}_source")
    # Not where a shell reads it at its own start, or it would be told each time.
    if sys.stdout.isatty():
        click.echo(f"\nTo switch it on, run this once: {SWITCHED_ON[shell]}", err=True)


def answer(asked: str) -> int:
    """Answer a shell, on standard output, and return the exit code. It is silent about what
    goes wrong, since the user is in the middle of a line."""
    with suppress(Exception):
        return shell_complete(root, {}, PROGRAM, COMPLETE_VARIABLE, asked)
    return 1
