"""What a study is made of: frozen dataclasses. `design_file` reads them from `study.toml`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from allears.study.blocks import (
    QUESTIONS,
    Block,
    Chat,
    Describe,
    PairedChat,
    Question,
    Replies,
)

STUDY_FILE = "study.toml"
SHIPPED = ("likert", "preference", "interactive", "persona-judgement", "empathy-annotation", "collect")
MOST_POINTS = 11


@dataclass(frozen=True, slots=True)
class ConsentText:
    text: str
    title: str = "Before you begin"
    agree: str = "I agree and want to begin"
    decline: str = "I do not want to take part"


@dataclass(frozen=True, slots=True)
class Instructions:
    text: str
    title: str = "What to do"
    begin: str = "Begin"


@dataclass(frozen=True, slots=True)
class Raters:
    """How many raters each unit gets, and what each of them does.

    `fourth` names the question of which a split without a majority asks one more rater (MIME's fourth annotator).
    `least_seconds`: an answer that comes sooner is not taken. `abandoned_after` seconds a unit that somebody has open
    goes back to the pool. `item_once`: nobody sees two systems' outputs for the same item.
    """

    per_unit: int = 3
    units: int = 10
    fourth: str = ""
    least_seconds: float = 2.0
    abandoned_after: float = 1800.0
    item_once: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """An attention check that looks like any unit. `expect`: the right answers; of a preference "first", "second" (as
    `replies` lists them, whatever side they are shown on) or "tie"."""

    expect: dict[str, Any]
    turns: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    situation: str = ""
    persona: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks:
    """One check among each `every` units (0: none). Who fails more than `most_failed` is not counted."""

    every: int = 0
    most_failed: int = 1
    items: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Returning:
    """What people take back to where they came from: Prolific's completion codes, or a code of one's own (MTurk)."""

    prolific_done: str = ""
    prolific_screened: str = ""
    prolific_declined: str = ""
    codes: bool = True
    text: str = "Thank you. Your answers are stored, and you may close this page."
    screened: str = (
        "Thank you for your time. Some answers did not fit what was asked, so the study ends here."
    )
    declined: str = "Thank you for reading. Nothing was stored, and you may close this page."


@dataclass(frozen=True, slots=True)
class Items:
    """Which conversations. `take`: a seeded sample of so many (0: all); `per_emotion`: so many of each emotion.

    `last_reply`: the supporter's last turn is taken off and is the output of a system with `gold = true`.
    `group`: the label that says which group an item belongs to.
    """

    file: str = ""
    take: int = 0
    per_emotion: int = 0
    last_reply: bool = False
    group: str = "group"


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """A system under test: exactly one of `outputs` (a JSONL file), `run`, `bundle`, `voice`, `endpoint`, `gold`.

    `candidates`: a text file with a reply a line, for a run or a bundle that chooses instead of writing.
    `group` and `columns` only go into tables.
    """

    name: str
    outputs: str = ""
    run: str = ""
    bundle: str = ""
    voice: str = ""
    endpoint: str = ""
    model: str = ""
    candidates: str = ""
    gold: bool = False
    group: str = ""
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Which of the ways it is given."""
        given = [name for name in SOURCES if getattr(self, name)]
        return given[0] if given else ""


SOURCES = ("outputs", "run", "bundle", "voice", "endpoint", "gold")


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """`reference`: the system that others are tested against. `control`: the group of items likewise.

    `count`: whether wins are counted by the majority of a unit's raters (MIME) or by single judgements (PAL);
    "" is the majority where a unit has more than one rater.
    """

    reference: str = ""
    control: str = ""
    count: str = ""
    alpha: float = 0.05
    power: float = 0.8
    samples: int = 2000


@dataclass(frozen=True, slots=True)
class Design:
    """A whole study."""

    name: str
    title: str
    consent: ConsentText
    instructions: Instructions
    blocks: tuple[Block, ...]
    about: str = ""
    contact: str = ""
    language: str = "en"
    minutes: int = 10
    seed: int = 1
    raters: Raters = field(default_factory=Raters)
    checks: Checks = field(default_factory=Checks)
    returning: Returning = field(default_factory=Returning)
    items: Items = field(default_factory=Items)
    systems: tuple[SystemSpec, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    analysis: AnalysisOptions = field(default_factory=AnalysisOptions)
    file: str = STUDY_FILE

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(block for block in self.blocks if isinstance(block, QUESTIONS))

    @property
    def shown_systems(self) -> int:
        """How many systems a unit shows or lets talk."""
        return max((block.systems for block in self.blocks if isinstance(block, Replies | Chat)), default=0)

    @property
    def chat(self) -> Chat | None:
        return next((block for block in self.blocks if isinstance(block, Chat)), None)

    @property
    def describe(self) -> Describe | None:
        return next((block for block in self.blocks if isinstance(block, Describe)), None)

    @property
    def paired_chat(self) -> PairedChat | None:
        return next((block for block in self.blocks if isinstance(block, PairedChat)), None)

    @property
    def collects(self) -> bool:
        return self.paired_chat is not None

    def question(self, key: str) -> Question | None:
        return next((question for question in self.questions if question.key == key), None)

    def system_pairs(self) -> tuple[tuple[str, str], ...]:
        """Which systems are compared: those that are named, or each with each."""
        names = [system.name for system in self.systems]
        every = tuple((one, other) for place, one in enumerate(names) for other in names[place + 1 :])
        return self.pairs or every
