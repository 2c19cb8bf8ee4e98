"""Multi-Session Chat (Xu et al. 2022): sessions of long acquaintances, with what each turn tells of a person.

Two layouts. The jsonl has a session a line: `dialogue` is a list of [user, answer] pairs and `user_memory`
the gold persona sentences of each user turn, a list that may be empty. The official tarball
(`msc_v0.1.tar.gz`, or unpacked as `msc/`) has `msc_personasummary/session_{1..4}/{split}.txt`, where a turn
of `dialog` may carry a `persona_text`. The user, who speaks first, is the seeker.

`personas` collects the sentences, each with its source "turn N" (counted from 1 in `turns`), and
`labels["persona_by_turn"]` has one list for every turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.corpus import CorpusInfo, Download
from allears.corpora.files import NotHereError, OnBad, Source, locate, raise_bad
from allears.corpora.json_files import Record, conversations, field, json_lines, text_field, texts

SESSIONS = (1, 2, 3, 4)


class MultiSessionChat:
    info = CorpusInfo(
        name="msc",
        title="Multi-Session Chat",
        licence="CC BY",
        page="https://parl.ai/projects/msc/",
        about="Chat sessions whose turns are summed up in gold persona sentences.",
        downloads=(
            Download(
                url="http://parl.ai/downloads/msc/msc_v0.1.tar.gz",
                file="msc/msc_v0.1.tar.gz",
                sha256="e640e37cf4317cd09fc02a4cd57ef130a185f23635f4003b0cee341ffcb45e60",
            ),
        ),
        counts={"valid": 2_000},  # of the jsonl in docs/corpora
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        name = f"msc_persona_{split}.jsonl"
        try:
            source = locate(root, [f"msc/{name}", f"personachat/{name}"])
        except NotHereError as nothing:
            sessions = _official_sessions(split, root)
            if not sessions:
                raise nothing
            return _official(sessions, split, on_bad)
        build = partial(_conversation, split)
        return conversations(source, json_lines(source, on_bad), build, on_bad)


def _conversation(split: str, _line: int, record: Record) -> Conversation:
    pairs, memory = field(record, "dialogue", list), field(record, "user_memory", list)
    if len(pairs) != len(memory):
        raise ValueError(f"{len(pairs)} pairs in 'dialogue' but {len(memory)} lists in 'user_memory'")
    turns: list[Turn] = []
    by_turn: list[list[str]] = []
    for number, (pair, sentences) in enumerate(zip(pairs, memory, strict=True), 1):
        if len(texts(pair, "dialogue")) != 2:
            raise ValueError(f"pair {number} in 'dialogue' must be [user, answer], got {len(pair)} texts")
        user, answer = (text.strip() for text in pair)
        turns.append(Turn(Role.SEEKER, user))
        by_turn.append(texts(sentences, "user_memory"))
        if answer or number < len(pairs):  # a session may end with the user
            turns.append(Turn(Role.SUPPORTER, answer))
            by_turn.append([])
    labels = {"session": record["session"]} if "session" in record else {}
    return _assemble(text_field(record, "id"), turns, by_turn, labels, split)


def _assemble(
    name: str, turns: list[Turn], by_turn: list[list[str]], labels: Record, split: str
) -> Conversation:
    if not turns or not all(turn.text for turn in turns):
        raise ValueError("no turns, or an empty turn before the last one")
    personas: dict[str, list[PersonaSentence]] = {}
    for number, (turn, sentences) in enumerate(zip(turns, by_turn, strict=True), 1):
        for sentence in sentences:
            known = personas.setdefault(turn.speaker.value, [])
            known.append(PersonaSentence(sentence, f"turn {number}"))
    return Conversation(
        id=name,
        turns=tuple(turns),
        personas={who: Persona(tuple(sentences)) for who, sentences in personas.items()},
        labels={**labels, "persona_by_turn": by_turn},
        split=split,
        source="msc",
    )


def _official_sessions(split: str, root: Path) -> dict[int, Source]:
    """Those of the four sessions that are here; there is no fourth for training."""
    found = {}
    for session in SESSIONS:
        inside = f"msc_personasummary/session_{session}/{split}.txt"
        try:
            found[session] = locate(
                root,
                [f"msc/{inside}", f"msc/msc/{inside}", inside, f"msc/msc_v0.1.tar.gz:*{inside}"],
            )
        except NotHereError:
            continue
    return found


def _official(sessions: dict[int, Source], split: str, on_bad: OnBad) -> Iterator[Conversation]:
    for session, source in sessions.items():
        build = partial(_official_conversation, session, split)
        yield from conversations(source, json_lines(source, on_bad), build, on_bad)


def _official_conversation(session: int, split: str, line: int, record: Record) -> Conversation:
    turns: list[Turn] = []
    by_turn: list[list[str]] = []
    for position, item in enumerate(field(record, "dialog", list)):
        if not isinstance(item, dict):
            raise ValueError(f"a turn in 'dialog' must be an object, got {type(item).__name__}")
        turns.append(Turn((Role.SEEKER, Role.SUPPORTER)[position % 2], text_field(item, "text")))
        by_turn.append([text_field(item, "persona_text")] if item.get("persona_text") else [])
    return _assemble(f"msc-{split}-s{session}-{line}", turns, by_turn, {"session": session}, split)
