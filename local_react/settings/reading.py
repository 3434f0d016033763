"""What environment and files set, read and validated by pydantic-settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from local_react.errors import UsageError
from local_react.settings import Given, Setting
from local_react.settings.contents import contents, place, text_of
from local_react.settings.files import SettingsFile

_LONGEST = 60
"""Characters of a wrong value that are shown."""


def read(settings: Sequence[Setting], files: Sequence[SettingsFile]) -> dict[str, Given]:
    """Return by key what environment and files set, the first file before the others.

    Raises UsageError as `given` does.
    """
    sources: list[_Environment | _File] = []

    class Sources(BaseSettings):
        """Read from our variables, then from our files."""

        model_config = SettingsConfigDict(
            case_sensitive=True, env_ignore_empty=True, extra="ignore", validate_default=False
        )

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            sources.append(_Environment(settings_cls, settings))
            sources.extend(_File(settings_cls, settings, file) for file in files)
            return tuple(sources)

    fields: dict[str, Any] = {each.variable: (_annotation(each), None) for each in settings}
    model: type[Sources] = create_model("Settings", __base__=Sources, **fields)
    try:
        valid = model()
    except ValidationError as error:
        variable = error.errors()[0]["loc"][0]
        setting = next(each for each in settings if each.variable == variable)
        source = _winners(sources)[setting.variable]
        value = source()[setting.variable]
        raise _wrong(setting, source.place(setting), value, error) from error
    winners = _winners(sources)
    return {
        each.key: Given(getattr(valid, each.variable), winners[each.variable].origin(each))
        for each in settings
        if each.variable in winners
    }


def validated(setting: Setting, value: object) -> Any:
    """Return the value as its type has it. Raises UsageError where it cannot be."""
    try:
        return TypeAdapter(_annotation(setting)).validate_python(value)
    except ValidationError as error:
        raise _wrong(setting, setting.key, value, error) from error


class _Environment(EnvSettingsSource):
    """The variables: each is a text, which is validated as that from any other source."""

    def __init__(self, model: type[BaseSettings], settings: Sequence[Setting]) -> None:
        self._read = {each.variable: each.read for each in settings if each.read}
        super().__init__(model)

    def prepare_field_value(
        self, field_name: str, field: FieldInfo, value: Any, value_is_complex: bool
    ) -> Any:
        """Return the value of a variable: as it stands, so that a list need not be JSON."""
        read = self._read.get(field_name)
        return read(value) if read and value is not None else value

    def origin(self, setting: Setting) -> str:
        """Return what sets it."""
        return setting.variable

    def place(self, setting: Setting) -> str:
        """Return where it is set, as the beginning of a sentence."""
        return setting.variable


class _File(TomlConfigSettingsSource):
    """A file of ours, in which the keys are checked too."""

    def __init__(
        self, model: type[BaseSettings], settings: Sequence[Setting], file: SettingsFile
    ) -> None:
        self._file, self._settings = file, settings
        super().__init__(model, toml_file=file.path)

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        return contents(self._file, self._settings)

    def origin(self, setting: Setting) -> str:
        """Return what sets it."""
        return self._file.origin

    def place(self, setting: Setting) -> str:
        """Return where it is set, as the beginning of a sentence."""
        path = self._file.path
        return f"{setting.key} in {place(path, text_of(path), setting.key)},"


def _winners(sources: Sequence[_Environment | _File]) -> dict[str, _Environment | _File]:
    """Return by variable the source whose value counts."""
    return {name: source for source in reversed(sources) for name in source()}


def _annotation(setting: Setting) -> Any:
    before = BeforeValidator(partial(_unified, setting.hint))
    return Annotated[setting.hint, before, AfterValidator(partial(_checked, setting))]


def _unified(hint: Any, value: object) -> object:
    """Return a value as its type takes it: the forms that people write one in are many."""
    if hint == list[str] and isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if get_origin(hint) is Literal and isinstance(value, str):
        choices = {choice.casefold(): choice for choice in get_args(hint)}
        return choices.get(value.strip().casefold(), value)
    if hint is str and type(value) in (int, float):
        return str(value)
    if hint in (int, float) and isinstance(value, bool):
        return None  # pydantic would make a number of it
    return value


def _checked(setting: Setting, value: Any) -> Any:
    if setting.check:
        setting.check(value)
    return value


def _wrong(setting: Setting, where: str, value: object, error: ValidationError) -> UsageError:
    """Return the error that says where a wrong value stands, and what it may be."""
    fault = error.errors()[0]
    if fault["type"] == "value_error":
        return UsageError(f"{where} {fault['ctx']['error']}")
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}…"
    return UsageError(f"{where} is {shown}: it can be {may_be(setting.hint)}")


def may_be(hint: Any) -> str:
    """Return in words what a setting of that type may be."""
    if get_origin(hint) is Literal:
        return ", ".join(get_args(hint))
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    return words.get(hint, "a list of texts")
