"""The operator's settings: `sayso.toml` and environment variables (`SAYSO_HTTP__PORT` for `port` in the section
`http`).

The environment overrides the file. Unknown keys are errors.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableError

from adapters.slack.settings import SlackSettings
from adapters.telegram.settings import TelegramSettings
from bot.errors import NoSecretError, SettingsError
from bot.finding import PREFIX, absolute, anchored, default_runtime
from bot.paths import is_within
from bot.revoking import revoked_names
from bot.surfaces import PLATFORMS, surfaces
from bot.toml import read_toml
from bot.wording import say
from hitl.call import CardTerms, Mode, Risk
from hitl.cards.misfits import misfit
from hitl.cards.redaction import mask_value
from hitl.cards.templates import LONGEST_UNDO, check
from hitl.cards.text import one_line
from hitl.cards.wording import sentence
from hitl.limits import KEEP_EVENTS, Limits
from hitl.operating_mode import Terms
from hitl.people import Conversation, Directory
from hitl.times import span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pydantic_core import ErrorDetails

#: The folders of this program and of the Python that runs it.
_PROGRAMS = (Path(__file__).parent.parent, Path(sys.prefix))


def _named(value: object) -> object:
    """Remove empty entries from a list of folders. An empty path would mean the current folder."""
    if not isinstance(value, list):
        return value
    return [entry for entry in value if not isinstance(entry, str) or entry.strip()]


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


_NUMBERS = (int, float, Decimal)


class _Part(BaseModel):
    """A section. It refuses unknown keys, and `true`, `nan` and `inf` in place of a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse a boolean for a number. pydantic would take `true` for 1."""
        declared = cls.model_fields[info.field_name or ""].annotation
        kinds = get_args(declared) or (declared,)
        if isinstance(value, bool) and bool not in kinds and any(kind in _NUMBERS for kind in kinds):
            raise PydanticKnownError("float_type")
        return value


def _shaped(pattern: str, key: str) -> AfterValidator:
    """Return a validator that refuses a text which doesn't match the pattern, with the sentence of this key."""

    def check_shape(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(say(key))
        return text

    return AfterValidator(check_shape)


def _passing(value: object) -> object:
    """Refuse a value of `fallback` that is neither the word `deny` nor a table of tools."""
    if value != "deny" and not isinstance(value, dict):
        raise ValueError(say("setting.fallback"))
    for tool, word in value.items() if isinstance(value, dict) else ():
        if word not in {"deny", "pass"}:
            raise ValueError(say("setting.fallback.tool", tool=tool))
    return value


def _span(value: object) -> object:
    return span(value) if isinstance(value, str) else value


#: A span of time: a number with its unit (`90d`).
Period = Annotated[timedelta, BeforeValidator(_span)]
SelfApproval = Literal["off", "low", "medium", "high"]
#: The languages that have a catalogue (`hitl.cards.languages`).
Language = Literal["en", "de"]
#: The name of a principal, an identity or a place. It can't be empty: an empty name would match nobody, although it
#: looks like an entry.
Name = Annotated[str, Field(min_length=1)]


class ConversationSettings(_Part):
    """The settings that may differ for one conversation. If a setting is absent, the installation's setting applies."""

    approvers: list[Name] | None = None
    requesters: list[Name] | None = None
    self_approval: SelfApproval = "off"
    routes: list[Name] | None = None
    language: Language | None = None


class LimitSettings(_Part):
    """Limits of calls. `hitl.limits.Limits` explains their units and meanings."""

    claim_caller_s: float = Field(default=300, gt=0)
    open_per_requester: int = Field(default=50, ge=1)
    args_bytes: int = Field(default=1 << 20, ge=1)
    asks: int = Field(default=30, ge=1)
    asks_within_s: float = Field(default=300, gt=0)
    execution_s: int = Field(default=3600, ge=1)
    caller_execution_s: float = Field(default=3600, gt=0)
    again_s: float = Field(default=60, ge=0)


class ToolSettings(_Part):
    """The workspace tools that may run, and the limits of a command. An empty `allow` allows no tool, None allows all.

    The limits apply to a command with all processes that it starts: `memory_mb` megabytes of memory, `processes`
    processes and threads, and `file_mb` megabytes for each file.
    """

    allow: list[Name] | None = None
    memory_mb: int = Field(default=4096, ge=64)
    processes: int = Field(default=512, ge=8)
    file_mb: int = Field(default=1024, ge=1)


class AgentSettings(_Part):
    """The model behind the agent in chats. Without `model`, the offline agent answers.

    - `model` is KIND:MODEL. KIND is `openai` (the Responses API), `openai-chat` (Chat Completions) or `anthropic`.
    - `base_url` is by default the provider's address.
    - `tools` lists the tools that the model may request, as GROUP.TOOL or GROUP.*.
    - `requests`, `tokens`, `cost` (in US dollars) and `turn_s` (seconds of the model's work) are limits. A turn ends
      when the model has used up one of them.
    - `answer_s` is the time limit of one answer, in seconds.
    """

    model: str = ""
    base_url: str = ""
    key: SecretStr | None = None
    key_file: Path | None = None
    instructions_file: Path | None = None
    tools: list[Name] = ["workspace.*"]
    requests: int = Field(default=25, ge=1)
    tokens: int = Field(default=200_000, ge=1)
    answer_s: float = Field(default=120.0, gt=0)
    cost: Decimal | None = Field(default=None, gt=0)
    turn_s: float = Field(default=1800.0, gt=0)

    def secret(self) -> str:
        """Return the model provider's key from its variable or file, or '' if neither is set. Raises SettingsError."""
        key = self.key or (read_secret("agent", "key_file", self.key_file) if self.key_file else None)
        return key.get_secret_value() if key else ""

    def instructions(self) -> str:
        """Return the operator's instructions for the model. Raises SettingsError if the file can't be read."""
        file = self.instructions_file
        return read_secret("agent", "instructions_file", file).get_secret_value() if file else ""


class StageSettings(_Part):
    """The settings of one stage, such as `dev` or `production`: the name of its policy."""

    policy: str


class CardSettings(_Part):
    """The words on the cards of one tool's requests. `hitl.call.CardTerms` explains them."""

    headline: Annotated[str, AfterValidator(lambda text: check(text) if text else text)] = ""
    undo: str = Field(default="", max_length=LONGEST_UNDO)
    fields: list[Name] | None = None


class NotifySettings(_Part):
    """The receiver of one agent's notices, by the Agent Approval Protocol (`adapters.http.notices`).

    `url` begins with `https:`, or is an address of this machine. `secret_file` holds the signing secret, which the
    receiver has too.
    """

    url: Annotated[
        str,
        _shaped(r"(https://[^\s/?#@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)(/[!-~]*)?", "setting.notify.url"),
    ]
    secret_file: Path


class HttpSettings(_Part):
    """The TCP listener of the API, which needs a `port`. Port 0 takes a free port.

    - `hosts` are the listener's host names, in addition to the names of the loopback (such as `localhost`).
    - `proxy` says that a proxy with TLS is in front. Without a proxy, tokens are accepted on the loopback only.
    - `tokens` names bearer tokens and the highest risk that each token may approve; medium is the default.
    - `notify` has the receivers of agents by the names of their tokens.
    """

    host: str = "127.0.0.1"
    port: int | None = Field(default=None, ge=0, le=65535)
    hosts: list[Name] = []
    proxy: bool = False
    tokens: dict[Name, Risk] = {}
    notify: dict[Name, NotifySettings] = {}

    def signing_secrets(self) -> dict[str, str]:
        """Return the name of an agent's token -> the signing secret of its receiver. Raises SettingsError."""
        return {
            name: read_secret(f"http.notify.{name}", "secret_file", each.secret_file).get_secret_value()
            for name, each in self.notify.items()
        }

    @property
    def on_loopback(self) -> bool:
        """Whether the listener can be reached only from this machine."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class MetricsSettings(_Part):
    """The address of `/metrics`. Without `port`, the service doesn't serve this page. Port 0 takes a free port."""

    host: str = "127.0.0.1"
    port: int | None = Field(default=None, ge=0, le=65535)


class TraceSettings(_Part):
    """The address that traces are sent to (OTLP over HTTP). Without an endpoint there are no traces."""

    endpoint: Annotated[str, _shaped("(https?://.+)?", "setting.traces.endpoint")] = ""


class RetentionSettings(_Part):
    """The times for which three things are kept after their end: the arguments of calls, whole calls, and events of
    chats.

    None means forever. If a call is archived, its arguments are erased too.
    """

    arguments: Period | None = None
    calls: Period | None = None
    events: Period = Field(default=KEEP_EVENTS, validate_default=True)

    @field_validator("arguments", "calls")
    @classmethod
    def _not_at_once(cls, age: timedelta | None) -> timedelta | None:
        """Refuse to keep arguments or calls for less than a day.

        Such a time usually has a mistyped unit, and the service would erase calls that people still need.
        """
        if age is not None and age < timedelta(days=1):
            raise ValueError(say("setting.retention.least", least="1d"))
        return age

    @field_validator("events")
    @classmethod
    def _known_again(cls, age: timedelta) -> timedelta:
        """Refuse a time below a week.

        Platforms send an event again for at most a day, and the service must still know the event at that time.
        """
        if age < timedelta(days=7):
            raise ValueError(say("setting.retention.least", least="7d"))
        return age

    @model_validator(mode="after")
    def _arguments_first(self) -> RetentionSettings:
        """Refuse to keep arguments longer than their calls."""
        if self.arguments and self.calls and self.arguments > self.calls:
            raise ValueError(say("setting.retention.arguments"))
        return self


class McpServerSettings(_Part):
    """One MCP server whose tools this service runs: `command` (standard streams) or `url` (streamable HTTP).

    Secrets come from files (`env_files`, `header_files`) or from variables of this service that `env_pass` names. The
    server may take `start_s` seconds to start.
    """

    command: list[Name] = []
    url: str = ""
    env: dict[Name, str] = {}
    env_files: dict[Name, Path] = {}
    env_pass: list[Name] = []
    headers: dict[Name, str] = {}
    header_files: dict[Name, Path] = {}
    cwd: Path = Path("/")
    start_s: float = Field(default=30.0, gt=0)

    @model_validator(mode="after")
    def _one_way(self) -> McpServerSettings:
        """Refuse a server that has both a command and a URL, or neither, or settings that only the other kind has.

        Also refuse a URL that isn't an address of HTTP.
        """
        if bool(self.command) == bool(self.url):
            raise ValueError(say("setting.mcp.one"))
        if self.url and (self.env or self.env_files or self.env_pass):
            raise ValueError(say("setting.mcp.env"))
        if self.command and (self.headers or self.header_files):
            raise ValueError(say("setting.mcp.headers"))
        if self.url and not self.url.startswith(("https://", "http://")):
            raise ValueError(say("setting.mcp.url"))
        return self


class McpSettings(_Part):
    """The MCP gateway, and the servers behind it. Each server's name is a tool group."""

    servers: dict[Annotated[str, _shaped("[a-z0-9][a-z0-9-]{0,31}", "setting.mcp.name")], McpServerSettings] = {}


class Settings(BaseSettings):
    """The settings of one installation.

    Paths may begin with `~`; relative paths in a file are relative to the file (`load`).
    """

    model_config = SettingsConfigDict(extra="forbid", env_prefix=PREFIX, env_nested_delimiter="__", frozen=True)

    state: Path = Path("~/.local/state/sayso")
    runtime: Path | None = None
    mark: Path | None = None
    keys_file: Path | None = None
    workspace: Path = Path("~/sayso-workspace")
    approvers: list[Name] = []
    requesters: list[Name] = []
    operators: list[Name] = []
    principals: dict[Name, list[Name]] = {}
    conversations: dict[str, ConversationSettings] = {}
    self_approval_socket: SelfApproval = "off"
    language: Language = "en"
    languages: dict[Name, Language] = {}
    routes: list[Name] = []
    policy: str = "default"
    policies: Annotated[list[Path], BeforeValidator(_named)] = []
    stage: str = ""
    stages: dict[str, StageSettings] = {}
    mode: Annotated[Mode, BeforeValidator(_lower)] = Mode.ENFORCE
    fallback: Annotated[Literal["deny"] | dict[str, Literal["deny", "pass"]], BeforeValidator(_passing)] = "deny"
    resolve_hosts: bool = False
    retention: RetentionSettings = RetentionSettings()
    tools: ToolSettings = ToolSettings()
    cards: dict[Name, CardSettings] = {}
    tools_user: str = ""
    agent: AgentSettings = AgentSettings()
    http: HttpSettings = Field(default_factory=HttpSettings)
    metrics: MetricsSettings = MetricsSettings()
    traces: TraceSettings = TraceSettings()
    log: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning"] = "info"
    telegram: TelegramSettings | None = None
    slack: SlackSettings | None = None
    mcp: McpSettings | None = None
    masks: dict[Annotated[str, _shaped("[a-z][a-z0-9-]{0,30}", "setting.mask.name")], Name] = {}
    limits: LimitSettings = Field(default_factory=dict, validate_default=True)
    #: The names whose rights `sayso revoke` has ended (`bot.revoking`).
    _revoked: frozenset[str] = PrivateAttr(frozenset())
    #: The settings file, or None if there is only the environment.
    _source: Path | None = PrivateAttr(None)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings: the environment, then the file, whose values are passed as initial values.

        If both have a setting, the first source is used.
        """
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings

    def folder(self, name: Literal["state", "runtime", "workspace"]) -> Path:
        """Return a folder as an absolute path: of the state, of the socket (`runtime`), or of the workspace."""
        path: Path | None = getattr(self, name)
        return absolute(path or default_runtime())

    def whence(self) -> str:
        """Return a sentence for people: which settings file and which state folder a command has read."""
        if self._source is None:
            return say("setting.unread", folder=Path.cwd(), state=self.folder("state"))
        return say("setting.read", file=self._source.absolute(), state=self.folder("state"))

    def mark_file(self) -> Path | None:
        """Return the absolute path of the mark's file, or None for the default, a file next to the state folder."""
        return self.mark and self.mark.expanduser().absolute()

    @classmethod
    def sections(cls) -> dict[str, type[BaseModel]]:
        """Return platform name -> the class of the platform's section in the settings."""
        found = {name: cls.model_fields[name].annotation for name in PLATFORMS if name in cls.model_fields}
        return {name: next(one for one in get_args(kind) if one is not type(None)) for name, kind in found.items()}

    def set_up(self) -> dict[str, BaseModel]:
        """Return platform name -> the section of each chat platform that is set up."""
        found = {name: getattr(self, name) for name in self.sections()}
        return {name: section for name, section in found.items() if section is not None}

    def section(self, name: str) -> Any:
        """Return a platform's section with every secret read from its file, or None if the platform isn't set up.

        Raises SettingsError for a file that can't be read.
        """
        section: BaseModel | None = getattr(self, name)
        if section is None:
            return None
        named = {
            one: getattr(section, f"{one}_file") for one in _secrets_of(type(section)) if not getattr(section, one)
        }
        read = {one: read_secret(name, f"{one}_file", file) for one, file in named.items() if file is not None}
        return section.model_copy(update=read)

    def given_keys(self) -> Path | None:
        """Return the absolute path of the master keys' file, or None for the default, a file in the state folder."""
        return self.keys_file and self.keys_file.expanduser().absolute()

    def directory(self) -> Directory:
        """Return the lists of people and places as a directory.

        Raises SettingsError if an identity belongs to two principals, or is an account that many people share, or if
        people may approve their own critical calls.
        """
        conversations = {
            place: Conversation(
                place,
                _names(c.approvers),
                _names(c.requesters),
                _risk(c.self_approval),
                _names(c.routes),
                c.language,
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
                routes=tuple(self.routes),
                token_limits={f"token:{name}": risk for name, risk in self.http.tokens.items()},
                self_approval_socket=_risk(self.self_approval_socket),
                revoked=self._revoked,
                language=self.language,
                languages=dict(self.languages),
                surfaces=surfaces(),
            )
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def policy_name(self) -> str:
        """Return the name of this stage's policy. Raises SettingsError if the settings don't describe the stage."""
        if not self.stage:
            return self.policy
        if self.stage not in self.stages:
            raise SettingsError(say("setting.stage", stage=self.stage))
        return self.stages[self.stage].policy

    def policy_folders(self) -> list[Path]:
        """Return the folders of named policies, as absolute paths."""
        return [folder.expanduser().absolute() for folder in self.policies]

    def terms(self) -> Terms:
        """Return the gate's `Terms` from the settings: the stage, the mode, the fallback and the words on cards."""
        named = {} if self.fallback == "deny" else self.fallback
        passes = frozenset(name for name, says in named.items() if says == "pass")
        cards = {
            name: CardTerms(card.headline, card.undo, None if card.fields is None else tuple(card.fields))
            for name, card in self.cards.items()
        }
        return Terms(self.stage, self.mode, passes, cards)

    def secret_files(self) -> list[Path]:
        """Return the files that hold secrets, as absolute paths."""
        return [path.expanduser().absolute() for path in self._named_secrets().values()]

    def secret_digests(self) -> dict[str, str]:
        """Return the name of a setting -> the digest of the file with its secret.

        The digest is '' for a file that can't be read, and for a pipe.
        """
        return {name: _digest(path.expanduser()) for name, path in self._named_secrets().items()}

    def _named_secrets(self) -> dict[str, Path]:
        """Return the name of a setting -> the file that the setting names, for each setting that names a file with a
        secret.
        """
        sections = {**self.set_up(), "agent": self.agent}
        found = {
            f"{part}.{key}": path
            for part, section in sections.items()
            for key, path in section
            if key.endswith("_file") and path is not None
        }
        if self.keys_file is not None:
            found["keys_file"] = self.keys_file
        found |= {f"http.notify.{agent}.secret_file": each.secret_file for agent, each in self.http.notify.items()}
        for server, of in (self.mcp.servers if self.mcp else {}).items():
            named = {"env_files": of.env_files, "header_files": of.header_files}
            for kind, files in named.items():
                found |= {f"mcp.servers.{server}.{kind}.{key}": path for key, path in files.items()}
        return found

    def handler_files(self) -> list[Path]:
        """Return the files with an operator's own handlers, as absolute paths."""
        named = (getattr(section, "handlers", "") for section in self.set_up().values())
        return [Path(one).expanduser().absolute() for one in named if one.endswith(".py")]

    def exposed(self) -> list[Path]:
        """Return the protected paths that are in the workspace, where tools could read or change them.

        The protected paths are the state folder, secrets, policies, handlers and the programs of this service itself.
        """
        workspace = self.folder("workspace")
        guarded = [
            self.folder("state"),
            *self.policy_folders(),
            *self.secret_files(),
            *self.handler_files(),
            *_PROGRAMS,
        ]
        return [path for path in guarded if is_within(path, workspace)]

    def gate_limits(self) -> Limits:
        """Return the limits of calls, for the gate."""
        return Limits(**self.limits.model_dump())


def refuse_foreign(path: Path | None) -> None:
    """Raise SettingsError if another user could change the settings file, because the file says who may approve."""
    if path is None:
        return
    try:
        file, folder = path.stat(), path.resolve().parent.stat()
    except OSError:
        return  # The file can't be examined. Reading it later raises an error that says why.
    if file.st_uid not in {0, os.geteuid()}:
        raise SettingsError(say("setting.foreign", path=path, uid=file.st_uid))
    replaceable = folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX
    if file.st_mode & stat.S_IWOTH or replaceable:
        place = path.resolve().parent if replaceable else path
        raise SettingsError(say("setting.writable", path=path, place=place))


def load(path: Path | None) -> Settings:
    """Return the settings of a file and the environment. Raises SettingsError."""
    try:
        values = read_toml(path) if path else {}
        _refuse_secrets(path, values)
        if path is not None:
            _anchor(Settings, values, path.absolute().parent)
        _refuse_unknown(os.environ)
        found = Settings(**values)
        found._source = path  # noqa: SLF001 - private, so that no file or variable sets it
        found._revoked = revoked_names(found.folder("state"), path)  # noqa: SLF001 - private, so that no file or variable sets it
        return found
    except OSError as error:
        key = "setting.none" if isinstance(error, FileNotFoundError) else "setting.unreadable"
        raise SettingsError(say(key, path=path, why=error.strerror)) from error
    except ValidationError as error:
        raise SettingsError(_explain(path, error)) from error
    except UnreadableError as error:
        variable = _variable(re.findall(r'field "(\w+)"', str(error)))
        raise SettingsError(say("setting.environment", problems=say("setting.json", variable=variable))) from error


def _digest(file: Path) -> str:
    try:
        # A pipe gives its content once. A second read would never end.
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    except OSError:
        return ""


def read_secret(section: str, key: str, file: Path) -> SecretStr:
    """Return the content of a file that holds a secret. Raises SettingsError, which names the setting and the file."""
    try:
        return SecretStr(file.expanduser().read_text("utf-8").strip())
    except FileNotFoundError as error:
        raise NoSecretError(say("setting.secret.none", setting=f"{section}.{key}", file=file)) from error
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else say("setting.secret.binary")
        raise SettingsError(say("setting.secret.unreadable", setting=f"{section}.{key}", file=file, why=why)) from error


def _anchor(model: type[BaseModel], values: dict[str, Any], folder: Path) -> None:
    """Make relative paths of the settings file relative to its folder. The type of a setting says whether its value is
    a path.

    If paths were relative to the current folder, a start from elsewhere would make a new database with new keys, and
    pending requests would seem gone. Paths from the environment stay relative to the current folder.
    """
    for name in model.model_fields.keys() & values.keys():
        # A value of `handlers` that doesn't end in .py is the name of a module.
        is_file = name == "handlers" and str(values[name]).endswith(".py")
        values[name] = _anchored(Path if is_file else model.model_fields[name].annotation, values[name], folder)


def _anchored(declared: Any, value: Any, folder: Path) -> Any:
    """Return the value; each relative path in it becomes a path below the folder. `declared` is the type of its
    setting.
    """
    if declared is Path:
        if isinstance(value, str) and "\0" in value:
            raise SettingsError(say("setting.path.nul", path=one_line(value)))
        return anchored(value, folder)
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        if isinstance(value, dict):
            _anchor(declared, value, folder)
        return value
    origin, parts = get_origin(declared), get_args(declared)
    if origin is dict and isinstance(value, dict):
        return {key: _anchored(parts[1], one, folder) for key, one in value.items()}
    if origin is list and isinstance(value, list):
        return [_anchored(parts[0], one, folder) for one in value]
    # A union, or an `Annotated` type: try each part in turn. The order doesn't matter,
    # because a path stays unchanged after one part has made it absolute.
    for part in parts:
        value = _anchored(part, value, folder)
    return value


def _secrets_of(section: type[BaseModel]) -> list[str]:
    """Return the names of a section's fields that hold secrets. For each of these fields NAME, there is a field
    `NAME_file`.
    """
    return [name for name in section.model_fields if f"{name}_file" in section.model_fields]


def _refuse_secrets(path: Path | None, values: dict[str, Any]) -> None:
    """Refuse secrets in the settings file, because people would read, copy and commit them with the file."""
    sections: dict[str, type[BaseModel]] = {**Settings.sections(), "agent": AgentSettings}
    for part, section in sections.items():
        given = values.get(part)
        for name in _secrets_of(section):
            if isinstance(given, dict) and name in given:
                variable = f"SAYSO_{part}__{name}".upper()
                text = say("setting.secret", path=path, setting=f"{part}.{name}", variable=variable, name=name)
                raise SettingsError(text)
    for key, name, instead in _mcp_secrets(values.get("mcp")):
        raise SettingsError(say("setting.secret.mcp", path=path, setting=key, table=instead, name=name))


def _mcp_secrets(mcp: object) -> Iterator[tuple[str, str, str]]:
    """Yield the values in the settings file that look like an MCP server's secrets.

    Each is a tuple, such as ("servers.git.env.TOKEN", "TOKEN", "env_files"): the value's key, its name, and the table
    that should name a file with the value instead.
    """
    servers = mcp.get("servers") if isinstance(mcp, dict) else None
    for server, given in servers.items() if isinstance(servers, dict) else ():
        for key, instead in (("env", "env_files"), ("headers", "header_files")):
            values = given.get(key) if isinstance(given, dict) else None
            for name, value in values.items() if isinstance(values, dict) else ():
                if mask_value({name: value}) != {name: value}:
                    yield f"servers.{server}.{key}.{name}", name, instead


#: Variables that begin with `SAYSO_` but aren't settings: the path of the settings file, the path of the socket, the
#: ref that `sayso ask` passes to its command, and variables of our own tests.
_BESIDE = frozenset(f"{PREFIX}{name}" for name in ("CONFIG", "SOCKET", "REF", "CORPORA", "PYTHON"))


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    """Refuse unknown variables that begin with `SAYSO_`: a misspelled setting would not apply, and nobody would
    notice.
    """
    known = {_variable([name]) for name in Settings.model_fields} | _BESIDE
    names = sorted(name for name in environment if name.upper().startswith(PREFIX))
    if unknown := [name for name in names if name.upper().partition("__")[0] not in known]:
        problems = say("setting.unknown_names", names=", ".join(map(_with_near, unknown)))
        raise SettingsError(say("setting.environment", problems=problems))


def _with_near(variable: str) -> str:
    """Return the name of an unknown variable, with the name of the variable that was probably meant."""
    name, parts, rest = variable.upper().removeprefix(PREFIX).partition("__")
    near = get_close_matches(name.lower(), list(Settings.model_fields), n=1)
    return say("near.name", name=variable, near=f"{_variable(near)}{parts}{rest}") if near else variable


def _variable(levels: Iterable[object]) -> str:
    """Return the name of the environment variable for a setting. `levels` are the keys that lead to the setting."""
    return PREFIX + "__".join(map(str, levels)).upper()


#: An error names at most this many wrong settings, and counts the others.
_MOST_TOLD = 5
#: A part of a key that needs no quotes in TOML.
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _explain(path: Path | None, error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False)
    places = [_place(problem["loc"]) for problem in problems]
    each = [
        say("setting.misfit", setting=place, why=_wrong(problem))
        for place, problem in zip(places, problems, strict=True)
    ]
    told, more = "; ".join(each[:_MOST_TOLD]), len(each) - _MOST_TOLD
    told = say("setting.more", told=told, count=more) if more > 0 else told
    if path is None or all(place.startswith(PREFIX) for place in places):
        return say("setting.environment", problems=told)
    return say("setting.unusable", path=path, problems=told)


def _place(levels: Sequence[object]) -> str:
    """Return the name that an error gives to a setting: the environment variable that holds it, else its key in the
    file.
    """
    named = (_variable(levels[:depth]) for depth in range(len(levels), 0, -1))
    if variable := next((name for name in named if name in os.environ), None):
        return variable
    # pydantic adds "[key]" if the key itself is wrong, and not its value.
    *above, last = [level for level in levels if level != "[key]"]
    if isinstance(last, int):
        return say("setting.entry", list=_key(above), number=last + 1)
    return _key([*above, last])


def _key(levels: Iterable[object]) -> str:
    """Return a key as it is in the file, on one line. A part with other characters than letters, digits, _ and - is in
    quotes.
    """
    parts = (str(level) for level in levels)
    return one_line(".".join(part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False) for part in parts))


def _wrong(problem: ErrorDetails) -> str:
    """Return a sentence about a wrong setting. For an unknown key, it names the most similar known key."""
    if problem["type"] == "extra_forbidden":
        *above, name = problem["loc"]
        near = get_close_matches(str(name), _keys(above), n=1)
        return say("near.setting", near=near[0]) if near else say("setting.unknown")
    told = misfit(problem["type"], problem.get("ctx", {}))
    return say("setting.table") if told.what == "misfit.object" else sentence(told)


def _keys(levels: Iterable[object]) -> list[str]:
    """Return the keys that a table of the settings may have. `levels` are the keys that lead to the table."""
    here: Any = Settings
    for level in levels:
        fields = getattr(here, "model_fields", None)
        here = fields[level].annotation if fields else get_args(here)[1]
        here = next((each for each in (here, *get_args(here)) if _is_table(each)), None)
    return list(getattr(here, "model_fields", ()))


def _is_table(annotation: object) -> bool:
    return hasattr(annotation, "model_fields") or get_origin(annotation) is dict


def _names(listed: list[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def _risk(limit: SelfApproval) -> Risk | None:
    return None if limit == "off" else Risk(limit)
