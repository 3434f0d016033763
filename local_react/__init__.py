"""A local, offline-first ReAct agent: its public names, and nothing that runs.

>>> from local_react import Agent, LlamaModel, tool
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, which may be a file of the folder that we run in
if TYPE_CHECKING:
    from local_react.agent import Agent
    from local_react.backends.llama import LlamaModel
    from local_react.backends.scripted import ScriptedModel
    from local_react.core import (
        Call,
        Findings,
        Finish,
        Malformed,
        Message,
        Passage,
        Request,
        Run,
        Sampling,
        Source,
        Step,
        Text,
    )
    from local_react.errors import LocalReactError, ToolError
    from local_react.network import Network
    from local_react.session import Session
    from local_react.tools import builtin_tools
    from local_react.tools.base import Tool, tool
    from local_react.tools.calculator import calculator
    from local_react.tools.current_time import current_time

__version__: str

__all__ = [
    "Agent",
    "Call",
    "Findings",
    "Finish",
    "LlamaModel",
    "LocalReactError",
    "Malformed",
    "Message",
    "Network",
    "Passage",
    "Request",
    "Run",
    "Sampling",
    "ScriptedModel",
    "Session",
    "Source",
    "Step",
    "Text",
    "Tool",
    "ToolError",
    "builtin_tools",
    "calculator",
    "current_time",
    "tool",
]

# A name is imported when it is first used: `import local_react` costs nothing, and
# llama.cpp is loaded only by those who want a model.
_HOMES = {
    "Agent": "agent",
    "Call": "core",
    "Findings": "core",
    "Finish": "core",
    "LlamaModel": "backends.llama",
    "LocalReactError": "errors",
    "Malformed": "core",
    "Message": "core",
    "Request": "core",
    "Network": "network",
    "Passage": "core",
    "Run": "core",
    "Sampling": "core",
    "ScriptedModel": "backends.scripted",
    "Session": "session",
    "Source": "core",
    "Step": "core",
    "Text": "core",
    "Tool": "tools.base",
    "ToolError": "errors",
    "builtin_tools": "tools",
    "calculator": "tools.calculator",
    "current_time": "tools.current_time",
    "tool": "tools.base",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module 'local_react' has no attribute {name!r}")
    return getattr(import_module(f"local_react.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _version() -> str:
    """Return the version that is installed; of a folder of sources alone it is unknown."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("local-react")
    except PackageNotFoundError:
        return "unknown"
