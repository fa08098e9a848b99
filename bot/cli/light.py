"""Commands that read the usual values without pydantic, whose import takes longer than the rest of a short command."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Typer has no public names for its readers of values. A parameter that has no reader yet gets one of Typer's own.
from typer._click.exceptions import BadParameter
from typer._coercion import RuntimeParam, build_runtime_param, resolve_type_descriptor
from typer._param_types import coerce_cli_choice, coerce_cli_path
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from typer._click import Context, Parameter


class LightCommand(TyperCommand):
    """A command that reads texts, paths and choices itself, and leaves all other values to Typer."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return the parameters of the command."""
        return _lightened(super().get_params(ctx))


class LightGroup(TyperGroup):
    """A group of commands that reads its own options in the same way."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return the parameters of the group."""
        return _lightened(super().get_params(ctx))


def _lightened(params: list[Parameter]) -> list[Parameter]:
    """Give the parameters the reader of this module, and return them."""
    for param in params:
        if isinstance(param, TyperArgument | TyperOption):
            found = param.type_descriptor
            param._runtime_param = _Reader(found.parameter_info, found.annotation)  # noqa: SLF001
    return params


class _Reader(RuntimeParam):
    """Reads the values of a parameter. An option without a value needs no reading."""

    def _coerce_value(self, value: Any, param: Any, ctx: Context) -> Any:
        kind = self.annotation
        if kind == list[str]:
            return list(value)
        if kind is str and isinstance(value, str):
            return value
        if isinstance(kind, type) and issubclass(kind, Path):
            return coerce_cli_path(Path(value), self.parameter_info, path_type=kind, param=param, ctx=ctx)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return self._choice(list(kind), value, param, ctx)
        typers = build_runtime_param(resolve_type_descriptor(kind, self.parameter_info))
        return typers.coerce(value, param, ctx)

    def _choice(self, choices: list[Enum], value: Any, param: Any, ctx: Context) -> Any:
        sensitive = self.parameter_info.case_sensitive
        try:
            return coerce_cli_choice(value, choices=choices, case_sensitive=sensitive, ctx=ctx)
        except ValueError as error:
            raise BadParameter(str(error), ctx=ctx, param=param) from error
