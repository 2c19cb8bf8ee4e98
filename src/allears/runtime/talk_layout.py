"""How a conversation is laid out for a language-model voice: ChatML, with the strategy in words before each reply.

    <|im_start|>system
    You are allears, ...
    What you know about the person: i have a dog called Biscuit. i work nights.<|im_end|>
    <|im_start|>user
    he ate my sandwich again<|im_end|>
    <|im_start|>assistant
    [reflect] Biscuit got your sandwich again, after a whole night's work.<|im_end|>

The strategy comes first and the persona stands in one place, so that both can be prescribed or left out (PAL). The same
text is learned from (`training.voice`) and written with (`runtime.gguf_voice`). No torch here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from allears.conversation import Role, Turn
from allears.labels import STRATEGIES
from allears.text.reading import STRATEGY_WORDS

SYSTEM = (
    "You are allears, a computer program that listens to people. Understand what this very message means to the person "
    "and answer that, in one to three short, plain sentences. Answer a question first. Never invent anything."
)
START, END = "<|im_start|>", "<|im_end|>"
LAYOUT = 1  # its version; an adapter is only of use with the one that it learned
STRATEGY_OF = {word: name for name, word in STRATEGY_WORDS.items()}
_MARK = re.compile(r"<\|")  # what a person types must never be read as a border between turns
_STRATEGY = re.compile(r"\s*\[(\w+)\]\s*")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the laid out text; `learn`: it is the voice's own, so it is what training asks for."""

    text: str
    learn: bool = False


def system_text(
    persona: Sequence[str] = (), about_listener: Sequence[str] = (), days_since: int | None = None
) -> str:
    """What the voice is told before the conversation.

    Args:
        persona: What is known of the person from before, in the first person.
        about_listener: The persona that the listener itself speaks with (PEC's setting).
        days_since: How many days ago they last talked.
    """
    parts = [SYSTEM]
    if about_listener:
        parts.append("About you: " + " ".join(map(_sentence, about_listener)))
    if persona:
        parts.append("What you know about the person: " + " ".join(map(_sentence, persona)))
    if days_since is not None:
        parts.append(f"You last talked {days_since} days ago.")
    return "\n".join(parts)


def conversation_segments(turns: Iterable[Turn], system: str, *, missed: Sequence[int] = ()) -> list[Segment]:
    """A whole conversation. Turns in `missed` (numbered from 1) are shown and not learned."""
    found = [Segment(f"{START}system\n{system}{END}\n")]
    for number, turn in enumerate(turns, 1):
        if turn.speaker is Role.SEEKER:
            found.append(Segment(f"{START}user\n{plain(turn.text)}{END}\n"))
        else:
            found.append(Segment(f"{START}assistant\n"))
            found.append(Segment(reply_text(turn.text, turn.strategy) + END, number not in missed))
            found.append(Segment("\n"))
    return found


def prompt_text(turns: Iterable[Turn], system: str, strategy: str | None = None) -> str:
    """Everything before the reply to be written; with its strategy where one is prescribed."""
    before = "".join(segment.text for segment in conversation_segments(turns, system))
    # no blank at the end: in what is learned it belongs to the word after it, and alone it asks for a number
    return f"{before}{START}assistant\n" + (f"[{STRATEGY_WORDS[strategy]}]" if strategy else "")


def reply_text(text: str, strategy: str | None) -> str:
    return (f"[{STRATEGY_WORDS[strategy]}] " if strategy in STRATEGIES else "") + plain(text)


def split_reply(written: str) -> tuple[str, str]:
    """What a voice wrote, as (strategy, text); an empty strategy where it named none that exists."""
    match = _STRATEGY.match(written)
    if match is None:
        return "", written.strip()
    return STRATEGY_OF.get(match[1], ""), written[match.end() :].strip()


def plain(text: str) -> str:
    """One line without anything that looks like a mark of the layout."""
    return " ".join(_MARK.sub("< |", text).split())


def _sentence(text: str) -> str:
    told = plain(text).rstrip(" .")
    return told + "."
