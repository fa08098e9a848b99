"""The section `[slack]` of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class SlackSettings(BaseModel):
    """One app in one workspace or organisation. Secrets come from the environment or from files.

    - `receive` is `socket` (Socket Mode) or `http`. Socket Mode needs an app token; `http` needs a signing secret.
    - `connections` is the number of connections for Socket Mode, at most 10.
    - `emails` says that principals may be listed by the address that Slack has confirmed (`email:...`). The
      installation then trusts the workspace's directory.
    - `timeout_s` is the time in seconds in which Slack must answer a request.
    - `pace` is the factor for Slack's published waits between messages. Set it below 1 only if `api` is a server with
      other limits, such as `sayso simulate slack`.
    - `handlers` is a Python file or a module with an operator's own listeners.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    bot_token: SecretStr | None = None
    bot_token_file: Path | None = None
    app_token: SecretStr | None = None
    app_token_file: Path | None = None
    signing_secret: SecretStr | None = None
    signing_secret_file: Path | None = None
    receive: Literal["socket", "http"] = "socket"
    connections: int = Field(default=2, ge=1, le=10)
    emails: bool = False
    api: str = "https://slack.com/api/"
    timeout_s: float = Field(default=10.0, gt=0)
    pace: float = Field(default=1.0, ge=0)
    handlers: str = ""

    @property
    def is_pushed(self) -> bool:
        """Return whether Slack sends events to an HTTP endpoint of the service."""
        return self.receive == "http"

    def secret(self, name: Literal["bot_token", "app_token", "signing_secret"]) -> str:
        """Return a secret, or '' if it isn't set."""
        given: SecretStr | None = getattr(self, name)
        return given.get_secret_value() if given else ""
