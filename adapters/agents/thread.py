"""What the model-backed agent keeps of a conversation: all that was said, and the calls that the turn waits for."""

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

#: So many messages of a conversation a model is told; older ones are left out, whole exchanges at a time.
MOST_MESSAGES = 200


@dataclass
class Wanted:
    """A call that the model wants: its id there, the name that tells it from others of the turn, and what it is."""

    id: str
    name: str
    tools: str
    tool: str
    args: dict[str, Any]

    @property
    def same(self) -> str:
        """What two identical calls have in common."""
        return f"{self.tools}\n{self.tool}\n{canonical(self.args).decode()}"


@dataclass
class Thread:
    """A conversation with the model, in the middle of a turn or between two."""

    conversation: Conversation = field(default_factory=Conversation)
    #: What the model hasn't been told yet of what people said.
    prompts: list[str] = field(default_factory=list)
    #: The calls of the model's last answer, and by their ids how those went that are over.
    calls: list[Wanted] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)
    #: What people rejected in this turn, and the reasons.
    rejected: dict[str, str] = field(default_factory=dict)
    #: What the model said last, and whether people were told.
    words: str = ""
    told: bool = True
    #: Requests to the model in this turn.
    requests: int = 0

    @classmethod
    def unpacked(cls, state: bytes) -> Thread:
        """The thread as it was kept; a new one for b'', and for what another version kept and this one can't read."""
        try:
            return _THREAD.validate_json(state) if state else cls()
        except ValidationError:
            return cls()

    def packed(self) -> bytes:
        """The thread as bytes."""
        return _THREAD.dump_json(self)

    def begin(self, prompt: str, stopped: str) -> None:
        """Begin a turn with what was said. Calls of an earlier turn that never ended count as `stopped`."""
        self.prompts.append(prompt)
        for call in self.calls:
            self.outcomes.setdefault(call.id, stopped)
        self.rejected.clear()
        self.words, self.told, self.requests = "", True, 0
        self.conversation.usage = RunUsage()
        self.conversation.messages = _recent(self.conversation.messages)

    @property
    def over(self) -> bool:
        """Whether the model has answered, and wants no call."""
        return not self.prompts and not self.calls

    @property
    def waiting(self) -> Sequence[Wanted]:
        """The calls that aren't over."""
        return [call for call in self.calls if call.id not in self.outcomes]


def prompt(text: str, by: str, said: Sequence[tuple[str, str]]) -> str:
    """What a person said, for a model. What others said before is quoted as JSON, which no text can end."""
    if not said:
        return json.dumps({"from": by, "says": text}, ensure_ascii=False)
    quoted = [{"who": who, "said": what} for who, what in said]
    return json.dumps({"quoted_from_the_thread": quoted, "from": by, "says": text}, ensure_ascii=False)


def _recent(messages: list[ModelMessage]) -> list[ModelMessage]:
    """The newest messages, from the beginning of an exchange on: a result without its call is refused by providers."""
    if len(messages) <= MOST_MESSAGES:
        return messages
    begins = [at for at, each in enumerate(messages) if isinstance(each, ModelRequest) and _begins(each)]
    return messages[next((at for at in begins if at >= len(messages) - MOST_MESSAGES), begins[-1] if begins else 0) :]


def _begins(message: ModelRequest) -> bool:
    return all(isinstance(part, UserPromptPart) or part.part_kind == "system-prompt" for part in message.parts)


_THREAD = TypeAdapter(Thread)
