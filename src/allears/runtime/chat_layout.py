"""Prompts as the token ids of a chat: what a language model reads. No torch here, and no template engine.

    system:     what is asked of the model
    user:       what the person said                       (turns of one person in a row are one message)
    assistant:  [strategy] what was answered
    user:       what the person said last, how far the talk is, and what is known of them
    assistant:  [strategy] ...                             this is written

The persona stands last, so that all before it is read once for both branches of PAL's equation 6. A strategy is one
token behind the vocabulary (`causal_model.py`). The words around messages are the model's own chat template, taken
apart once (`frames_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.runtime.generator import STRATEGIES, Prompt
from allears.text.layout import Limits
from allears.text.reading import Reading

SYSTEM = (
    "You are a warm and attentive listener. Choose how to support the person, then answer them "
    "in one to three plain sentences."
)
SILENCE = "..."  # what a person says who says nothing: a chat begins and goes on with the user
_ABOUT = "\n\n[About me: "  # persona sentences are in the first person
_DONE = "]"
_JOINT = "\n"

Messages = Sequence[Mapping[str, str]]
Render = Callable[[Messages], str]
"""A chat template: messages in, their text and the opening of the next answer out."""


class ChatTokenizer(Protocol):
    """A language model's tokenizer. `end` closes an answer; `marks` are tokens that are no words, `end` among them."""

    end: int
    marks: tuple[int, ...]

    @property
    def size(self) -> int: ...

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]: ...

    def text(self, tokens: Sequence[int]) -> str: ...


@dataclass(frozen=True, slots=True)
class ChatFrames:
    """What stands between the messages of a chat. The defaults serve models without a template."""

    start: str = ""
    system_user: str = "\n\nPerson: "
    user_assistant: str = "\nListener: "
    assistant_user: str = "\nPerson: "
    user_reply: str = "\nListener: "


def frames_of(render: Render) -> ChatFrames:
    """A chat template, taken apart. Templates that know no system message have its text before the first user's."""
    marks = ("aaSYSTEMaa", "bbFIRSTbb", "ccANSWERcc", "ddSECONDdd")
    talk = [
        {"role": "user", "content": marks[1]},
        {"role": "assistant", "content": marks[2]},
        {"role": "user", "content": marks[3]},
    ]
    try:
        text = render([{"role": "system", "content": marks[0]}, *talk])
        between = _between(text, marks)
    except Exception as error:  # whatever a template raises: its own words, through Jinja
        try:
            between = _between(render(talk), marks[1:])
        except Exception:
            raise AllearsError(f"the model's chat template cannot be taken apart ({error})") from error
        between = [between[0], "\n\n", *between[1:]]
    return ChatFrames(*between)


def _between(text: str, marks: Iterable[str]) -> list[str]:
    found = []
    for mark in marks:
        before, middle, text = text.partition(mark)
        if not middle:
            raise ValueError("a message is missing from the rendered chat")
        found.append(before)
    return [*found, text]


class ChatRow(NamedTuple):
    """A prompt is `head + persona + tail`, or `head + tail` where nothing is known of the person."""

    head: list[int]
    persona: list[int]
    tail: list[int]

    @property
    def whole(self) -> list[int]:
        return [*self.head, *self.persona, *self.tail]

    @property
    def without(self) -> list[int]:
        return [*self.head, *self.tail]


@dataclass(frozen=True)
class ChatLayout:
    """How prompts are laid out for one model. `limits.context_tokens` is the room of everything but the persona."""

    tokenizer: ChatTokenizer
    frames: ChatFrames
    limits: Limits
    turns: int  # of the latest, with their words; of those before them only what was done
    words: int  # rows of the model's vocabulary, which may have more than its tokenizer; strategies come behind them
    _fixed: dict[str, list[int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        texts = [*_frame_texts(self.frames), SYSTEM, SILENCE, _ABOUT, _DONE, _JOINT]
        pieces = self.tokenizer.encode_many(texts)
        object.__setattr__(self, "_fixed", dict(zip(texts, pieces, strict=True)))

    @property
    def first_strategy(self) -> int:
        return self.words

    @property
    def unwritable(self) -> list[int]:
        """Tokens that are no words, but for the end."""
        marks = {*self.tokenizer.marks, *range(self.tokenizer.size, self.words)}
        return sorted(marks - {self.tokenizer.end})

    @property
    def strategy_tokens(self) -> dict[str, int]:
        return {name: self.first_strategy + place for place, name in enumerate(STRATEGIES)}

    def targets(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[list[int]]:
        """Strategy (where it is given), words and end. What is too long is cut, and then has no end."""
        found = []
        for prompt, pieces in zip(prompts, self.tokenizer.encode_many(list(responses)), strict=True):
            words = [*pieces, self.tokenizer.end][: self.limits.response_tokens]
            found.append([*self._strategy(prompt.strategy), *words])
        return found

    def rows(self, prompts: Sequence[Prompt]) -> list[ChatRow]:
        readings = [
            Reading(prompt.turns[-self.turns :], earlier=prompt.turns[: -self.turns]) for prompt in prompts
        ]
        personas = [self._latest(prompt.persona) for prompt in prompts]
        texts: dict[str, None] = {}
        for reading, persona in zip(readings, personas, strict=True):
            texts |= dict.fromkeys(turn.text for turn in reading.turns)
            texts |= dict.fromkeys((_so_far(reading), *persona))
        pieces = dict(zip(texts, self.tokenizer.encode_many(list(texts)), strict=True))
        return [
            self._row(reading, [pieces[text] for text in persona], pieces)
            for reading, persona in zip(readings, personas, strict=True)
        ]

    def _row(
        self, reading: Reading, persona: Sequence[list[int]], pieces: Mapping[str, list[int]]
    ) -> ChatRow:
        frames, fixed = self.frames, self._fixed
        so_far = pieces[_so_far(reading)][: self.limits.turn_tokens]
        tail = fixed[frames.user_reply]
        opening = [*fixed[frames.start], *fixed[SYSTEM], *fixed[frames.system_user]]
        room = self.limits.context_tokens - len(opening) - len(so_far) - len(tail)
        head = [*opening, *self._talk(reading.turns, pieces, room), *so_far]
        about: list[int] = []
        if persona:
            limit = self.limits.persona_sentence_tokens
            words = [token for sentence in persona for token in sentence[:limit]]
            about = [*fixed[_ABOUT], *words, *fixed[_DONE]]
        return ChatRow(head, about, list(tail))

    def _talk(self, turns: Sequence[Turn], pieces: Mapping[str, list[int]], room: int) -> list[int]:
        """From the first user's words to the last user's; the oldest turns go until the rest fits."""
        frames, fixed = self.frames, self._fixed
        found: list[int] = []
        latest = Role.SEEKER
        if not turns or turns[-1].speaker is not Role.SEEKER:
            found = list(fixed[SILENCE])
        for number, turn in enumerate(reversed(turns)):
            limit = self.limits.first_turn_tokens if number == len(turns) - 1 else self.limits.turn_tokens
            words = [*self._strategy(turn.strategy if turn.speaker is Role.SUPPORTER else None)]
            words += pieces[turn.text][:limit]
            if turn.speaker is latest:
                joint = fixed[_JOINT] if found else []
            else:
                joint = fixed[frames.assistant_user if latest is Role.SEEKER else frames.user_assistant]
            if len(words) + len(joint) + len(found) > room:
                if found:
                    break
                words = words[len(words) - max(room, 1) :]  # a lone turn that is too long keeps its end
            found = [*words, *joint, *found]
            latest = turn.speaker
        if latest is not Role.SEEKER:
            found = [*fixed[SILENCE], *fixed[frames.user_assistant], *found]
        return found

    def _strategy(self, name: str | None) -> list[int]:
        return [] if name not in STRATEGIES else [self.first_strategy + STRATEGIES.index(name)]

    def _latest(self, persona: Sequence[str]) -> list[str]:
        """As many as are read; the last ones, since what was learned last is most likely what the talk is about."""
        told = [" ".join(text.split()) + " " for text in persona if text.strip()]
        return told[len(told) - min(len(told), self.limits.persona_sentences) :]


def _so_far(reading: Reading) -> str:
    return f"\n\n[{reading.so_far}]"


def _frame_texts(frames: ChatFrames) -> list[str]:
    return [frames.start, frames.system_user, frames.user_assistant, frames.assistant_user, frames.user_reply]
