"""What a study's page is built of. Each block is a frozen dataclass, and a `[[blocks]]` table of a study.toml.

Some show something (of the item, or of the systems under test), some ask something. How many systems a unit shows is
said by the block that shows them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from allears.labels import ED_EMOTIONS as EMOTIONS

TIE = "tie"
SIDES = ("A", "B")
REASON = ".reason"  # the answer to "why?" behind an option, beside the question's own key


# --- showing


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Words of the study's own."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
    """The item's situation."""

    title: str = "The situation"


@dataclass(frozen=True, slots=True)
class TalkBlock:
    """The item's conversation."""

    title: str = "The conversation"


@dataclass(frozen=True, slots=True)
class PersonaSentences:
    """What the item says is known about its seeker."""

    title: str = "What was noted about the speaker"


@dataclass(frozen=True, slots=True)
class Replies:
    """Frozen outputs for the item: of one system, or of two beside each other."""

    title: str = "The reply"
    systems: int = 1


@dataclass(frozen=True, slots=True)
class Chat:
    """The rater talks with one or two anonymous systems. Turns are the rater's own lines.

    `least_reply_seconds`: no reply is shown sooner, so that the time it took does not give a system away.
    """

    title: str = "Your conversations"
    text: str = ""
    systems: int = 2
    least_turns: int = 4
    most_turns: int = 20
    least_reply_seconds: float = 0.0


# --- asking


@dataclass(frozen=True, slots=True)
class Likert:
    """A scale from 1 to `points`. `label` is its name in tables."""

    key: str
    text: str
    points: int = 5
    anchors: dict[str, str] = field(
        default_factory=lambda: {"1": "not at all", "3": "somewhat", "5": "very much"}
    )
    label: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Option:
    """`value`: what it counts in a mean. `reason`: whoever chooses it is asked why."""

    key: str
    label: str
    value: float | None = None
    reason: bool = False


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """One of several options."""

    key: str
    text: str
    options: tuple[Option, ...]
    label: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Preference:
    """Which of two systems; with `tie`, also neither."""

    key: str
    text: str
    tie: bool = True
    first: str = "Reply A"
    second: str = "Reply B"
    neither: str = "Both alike"
    label: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Free:
    """A text of the rater's own."""

    key: str
    text: str
    least_words: int = 0
    most_words: int = 300
    label: str = ""
    required: bool = False


# --- collecting


@dataclass(frozen=True, slots=True)
class Describe:
    """A person chooses one of the `offered` least used emotions and describes a situation (ED, section 3)."""

    text: str
    emotions: tuple[str, ...] = EMOTIONS
    offered: int = 3
    least_words: int = 5
    most_words: int = 80


@dataclass(frozen=True, slots=True)
class PairedChat:
    """Two people talk about one's situation, then about the other's. `least` and `most` count both people's lines.

    `away_after` seconds without a sign of life a partner counts as gone. `most_talks`: how many conversations one
    person may have in all; `per_visit` how many pairs of them are asked for.
    """

    text: str = ""
    least: int = 4
    most: int = 8
    away_after: float = 120.0
    most_talks: int = 100
    per_visit: int = 1


Question = Likert | ChoiceQuestion | Preference | Free
Showing = TextBlock | Situation | TalkBlock | PersonaSentences | Replies | Chat
Block = Showing | Question | Describe | PairedChat

KINDS: dict[str, type[Block]] = {
    "text": TextBlock,
    "situation": Situation,
    "conversation": TalkBlock,
    "persona": PersonaSentences,
    "replies": Replies,
    "chat": Chat,
    "likert": Likert,
    "choice": ChoiceQuestion,
    "preference": Preference,
    "free": Free,
    "describe": Describe,
    "paired-chat": PairedChat,
}
QUESTIONS = (Likert, ChoiceQuestion, Preference, Free)


def shown_label(question: Question) -> str:
    """What tables call a question."""
    return question.label or question.key.replace("_", " ").capitalize()
