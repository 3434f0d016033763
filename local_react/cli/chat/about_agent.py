"""Commands about who answers: the model, the tools, the network."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.cli.chat.conversation import Chat
    from local_react.core import Model
    from local_react.tools.base import AnyTool


def tools(chat: Chat, argument: str) -> str:
    """List the tools, or tell all about one."""
    offered = chat.session.agent.tools
    if argument:
        from local_react.cli.offered import named_tool

        tool = named_tool(argument, offered)
        return f"{tool.name}: {tool.description}\n{json.dumps(tool.schema, indent=2)}"
    if not offered:
        return "none: the model answers alone"
    return "\n".join(f"{tool.name}: {_about(tool)}" for tool in offered)


def _about(tool: AnyTool) -> str:
    first = " ".join(tool.description.split()).split(". ")[0].rstrip(".")
    return f"{first} ({', '.join(sorted(tool.may))})" if tool.may else first


def offline(chat: Chat, argument: str) -> str:
    """Have nothing sent any more, or again what the user says yes to."""
    if argument not in ("", "on", "off"):
        raise UsageError(f"/offline takes on or off, not {argument}")
    network, agent = chat.wiring.network, chat.session.agent
    mode = network.mode
    try:
        chat.wiring.switch_network(on=argument == "off")
        new = chat.wiring.agent(agent.model)
    except BaseException:
        network.mode = mode
        raise
    chat.session.agent = replace(new, system=agent.system)
    if network.mode == "allow":
        return "online: what the tools need is sent, without asking"
    if not network.offline:
        return "online: you are asked before something is sent"
    return "offline: nothing is sent, and the tools that need the network are left out"


def system(chat: Chat, argument: str) -> str:
    """Tell what the model is to keep to, or have it keep to something else."""
    agent = chat.session.agent
    if not argument:
        return agent.system or "nothing in particular: /system TEXT says what to keep to"
    text = "" if argument == "-" else argument
    chat.session.agent = replace(agent, system=text)
    return "set for the questions from now on" if text else "nothing in particular any more"


def model(chat: Chat, argument: str) -> str:
    """Tell which model answers, or have another one answer."""
    if not argument:
        return "\n".join([_told(chat.session.agent.model), _others()])
    old = chat.session.agent.model
    if chat.wiring.path(argument) == _path(old):
        return f"it answers already: {_told(old)}"
    new = _loaded(chat, old, argument)
    chat.session.agent = replace(chat.session.agent, model=new)
    _close(old)
    return _told(new)


def _loaded(chat: Chat, old: Model, name: str) -> Model:
    """Return another model. Where both have no room in memory the old one is closed first,
    and loaded again if that was in vain. Raises ModelError and UsageError."""
    wiring = chat.wiring
    if wiring.fits_beside(name):
        return wiring.load(name)
    _close(old)
    try:
        return wiring.load(name)
    except BaseException:  # Ctrl-C, too
        again = wiring.load(_path(old))
        chat.session.agent = replace(chat.session.agent, model=again)
        raise


def _path(model: Model) -> Path:
    return Path(getattr(model, "path", model.name))


def _close(model: Model) -> None:
    if close := getattr(model, "close", None):
        close()


def _told(model: Model) -> str:
    threads = getattr(model, "threads", None)
    told = f", {threads} threads" if threads else ""
    return f"{model.name}: {model.context_size:,} tokens of context{told}"


def _others() -> str:
    from local_react.catalog import installed_names

    names = installed_names()
    return f"here are: {', '.join(names)}" if names else "`local-react pull` fetches a model"
