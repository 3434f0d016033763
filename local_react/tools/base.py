"""A tool is a typed function with a docstring; pydantic makes its schema."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from textwrap import dedent
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
    overload,
)

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json
from pydantic_core.core_schema import DataclassSchema, ModelSchema, TypedDictSchema

from local_react.core import Findings, Passage
from local_react.errors import LocalReactError, ToolError, UsageError
from local_react.foreign import foreign

P = ParamSpec("P")
R = TypeVar("R")

FINISH = "Finish"
"""The name of the Action that ends a run; no tool may take it."""

Ability: TypeAlias = Literal["reads network", "reads files", "writes", "runs"]
"""What a tool may do beside computing."""
_ABILITIES: Final[tuple[Ability, ...]] = get_args(Ability)
_EFFECTS: Final = frozenset[Ability]({"writes", "runs"})
_BRINGS: Final = frozenset[Ability]({"reads network", "reads files", "runs"})

Offer: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Given a question, returns the arguments of a call that is of use for it, or None."""


@dataclass(frozen=True)
class Tool(Generic[P, R]):
    """A function that the model may call. Calling the Tool calls the function."""

    name: str
    description: str
    function: Callable[P, R] = field(repr=False)
    arguments: type[BaseModel] = field(repr=False)
    may: frozenset[Ability] = frozenset()
    """What it may do beside computing."""
    own_words: bool = False
    """True where its text is its own, though made of what it read elsewhere."""
    suits: Callable[[str], bool] | None = field(default=None, repr=False)
    """Tells of a question that brings its own numbers whether it may still need the tool;
    None where nobody can tell."""
    offer: Offer | None = field(default=None, repr=False)
    """Tells, at once and from the question alone, whether it has something to say to it."""
    offered: str = ""
    """The Thought of the call that it offers."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, an object: as pydantic gives it, but that what a
        class would only drop is said not to be there."""
        return self.arguments.model_json_schema(schema_generator=_OfWhatIsKept)

    @property
    def network(self) -> bool:
        """Whether a call sends something out: left out of every prompt offline."""
        return "reads network" in self.may

    @property
    def has_effect(self) -> bool:
        """Whether a call changes something."""
        return bool(_EFFECTS & self.may)

    @property
    def brings_outside_text(self) -> bool:
        """Whether what it gives is text from outside, to be shown as data."""
        return not self.own_words and bool(_BRINGS & self.may)

    def run(self, arguments: Mapping[str, Any]) -> str | Findings:
        """Validate the arguments, call the function, and return its result as text, or
        as what it found where it brings text from outside.

        Raises ToolError where the arguments do not validate or the function fails.
        """
        try:
            valid = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            raise ToolError(_first_fault(self.name, error)) from error
        fields = type(valid).model_fields
        values = {str(field.alias): getattr(valid, name) for name, field in fields.items()}
        values.update(valid.model_extra or {})
        call = cast("Callable[..., R]", self.function)
        try:
            with foreign():
                result = call(**values)
            return result if isinstance(result, Findings) else self._told(as_text(result))
        except LocalReactError as error:
            raise ToolError(str(error)) from error
        except (Exception, SystemExit) as error:  # a user's function may raise anything
            raise ToolError(f"{self.name} failed: {type(error).__name__}: {error}") from error

    def _told(self, text: str) -> str | Findings:
        return Findings((Passage(text, self.name),)) if self.brings_outside_text else text


class _OfWhatIsKept(GenerateJsonSchema):
    """Says of each class that it has no further properties, unless it keeps them."""

    def model_schema(self, schema: ModelSchema) -> dict[str, Any]:
        return _closed(super().model_schema(schema))

    def dataclass_schema(self, schema: DataclassSchema) -> dict[str, Any]:
        return _closed(super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: TypedDictSchema) -> dict[str, Any]:
        return _closed(super().typed_dict_schema(schema))


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"additionalProperties": False, **schema} if "properties" in schema else schema


AnyTool: TypeAlias = Tool[..., Any]
"""A Tool whatever its function takes and gives."""


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *, name: str | None = None, may: Iterable[Ability] = (), own_words: bool = False
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    may: Iterable[Ability] = (),
    own_words: bool = False,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a Tool of a function: its name, docstring and type hints describe it.

    A string may own the grammar that a model writes it under (gbnf.OWNED says how):
    `Annotated[str, Field(json_schema_extra={"x-gbnf": RULES})]`.

    `may` says what it does beside computing. What a tool brings that reads the network or
    files is shown to the model as data, with its source: it returns Findings, or a text,
    unless `own_words` says that its text is its own. One that "writes" or "runs" needs the
    user's yes once text from outside has entered a run.

    Raises UsageError where it is no plain function or has no docstring, a parameter has
    no type hint or one that makes no schema, or the name or what it may do is unknown.
    """

    def make(function: Callable[P, R]) -> Tool[P, R]:
        if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
            raise UsageError(f"a tool is made of a plain function, not of {function!r}")
        return Tool(
            name=checked_name(name or function.__name__),
            description=_description(function),
            function=function,
            arguments=_arguments_model(function),
            may=checked_abilities(may),
            own_words=own_words,
        )

    return make if function is None else make(function)


def as_text(result: object) -> str:
    """Return a tool's result as the text of an Observation."""
    if result is None:
        return "done"
    if isinstance(result, str):
        return result
    if isinstance(result, (bool, int, float)):
        return json.dumps(result)
    return to_json(result, fallback=str).decode()


def checked_abilities(may: Iterable[Ability]) -> frozenset[Ability]:
    """Return what a tool may do beside computing. Raises UsageError for what none can."""
    # One alone is taken too: its letters would else be what is strange.
    abilities: frozenset[Ability] = frozenset(
        [cast("Ability", may)] if isinstance(may, str) else may
    )
    if strange := abilities - set(_ABILITIES):
        raise UsageError(
            f"a tool cannot be one that {sorted(strange)[0]!r}: it {', '.join(_ABILITIES)}"
        )
    return abilities


def checked_name(name: str) -> str:
    """Return the name. Raises UsageError where it cannot be an Action's."""
    if not name.isidentifier() or not name.isascii():
        raise UsageError(f"tool name {name!r}: use letters, digits and _, and begin with a letter")
    if name.casefold() == FINISH.casefold():
        raise UsageError(f"tool name {name!r} is taken: it is the Action that ends a run")
    return name


def _description(function: Callable[..., object]) -> str:
    doc = inspect.getdoc(function)
    if not doc and sys.flags.optimize > 1:
        doc = _docstring_in_source(function)
    if not doc:
        raise UsageError(f"tool {function.__name__} has no docstring: the model would not know it")
    return " ".join(doc.split("\n\n")[0].split())


def _docstring_in_source(function: Callable[..., object]) -> str:
    """Return the docstring, which Python leaves out with -OO; nothing where there is none,
    or no source."""
    with suppress(OSError, TypeError, SyntaxError, IndexError):
        written = ast.parse(dedent(inspect.getsource(function))).body[0]
        if isinstance(written, ast.FunctionDef):
            return ast.get_docstring(written) or ""
    return ""


def _arguments_model(function: Callable[..., object]) -> type[BaseModel]:
    hints = _type_hints(function)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UsageError(f"tool {function.__name__}: *{parameter.name} cannot be described")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise UsageError(
                f"tool {function.__name__}: {parameter.name} cannot be positional-only"
            )
        if parameter.name not in hints:
            raise UsageError(f"tool {function.__name__}: {parameter.name} has no type hint")
        default = ... if parameter.default is parameter.empty else parameter.default
        # By alias, because a field's own name may be none that pydantic uses itself.
        argument = Field(default, alias=parameter.name)
        fields[f"argument_{len(fields)}"] = (hints[parameter.name], argument)
    # extra="forbid" says additionalProperties: false, so that the grammar is exact.
    config = ConfigDict(extra="forbid", protected_namespaces=())
    try:
        model: type[BaseModel] = create_model(function.__name__, __config__=config, **fields)
        model.model_json_schema()
    except Exception as error:  # pydantic and the hint's own classes raise many kinds
        reason = str(error).splitlines()[0]
        raise UsageError(f"tool {function.__name__}: no schema can be made: {reason}") from error
    return model


def _type_hints(function: Callable[..., object]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, SyntaxError) as error:
        raise UsageError(
            f"tool {function.__name__}: a type hint cannot be read in its module: {error}"
        ) from error


def _first_fault(name: str, error: ValidationError) -> str:
    """Return one line for the model: which argument is wrong, and why."""
    fault = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in fault["loc"]) or "arguments"
    return " ".join(f"{name}: argument {where}: {fault['msg']}".split())
