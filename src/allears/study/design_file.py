"""A study as its file says it: `study.toml` in, a `Design` out. Knows no database, no page and no model."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from allears.errors import AllearsError
from allears.study.blocks import (
    KINDS,
    SIDES,
    Block,
    Chat,
    ChoiceQuestion,
    Likert,
    Preference,
    Replies,
)
from allears.study.design import (
    MOST_POINTS,
    SHIPPED,
    SOURCES,
    STUDY_FILE,
    AnalysisOptions,
    Checks,
    ConsentText,
    Design,
    Instructions,
    Items,
    Raters,
    Returning,
    SystemSpec,
)
from allears.study.toml_tables import TomlPlace, only, parsed

_TABLES: dict[str, type] = {
    "consent": ConsentText,
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
    place = TomlPlace(file)
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


def _list(kind: type[T], rows: Any, place: TomlPlace) -> tuple[T, ...]:
    if not isinstance(rows, list):
        raise place.wrong(f"must be written as [[{place.key}]], one table for each")
    return tuple(parsed(kind, row, place.at(number)) for number, row in enumerate(rows))


def _blocks(rows: Any, place: TomlPlace) -> tuple[Block, ...]:
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


def _pairs(rows: tuple[tuple[str, ...], ...], place: TomlPlace) -> tuple[tuple[str, str], ...]:
    for number, row in enumerate(rows):
        if len(row) != 2:
            raise place.at(number).wrong(f"must name two systems, got {list(row)!r}")
    return tuple((row[0], row[1]) for row in rows)


# --- what must hold over several keys


def _check(design: Design, place: TomlPlace) -> None:
    _check_blocks(design, place)
    _check_questions(design, place)
    _check_systems(design, place)
    _check_raters(design, place)
    _check_checks(design, place.at("checks"))
    if design.analysis.count not in ("", "majority", "judgements"):
        raise place.at("analysis.count").wrong('must be "majority" or "judgements"')


def _check_blocks(design: Design, place: TomlPlace) -> None:
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


def _check_questions(design: Design, place: TomlPlace) -> None:
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
        if isinstance(question, ChoiceQuestion):
            names = [option.key for option in question.options]
            if len(names) < 2 or len(set(names)) < len(names):
                raise here.wrong("needs two options or more, each with a key of its own")
            valued = [option for option in question.options if option.value is not None]
            if valued and len(valued) < len(names):
                raise here.wrong("gives a value to some of its options; give one to all or to none")


def _check_systems(design: Design, place: TomlPlace) -> None:
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


def _check_raters(design: Design, place: TomlPlace) -> None:
    raters = design.raters
    for name in ("per_unit", "units"):
        if getattr(raters, name) < 1:
            raise place.at(f"raters.{name}").wrong("must be 1 or more")
    if raters.abandoned_after <= raters.least_seconds:
        raise place.at("raters.abandoned_after").wrong("must be longer than least_seconds")
    if raters.fourth and not isinstance(design.question(raters.fourth), Preference | ChoiceQuestion):
        raise place.at("raters.fourth").wrong(
            f"names {raters.fourth!r}, which is no preference or choice of this study"
        )


def _check_checks(design: Design, place: TomlPlace) -> None:
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
