"""Where settings are kept: the user's file, and the one of the project that we are in."""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local_react.errors import UsageError
from local_react.places import config_dir

USER_NAME: Final = "config.toml"
PROJECT_NAME: Final = ".local-react.toml"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings."""

    path: Path
    shared: bool
    """Whether it is a project's, and so may have been written by anybody."""

    @property
    def origin(self) -> str:
        """What it is, and where."""
        return f"{'project' if self.shared else 'user'} file {self.path}"


def user_file() -> SettingsFile:
    """Return the user's file, which may not exist yet."""
    return SettingsFile(config_dir() / USER_NAME, shared=False)


def project_file() -> SettingsFile | None:
    """Return the project's file: that of the working directory or of the nearest directory
    above it, up to the user's home directory or the root. None where there is none."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return None
    last = _home()
    for folder in (here, *here.parents):
        if _is_file(path := folder / PROJECT_NAME):
            return SettingsFile(path, shared=True)
        if folder == last:
            break
    return None


def new_project_file() -> SettingsFile:
    """Return the project's file, or that which would be made in the working directory."""
    return project_file() or SettingsFile(Path.cwd() / PROJECT_NAME, shared=True)


def existing_files() -> tuple[SettingsFile, ...]:
    """Return the files that there are, the one that wins first."""
    files = [project_file()]
    with suppress(UsageError):  # who has no home has no file in it
        user = user_file()
        files.append(user if _is_there(user.path) else None)
    return tuple(file for file in files if file is not None)


def _home() -> Path | None:
    with suppress(OSError, RuntimeError):  # there need not be one
        return Path.home().resolve()
    return None


def _is_file(path: Path) -> bool:
    """Return whether it is a file; a device or a pipe of that name is never opened."""
    try:
        return path.is_file()
    except OSError:  # nor what lies in a folder that we may not look into
        return False


def _is_there(path: Path) -> bool:
    """Return whether there is anything of that name but a device, as it is linked to by those
    who want no file there. What is set, and cannot be read, is not left out in silence."""
    try:
        return not stat.S_ISCHR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return path.is_symlink()  # to what is gone
    except PermissionError:  # a folder that we may not look into has none for us
        return False
    except OSError:
        return True
