"""The stored state of the model-backed agent in one conversation: its messages, and the calls of the current turn."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RunUsage

from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle
from hitl.proof.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart

#: A model gets at most this many messages of a conversation. Older messages are left out.
MOST_MESSAGES = 200
#: If a person asks about a card, a model gets at most this many lines of the thread, and this many characters of each
#: line.
MOST_LINES, LONGEST_LINE = 40, 1000


@dataclass
class Wanted:
    """A call that the model wants to make."""

    #: The id that the model gave the call.
    id: str
    #: The call's name, which is unique in the turn: the number of the model's answer, and the call's index in that
    #: answer. For example, `2.0` is the first call of the second answer.
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
    #: The call's `id` -> its outcome, for each call that has ended.
    outcomes: dict[str, str] = field(default_factory=dict)
    #: People's reasons for rejecting calls in this turn. The key is the call's `same`.
    rejected: dict[str, str] = field(default_factory=dict)
    #: The text of the model's last answer.
    words: str = ""
    #: False if the model wrote `words` together with calls, and people haven't got `words` yet.
    told: bool = True
    #: The number of the model's answers in this turn. Answers that the model had to correct count too.
    requests: int = 0
    #: The seconds that the model's answers took in this turn.
    worked_s: float = 0.0

    @classmethod
    def unpacked(cls, state: bytes) -> Thread:
        """Return the thread from the bytes that `packed` returned.

        If `state` is empty or can't be read (for example, after a change of the format), return a new thread.
        """
        try:
            return _THREAD.validate_json(state) if state else cls()
        except ValidationError:
            return cls()

    def packed(self) -> bytes:
        """Return the thread as bytes, for storage."""
        return _THREAD.dump_json(self)

    def begin(self, prompt: str, stopped: str, most: int) -> None:
        """Begin a turn with a person's message. Shorten the conversation to about `most` characters.

        If the previous turn was stopped before its end, each call without an outcome gets
        the outcome `stopped`.
        """
        self.prompts.append(prompt)
        for call in self.calls:
            self.outcomes.setdefault(call.id, stopped)
        self.rejected.clear()
        self.words, self.told, self.requests, self.worked_s = "", True, 0, 0.0
        self.conversation.usage = RunUsage()
        self.shorten(most)

    @property
    def length(self) -> int:
        """The number of characters of the messages, and of the prompts and outcomes that the model hasn't got yet."""
        texts = [*self.prompts, *self.outcomes.values()]
        return sum(map(_length, self.conversation.messages)) + sum(map(len, texts))

    def shorten(self, most: int) -> bool:
        """Leave out old messages, old prompts and the middle of outputs, until about `most` characters are left.

        The newest prompt, the newest step and the statuses of calls always stay, so more may be left. Returns whether
        anything was left out.
        """
        before = self.length
        for call, outcome in self.outcomes.items():
            self.outcomes[call] = _shortened(outcome, most // len(self.outcomes))
        while len(self.prompts) > 1 and sum(map(len, self.prompts)) > most:
            del self.prompts[0]
        self.conversation.messages = _recent(self.conversation.messages, most)
        return self.length < before

    @property
    def over(self) -> bool:
        """Whether the model has answered and wants no further call."""
        return not self.prompts and not self.calls

    @property
    def waiting(self) -> Sequence[Wanted]:
        """The calls of the model's last answer that have no outcome yet."""
        return [call for call in self.calls if call.id not in self.outcomes]


def transcript(messages: Sequence[ModelMessage]) -> list[dict[str, str]]:
    """Return the latest messages and tool calls of a thread as lines, with secrets masked.

    A model that explains a card gets these lines as data, and it can't act on them.
    """
    lines = [line for message in messages for part in message.parts if (line := _line(part))]
    return [{"who": who, "said": cut_middle(mask(said), LONGEST_LINE).text} for who, said in lines[-MOST_LINES:]]


def _line(part: ModelRequestPart | ModelResponsePart) -> tuple[str, str] | None:
    if isinstance(part, UserPromptPart):
        return "people", part.content if isinstance(part.content, str) else ""
    if isinstance(part, TextPart):
        return "you", part.content
    if isinstance(part, ToolCallPart):
        return "you", f"{part.tool_name} {part.args_as_json_str()}"
    return ("result", part.model_response_str()) if isinstance(part, ToolReturnPart) else None


def prompt(text: str, by: str, said: Sequence[tuple[str, str]]) -> str:
    """Return the prompt for a model: a person's message, and earlier messages of other people.

    Every text is a JSON string. Therefore no text can end its own quotation and look like a message of somebody else.
    """
    if not said:
        return json.dumps({"from": by, "says": text}, ensure_ascii=False)
    quoted = [{"who": who, "said": what} for who, what in said]
    return json.dumps({"quoted_from_the_thread": quoted, "from": by, "says": text}, ensure_ascii=False)


def _recent(messages: list[ModelMessage], most: int) -> list[ModelMessage]:
    """Return the newest messages with at most `most` characters in total. The first of them contains a person's prompt.

    If the messages since the last prompt are longer, return this prompt and the newest steps after it. A step is an
    answer of the model and the results of its calls. Steps stay whole, because providers refuse a result without its
    call, and a call without its result.
    """
    begins = [at for at, each in enumerate(messages) if any(isinstance(part, UserPromptPart) for part in each.parts)]
    for at in begins:
        if len(messages) - at <= MOST_MESSAGES and sum(map(_length, messages[at:])) <= most:
            return [_begun(messages[at]), *messages[at + 1 :]]
    prompt = begins[-1] if begins else -1
    steps = [at for at in range(prompt + 1, len(messages)) if isinstance(messages[at], ModelResponse)]
    fit = (at for at in steps if len(messages) - at < MOST_MESSAGES and sum(map(_length, messages[at:])) <= most)
    first = next(fit, steps[-1] if steps else len(messages))
    return [*map(_begun, messages[prompt : prompt + 1] if begins else ()), *messages[first:]]


def _begun(message: ModelMessage) -> ModelMessage:
    """Return the message with only its prompts of people.

    The results of calls in it are left out, because the messages with these calls were left out.
    """
    if not isinstance(message, ModelRequest):
        return message
    return replace(message, parts=[part for part in message.parts if isinstance(part, UserPromptPart)])


def _length(message: ModelMessage) -> int:
    lines = ((_line(part) or ("", str(getattr(part, "content", "")))) for part in message.parts)
    return sum(len(said) for _, said in lines)


def _shortened(outcome: str, most: int) -> str:
    """Return the outcome of a call with its output shortened to `most` characters.

    The middle of the output is cut out. An outcome of at most `most` characters stays unchanged.
    """
    told = json.loads(outcome)
    if "output" not in told or len(outcome) <= most:
        return outcome
    return json.dumps(told | {"output": cut_middle(told["output"], most).text}, ensure_ascii=False)


_THREAD = TypeAdapter(Thread)
