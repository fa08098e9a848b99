"""Pydantic models for the arguments of tools. A model refuses arguments that don't fit, and has their JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from hitl.cards.misfits import misfit
from hitl.cards.text import one_line
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.outcomes import fact

if TYPE_CHECKING:
    from collections.abc import Mapping


class Arguments(BaseModel):
    """The base class of the models. It converts no value, and refuses arguments that aren't declared."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


M = TypeVar("M", bound=Arguments)


class Declared(Generic[M]):
    """Makes a model usable as the arguments of a registered tool (`adapters.executors.registry.Declaration`)."""

    def __init__(self, model: type[M]) -> None:
        self._model = model
        self.schema: Mapping[str, Any] = model.model_json_schema()

    def parse(self, args: Mapping[str, Any]) -> M:
        """Return the model with the arguments as its fields.

        Raises InvalidConfirmation, which names an argument that is unknown, missing or of a wrong type.
        """
        try:
            return self._model.model_validate(dict(args))
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)
        first = min(found, key=lambda each: each["type"] != "extra_forbidden")
        name = one_line(".".join(map(str, first["loc"])), 60)
        if first["type"] == "extra_forbidden":
            takes = ", ".join(sorted(self._model.model_fields)) or say("args.none")
            raise InvalidConfirmation(fact("args.unknown", name=name, takes=takes))
        if first["type"] == "missing":
            raise InvalidConfirmation(fact("args.missing", name=name))
        raise InvalidConfirmation(fact("args.type", name=name, why=misfit(first["type"], first.get("ctx", {}))))
