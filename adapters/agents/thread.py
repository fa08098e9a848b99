"""The stored state of the model-backed agent in one conversation: its messages, and the calls of the current turn."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.usage import RunUsage

from hitl.proof.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage

#: The most messages of a conversation that a model gets. Older messages are left out in whole exchanges.
MOST_MESSAGES = 200


@dataclass
class Wanted:
    """A call that the model wants to make."""

    #: The model's id of the call.
    id: str
    #: The call's name, unique in the turn: number of the model's answer and place in it.
    name: str
    tools: str
    tool: str
    args: dict[str, Any]

    @property
    def same(self) -> str:
        """A text that is equal for two calls of the same tool with the same arguments."""
        return f"{self.tools}\n{self.tool}\n{canonical(self.args).decode()}"


@dataclass
class Thread:
    """A conversation with the model, during a turn or between two turns."""

    conversation: Conversation = field(default_factory=Conversation)
    #: People's messages that the model hasn't got yet.
    prompts: list[str] = field(default_factory=list)
    #: The calls of the model's last answer.
    calls: list[Wanted] = field(default_factory=list)
    #: The outcomes of those calls that are over, by the call's `id`.
    outcomes: dict[str, str] = field(default_factory=dict)
    #: The reasons for people's rejections in this turn, by the call's `same`.
    rejected: dict[str, str] = field(default_factory=dict)
    #: The model's last text.
    words: str = ""
    #: False while `words` came with calls and still has to be sent to people.
    told: bool = True
    #: Requests to the model in this turn.
    requests: int = 0

    @classmethod
    def unpacked(cls, state: bytes) -> Thread:
        """Return the stored thread, or a new one for b'' and for the state of another version that can't be read."""
        try:
            return _THREAD.validate_json(state) if state else cls()
        except ValidationError:
            return cls()

    def packed(self) -> bytes:
        """Return the thread as bytes, for storage."""
        return _THREAD.dump_json(self)

    def begin(self, prompt: str, stopped: str) -> None:
        """Begin a turn with a person's message. Calls of an earlier turn that never ended get the outcome `stopped`."""
        self.prompts.append(prompt)
        for call in self.calls:
            self.outcomes.setdefault(call.id, stopped)
        self.rejected.clear()
        self.words, self.told, self.requests = "", True, 0
        self.conversation.usage = RunUsage()
        self.conversation.messages = _recent(self.conversation.messages)

    @property
    def over(self) -> bool:
        """Whether the model has answered and wants no further call."""
        return not self.prompts and not self.calls

    @property
    def waiting(self) -> Sequence[Wanted]:
        """The calls that aren't over."""
        return [call for call in self.calls if call.id not in self.outcomes]


def prompt(text: str, by: str, said: Sequence[tuple[str, str]]) -> str:
    """Return a person's message, and messages of others before it, for a model.

    Every text is a JSON string, so no text can end its own quotation and pass for something else.
    """
    if not said:
        return json.dumps({"from": by, "says": text}, ensure_ascii=False)
    quoted = [{"who": who, "said": what} for who, what in said]
    return json.dumps({"quoted_from_the_thread": quoted, "from": by, "says": text}, ensure_ascii=False)


def _recent(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Return the newest messages, from the start of an exchange: providers refuse a tool's result without its call."""
    if len(messages) <= MOST_MESSAGES:
        return messages
    begins = [at for at, each in enumerate(messages) if isinstance(each, ModelRequest) and _begins(each)]
    return messages[next((at for at in begins if at >= len(messages) - MOST_MESSAGES), begins[-1] if begins else 0) :]


def _begins(message: ModelRequest) -> bool:
    return all(isinstance(part, UserPromptPart) or part.part_kind == "system-prompt" for part in message.parts)


_THREAD = TypeAdapter(Thread)
