"""The operator's settings: the environment (`SAYSO_...`, `__` between levels), then `sayso.toml`.

Unknown keys are errors.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from hitl.limits import Limits
from hitl.model import Risk
from hitl.people import Conversation, Directory

CONFIG_NAME = "sayso.toml"


class SettingsError(Exception):
    """The settings can't be used; the message says which file, which key, and what is wrong."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


SelfApproval = Literal["off", "low", "medium", "high"]


class ConversationSettings(_Part):
    """What differs in one conversation; what is absent is as in the installation."""

    approvers: list[str] | None = None
    requesters: list[str] | None = None
    self_approval: SelfApproval = "off"
    routes: list[str] | None = None


class LimitSettings(_Part):
    """See `hitl.limits.Limits` for units and meanings."""

    claim_caller_s: float = Field(default=300, gt=0)
    open_per_requester: int = Field(default=50, ge=1)
    asks: int = Field(default=30, ge=1)
    asks_within_s: float = Field(default=300, gt=0)


class ToolSettings(_Part):
    """Which workspace tools may run; an empty list runs nothing."""

    allow: list[str] = ["list_files", "read_file", "write_file", "delete_file", "delete_files", "bash"]


class Settings(BaseSettings):
    """One installation. Folders may begin with `~`."""

    model_config = SettingsConfigDict(extra="forbid", env_prefix="SAYSO_", env_nested_delimiter="__", frozen=True)

    state: Path = Path("~/.local/state/sayso")
    runtime: Path | None = None
    workspace: Path = Path("~/sayso-workspace")
    approvers: list[str] = []
    requesters: list[str] = []
    operators: list[str] = []
    principals: dict[str, list[str]] = {}
    conversations: dict[str, ConversationSettings] = {}
    self_approval_socket: SelfApproval = "off"
    tools: ToolSettings = ToolSettings()
    limits: LimitSettings = Field(default_factory=dict, validate_default=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file, which is handed in as the initial values."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings

    def folder(self, name: Literal["state", "runtime", "workspace"]) -> Path:
        """One of the folders, as an absolute path."""
        path: Path | None = getattr(self, name)
        return (path or default_runtime()).expanduser().absolute()

    def directory(self) -> Directory:
        """The lists of people. Raises SettingsError where they can't be trusted."""
        conversations = {
            place: Conversation(
                place, _names(c.approvers), _names(c.requesters), _risk(c.self_approval), _names(c.routes)
            )
            for place, c in self.conversations.items()
        }
        try:
            return Directory(
                approvers=tuple(self.approvers),
                requesters=tuple(self.requesters),
                operators=tuple(self.operators),
                principals={name: tuple(owned) for name, owned in self.principals.items()},
                conversations=conversations,
                self_approval_socket=_risk(self.self_approval_socket),
            )
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def gate_limits(self) -> Limits:
        """The gate's numbers."""
        return Limits(**self.limits.model_dump())


def default_runtime() -> Path:
    """Where the socket lies: systemd's folder, else the user's runtime folder, else beside the state."""
    if given := os.environ.get("RUNTIME_DIRECTORY"):
        return Path(given)
    if given := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(given) / "sayso"
    return Path(f"/tmp/sayso-{os.getuid()}")  # noqa: S108 - checked for its owner and mode before it is used


def find_config(given: Path | None) -> Path | None:
    """The file named, else `SAYSO_CONFIG`, else `sayso.toml` here, else in the user's or the system's folder."""
    if given is not None:
        return given
    if named := os.environ.get("SAYSO_CONFIG"):
        return Path(named)
    places = (Path(), Path("~/.config/sayso").expanduser(), Path("/etc/sayso"))
    return next((place / CONFIG_NAME for place in places if (place / CONFIG_NAME).is_file()), None)


def load(path: Path | None) -> Settings:
    """The settings of a file (and the environment). Raises SettingsError."""
    try:
        values = tomllib.loads(path.read_text()) if path else {}
        return Settings(**values)
    except OSError as error:
        msg = f"{path} can't be read: {error.strerror}. Write one with `sayso init`."
        raise SettingsError(msg) from error
    except tomllib.TOMLDecodeError as error:
        msg = f"{path} isn't TOML: {error}."
        raise SettingsError(msg) from error
    except ValidationError as error:
        raise SettingsError(_explain(path, error)) from error


def _explain(path: Path | None, error: ValidationError) -> str:
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc']))}: {_PLAIN.get(problem['type'], problem['msg'])}"
        for problem in error.errors(include_input=False, include_url=False)
    )
    return f"{path or 'The environment'} can't be used: {problems}."


_PLAIN: dict[str, Any] = {"extra_forbidden": "no such setting"}


def _names(listed: list[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def _risk(limit: SelfApproval) -> Risk | None:
    return None if limit == "off" else Risk(limit)
