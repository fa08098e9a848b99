"""The section `[telegram]` of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class TelegramSettings(BaseModel):
    """One bot. Secrets come from the environment or from files, never from the configuration file itself.

    - `receive` is `polling`, or `webhook` with `webhook_url` (https) and a secret.
    - `timeout_s` is the time in seconds in which Telegram must answer a request.
    - `pace` is the factor for Telegram's published waits between messages. Set it below 1 only if `api` is a server
      with other limits, such as `sayso simulate telegram`.
    - `handlers` is a Python file or a module with an operator's own handlers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    token: SecretStr | None = None
    token_file: Path | None = None
    receive: Literal["polling", "webhook"] = "polling"
    webhook_url: str = ""
    webhook_secret: SecretStr | None = None
    webhook_secret_file: Path | None = None
    api: str = "https://api.telegram.org"
    timeout_s: float = Field(default=10.0, gt=0)
    pace: float = Field(default=1.0, ge=0)
    handlers: str = ""

    @property
    def is_pushed(self) -> bool:
        """Return whether Telegram sends updates to a webhook of the service."""
        return self.receive == "webhook"

    def secret(self, name: Literal["token", "webhook_secret"]) -> str:
        """Return a secret, or '' if it isn't set."""
        given: SecretStr | None = getattr(self, name)
        return given.get_secret_value() if given else ""
