"""A study as its file says it: `study.toml` in, a `Design` out. Knows no database, no page and no model."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from allears.errors import AllearsError
from allears.study.blocks import (
    KINDS,
    QUESTIONS,
    SIDES,
    Block,
    Chat,
    Choice,
    Describe,
    Likert,
    PairedChat,
    Preference,
    Question,
    Replies,
)
from allears.study.toml_tables import Place, only, parsed

STUDY_FILE = "study.toml"
SHIPPED = ("likert", "preference", "interactive", "persona-judgement", "empathy-annotation", "collect")
MOST_POINTS = 11


@dataclass(frozen=True, slots=True)
class Consent:
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
    consent: Consent
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


_TABLES: dict[str, type] = {
    "consent": Consent,
    "instructions": Instructions,
    "raters": Raters,
    "checks": Checks,
    "returning": Returning,
    "items": Items,
    "analysis": AnalysisOptions,
}
_PLAIN = {"name", "title", "about", "contact", "language", "minutes", "seed", "pairs"}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Plain:
    """The lines at the top of the file."""

    title: str
    name: str = ""
    about: str = ""
    contact: str = ""
    language: str = "en"
    minutes: int = 10
    seed: int = 1
    pairs: tuple[tuple[str, ...], ...] = ()


def read_design(path: Path | str) -> Design:
    """A study's file, or the folder it lies in."""
    file = Path(path)
    file = file / STUDY_FILE if file.is_dir() else file
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise AllearsError(
            f"{file}: there is no study; `allears study new likert {Path(path)}` begins one"
        ) from error
    except UnicodeDecodeError as error:
        raise AllearsError(f"{file}: not a UTF-8 text file") from error
    return parse_design(text, file, name=file.parent.resolve().name)


def shipped_design(name: str) -> str:
    """The text of a design that ships with allears."""
    if name not in SHIPPED:
        raise AllearsError(f"there is no design {name!r}; there are {', '.join(SHIPPED)}")
    return (files("allears.study") / "designs" / f"{name}.toml").read_text(encoding="utf-8")


def parse_design(text: str, file: Path | str = STUDY_FILE, *, name: str = "") -> Design:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AllearsError(f"{file}: not a TOML file ({error})") from error
    place = Place(file)
    only(raw, {*_TABLES, *_PLAIN, "blocks", "systems"}, place)
    plain = parsed(_Plain, {key: value for key, value in raw.items() if key in _PLAIN}, place)
    tables: dict[str, Any] = {
        key: parsed(kind, raw[key], place.at(key)) for key, kind in _TABLES.items() if key in raw
    }
    for needed in ("consent", "instructions"):
        if needed not in tables:
            raise place.wrong(f"a study needs a table [{needed}] with a `text`")
    design = Design(
        name=plain.name or name or "study",
        title=plain.title,
        about=plain.about,
        contact=plain.contact,
        language=plain.language,
        minutes=plain.minutes,
        seed=plain.seed,
        blocks=_blocks(raw.get("blocks", []), place),
        systems=_list(SystemSpec, raw.get("systems", []), place.at("systems")),
        pairs=_pairs(plain.pairs, place.at("pairs")),
        file=str(file),
        **tables,
    )
    _check(design, place)
    return design


def _list(kind: type[T], rows: Any, place: Place) -> tuple[T, ...]:
    if not isinstance(rows, list):
        raise place.wrong(f"must be written as [[{place.key}]], one table for each")
    return tuple(parsed(kind, row, place.at(number)) for number, row in enumerate(rows))


def _blocks(rows: Any, place: Place) -> tuple[Block, ...]:
    place = place.at("blocks")
    if not isinstance(rows, list) or not rows:
        raise place.wrong("are missing; write [[blocks]] tables, each with a `type`")
    found: list[Block] = []
    for number, row in enumerate(rows):
        here = place.at(number)
        kind = row.get("type") if isinstance(row, dict) else None
        if kind not in KINDS:
            raise here.at("type").wrong(f"must be one of {', '.join(KINDS)}, got {kind!r}")
        found.append(parsed(KINDS[kind], {key: value for key, value in row.items() if key != "type"}, here))
    return tuple(found)


def _pairs(rows: tuple[tuple[str, ...], ...], place: Place) -> tuple[tuple[str, str], ...]:
    for number, row in enumerate(rows):
        if len(row) != 2:
            raise place.at(number).wrong(f"must name two systems, got {list(row)!r}")
    return tuple((row[0], row[1]) for row in rows)


# --- what must hold over several keys


def _check(design: Design, place: Place) -> None:
    _check_blocks(design, place)
    _check_questions(design, place)
    _check_systems(design, place)
    _check_raters(design, place)
    _check_checks(design, place.at("checks"))
    if design.analysis.count not in ("", "majority", "judgements"):
        raise place.at("analysis.count").wrong('must be "majority" or "judgements"')


def _check_blocks(design: Design, place: Place) -> None:
    showing = [block for block in design.blocks if isinstance(block, Replies | Chat)]
    if len(showing) > 1:
        raise place.at("blocks").wrong("show systems twice; keep one block of type replies or chat")
    for block in showing:
        if block.systems not in (1, 2):
            raise place.at("blocks").wrong(f"show {block.systems} systems at once; 1 or 2 are possible")
    if (design.describe is None) != (design.paired_chat is None):
        raise place.at("blocks").wrong("need both describe and paired-chat to collect conversations")
    if design.collects and (showing or design.questions):
        raise place.at("blocks").wrong(
            "collect conversations, so they cannot also show systems or ask questions; make that a second study"
        )
    if not design.collects and not design.questions:
        raise place.at("blocks").wrong("ask nothing; add a block of type likert, choice, preference or free")
    chat, paired = design.chat, design.paired_chat
    if chat is not None and not 1 <= chat.least_turns <= chat.most_turns:
        raise place.at("blocks").wrong(
            "a chat needs least_turns of at least 1 and most_turns that are not fewer"
        )
    if paired is not None and not 1 <= paired.least <= paired.most:
        raise place.at("blocks").wrong("a paired-chat needs `least` of at least 1 and `most` not below it")
    if design.describe is not None and design.describe.offered > len(set(design.describe.emotions)):
        raise place.at("blocks").wrong("describe offers more emotions than it lists")


def _check_questions(design: Design, place: Place) -> None:
    keys = [question.key for question in design.questions]
    for question in design.questions:
        here = place.at(f"blocks[{question.key}]")
        if not question.key.replace("_", "").isalnum() or not question.key.isascii():
            raise here.wrong("is a question's key; use letters, digits and _ only")
        if keys.count(question.key) > 1:
            raise here.wrong("is the key of two questions; each needs its own")
        if isinstance(question, Preference) and design.shown_systems != 2:
            raise here.wrong("asks for a preference, which needs a block that shows two systems")
        if isinstance(question, Likert):
            if not 2 <= question.points <= MOST_POINTS:
                raise here.wrong(f"has {question.points} points; 2 to {MOST_POINTS} are possible")
            for anchor in question.anchors:
                if not anchor.isdecimal() or not 1 <= int(anchor) <= question.points:
                    raise here.wrong(f"has an anchor at {anchor!r}, which is no point of its scale")
        if isinstance(question, Choice):
            names = [option.key for option in question.options]
            if len(names) < 2 or len(set(names)) < len(names):
                raise here.wrong("needs two options or more, each with a key of its own")
            valued = [option for option in question.options if option.value is not None]
            if valued and len(valued) < len(names):
                raise here.wrong("gives a value to some of its options; give one to all or to none")


def _check_systems(design: Design, place: Place) -> None:
    names = [system.name for system in design.systems]
    for number, system in enumerate(design.systems):
        here = place.at("systems").at(number)
        given = [name for name in SOURCES if getattr(system, name)]
        if len(given) != 1:
            raise here.wrong(f"({system.name}) needs exactly one of {', '.join(SOURCES)}")
        if names.count(system.name) > 1:
            raise here.wrong(f"is called {system.name!r} like another; each needs its own name")
        if system.endpoint and not system.model:
            raise here.wrong(f"({system.name}) needs the endpoint's `model`")
        if design.chat is not None and system.source in ("outputs", "gold"):
            raise here.wrong(f"({system.name}) has fixed outputs, and people cannot chat with those")
        if system.gold and not design.items.last_reply:
            raise here.wrong(f"({system.name}) is the items' own reply; set last_reply = true under [items]")
    for pair in design.pairs:
        for name in pair:
            if name not in names:
                raise place.at("pairs").wrong(f"name a system {name!r} that is not there")
    reference = design.analysis.reference
    if reference and reference not in names:
        raise place.at("analysis.reference").wrong(f"names a system {reference!r} that is not there")


def _check_raters(design: Design, place: Place) -> None:
    raters = design.raters
    for name in ("per_unit", "units"):
        if getattr(raters, name) < 1:
            raise place.at(f"raters.{name}").wrong("must be 1 or more")
    if raters.abandoned_after <= raters.least_seconds:
        raise place.at("raters.abandoned_after").wrong("must be longer than least_seconds")
    if raters.fourth and not isinstance(design.question(raters.fourth), Preference | Choice):
        raise place.at("raters.fourth").wrong(
            f"names {raters.fourth!r}, which is no preference or choice of this study"
        )


def _check_checks(design: Design, place: Place) -> None:
    checks = design.checks
    if checks.every and not checks.items:
        raise place.wrong("come every few units but there are none; add [[checks.items]]")
    if checks.every == 1:
        raise place.at("every").wrong("must be 2 or more: one check among so many units")
    for number, check in enumerate(checks.items):
        here = place.at("items").at(number)
        if len(check.replies) != design.shown_systems and design.chat is None:
            raise here.at("replies").wrong(f"must list as many as a unit shows: {design.shown_systems}")
        if not check.expect:
            raise here.at("expect").wrong("is empty; say what a careful rater answers")
        for key, value in check.expect.items():
            name, _, side = key.partition(".")
            question = design.question(name)
            if question is None or (side and side not in SIDES):
                raise here.at("expect").wrong(f"names {key!r}, which is no question of this study")
            if isinstance(question, Preference) and value not in ("first", "second", "tie"):
                raise here.at(f"expect.{key}").wrong('must be "first", "second" or "tie"')
    if checks.every and design.chat is not None:
        raise place.at("every").wrong("cannot be used with a chat: what a system will say is not known")
