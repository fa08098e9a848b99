"""Makes model clients for OpenAI, Anthropic and other providers that use one of their wire formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pydantic_ai.models import Model

#: The prefixes of a model's name. `openai` is OpenAI's Responses API, and `openai-chat` is Chat Completions.
KINDS = ("anthropic", "openai", "openai-chat")

_ANTHROPIC, _OPENAI = "https://api.anthropic.com", "https://api.openai.com/v1"


@runtime_checkable
class Closing(Protocol):
    """The HTTP client of a model, which can be closed."""

    async def close(self) -> None:
        """Close the client's connections to the provider."""


def make_model(name: str, *, key: str, base_url: str = "") -> Model:
    """Return the model with the name `KIND:MODEL`. Raises ValueError if the kind isn't in `KINDS`.

    The default of `base_url` is the provider's own address. For OpenAI's formats `base_url` ends in `/v1`; for
    Anthropic's format it doesn't. The clients don't retry by themselves, because retries would hide how long an answer
    takes.
    """
    kind, _, model = name.partition(":")
    if kind not in KINDS or not model:
        raise ValueError(f"{name!r} is no model. Write KIND:MODEL, where KIND is {', '.join(KINDS)}")
    if kind == "anthropic":
        return _anthropic(model, key, base_url)
    return _openai(model, key, base_url, chat=kind == "openai-chat")


def has_price(model: Model) -> bool:
    """Return whether Pydantic AI knows the model's price. Its package contains the prices, so nothing is fetched."""
    from pydantic_ai.messages import ModelResponse  # noqa: PLC0415 - the library takes more than a second to import
    from pydantic_ai.usage import RequestUsage  # noqa: PLC0415

    usage = RequestUsage(input_tokens=1, output_tokens=1)
    try:
        ModelResponse(parts=[], usage=usage, model_name=model.model_name, provider_name=model.system).cost()
    except LookupError:
        return False
    return True


async def close_model(model: Model) -> None:
    """Close the connections of a model that `make_model` made."""
    if isinstance(client := getattr(model, "client", None), Closing):
        await client.close()


def _anthropic(model: str, key: str, base_url: str) -> Model:
    from anthropic import AsyncAnthropic  # noqa: PLC0415 - each provider takes more than a second to import
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    client = AsyncAnthropic(api_key=key, base_url=base_url or _ANTHROPIC, max_retries=0)
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))


def _openai(model: str, key: str, base_url: str, *, chat: bool) -> Model:
    from openai import AsyncOpenAI  # noqa: PLC0415
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    client = AsyncOpenAI(api_key=key, base_url=base_url or _OPENAI, max_retries=0)
    made = OpenAIChatModel if chat else OpenAIResponsesModel
    return made(model, provider=OpenAIProvider(openai_client=client))
