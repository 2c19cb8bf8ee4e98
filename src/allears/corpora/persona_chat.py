"""PERSONA-CHAT (Zhang et al. 2018): two strangers get to know each other, each with a short profile.

Official layout: `{train,valid,test}_{self,other,both,none}_{original,revised}[_no_cands].txt`, in a folder or
in `personachat.tgz`. Lines are numbered within a dialogue; the next dialogue begins at 1 again:

    1 your persona: i like tea.
    2 partner's persona: i sail.
    3 __SILENCE__<tab>hello !
    4 hi , do you sail ?<tab>no , i drink tea .<tab><tab>another answer|no , i drink tea .

The second column answers the first, so its speaker is the supporter and "your persona" is the supporter's.
`__SILENCE__` means that the supporter speaks first. Candidates, where the file has them, are in
`labels["candidates"]`: for each supporter turn the list as published, the true answer among them.

Beside it, `train_profiles_with_utterances.jsonl` holds both profiles of all training dialogues with a part
of what each side said, run together: good for learning to extract a persona, not a dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora import json_files
from allears.corpora.corpus import CorpusInfo, Download
from allears.corpora.files import CorpusError, OnBad, Source, lines, locate, raise_bad, valid_utf8

SILENCE = "__SILENCE__"

_NUMBERED = re.compile(r"([0-9]{1,6}) (.*)", re.DOTALL)
_PROFILES = {"your persona: ": Role.SUPPORTER, "partner's persona: ": Role.SEEKER}
_PAGE = "https://github.com/facebookresearch/ParlAI/tree/main/projects/personachat"


class PersonaChat:
    """Which of the published files is read is chosen here; `candidates=None` takes either kind."""

    info = CorpusInfo(
        name="personachat",
        title="PERSONA-CHAT",
        licence="CC BY",
        page=_PAGE,
        about="Small talk between two people who were each given a profile of about five sentences.",
        downloads=(
            Download(
                url="http://parl.ai/downloads/personachat/personachat.tgz",
                file="personachat/personachat.tgz",
                sha256="507cf8641d333240654798870ea584d854ab5261071c5e3521c20d8fa41d5622",
            ),
        ),
        # Of the files in docs/corpora: a sample of 1,000 whole training dialogues, and the valid split.
        counts={"train": 1_000, "valid": 1_000},
    )

    def __init__(
        self,
        *,
        profiles: Literal["self", "other", "both", "none"] = "both",
        wording: Literal["original", "revised"] = "original",
        candidates: bool | None = None,
    ):
        self.profiles, self.wording, self.candidates = profiles, wording, candidates

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        endings = {None: ("_no_cands", ""), True: ("",), False: ("_no_cands",)}[self.candidates]
        names = [f"{split}_{self.profiles}_{self.wording}{ending}.txt" for ending in endings]
        places = ("personachat/{}", "personachat/personachat.tgz:*{}", "personachat.tar.gz:*{}")
        source = locate(root, [place.format(name) for place in places for name in names])
        return _conversations(source, split, on_bad)


@dataclass(slots=True)
class _Dialogue:
    """What the lines of one dialogue have said so far."""

    first_line: int
    number: int = 0
    turns: list[Turn] = field(default_factory=list)
    profiles: dict[str, list[PersonaSentence]] = field(default_factory=dict)
    candidates: list[list[str]] = field(default_factory=list)


def _conversations(source: Source, split: str, on_bad: OnBad) -> Iterator[Conversation]:
    dialogue = _Dialogue(first_line=1)
    for line, text in enumerate(lines(source), 1):
        if text.isspace():
            continue
        try:
            number, rest = _numbered(text)
            if number <= dialogue.number:
                if dialogue.turns:
                    yield _conversation(dialogue, split)
                dialogue = _Dialogue(first_line=line)
            dialogue.number = number
            _add(dialogue, rest)
        except ValueError as error:
            on_bad(CorpusError(str(error), source=source, line=line))
    if dialogue.turns:
        yield _conversation(dialogue, split)


def _numbered(text: str) -> tuple[int, str]:
    if not valid_utf8(text):
        raise ValueError("not valid UTF-8")
    match = _NUMBERED.fullmatch(text.rstrip("\r\n"))
    if match is None:
        raise ValueError("expected a line number, a space and a text")
    return int(match[1]), match[2]


def _add(dialogue: _Dialogue, text: str) -> None:
    """One line of a dialogue: a profile sentence, or what was said and answered."""
    for opening, role in _PROFILES.items():
        if text.startswith(opening):
            sentence = PersonaSentence(text.removeprefix(opening).strip(), "profile")
            dialogue.profiles.setdefault(role.value, []).append(sentence)
            return
    said, *answer = text.split("\t")
    if not (said.strip() and answer and answer[0].strip()):
        raise ValueError("expected a text and its answer, with a tab between them")
    if said.strip() != SILENCE:
        dialogue.turns.append(Turn(Role.SEEKER, said.strip()))
    dialogue.turns.append(Turn(Role.SUPPORTER, answer[0].strip()))
    # The third column was meant for a reward and is empty; candidates are in the last.
    dialogue.candidates.append(answer[-1].split("|") if len(answer) > 1 and answer[-1] else [])


def _conversation(dialogue: _Dialogue, split: str) -> Conversation:
    return Conversation(
        id=f"personachat-{split}-{dialogue.first_line}",
        turns=tuple(dialogue.turns),
        personas={who: Persona(tuple(sentences)) for who, sentences in dialogue.profiles.items()},
        labels={"candidates": dialogue.candidates} if any(dialogue.candidates) else {},
        split=split,
        source="personachat",
    )


class PersonaChatProfiles:
    """One "conversation" a dialogue, with a turn a side: the words of A (seeker), then those of B.
    `labels["persona_sentence"]` is the profile sentence its authors matched to each side's words."""

    info = CorpusInfo(
        name="personachat-profiles",
        title="PERSONA-CHAT, profiles with utterances",
        licence="CC BY",
        page=_PAGE,
        about="Both profiles of every training dialogue and part of what each side said, run together.",
        splits=("train",),
        counts={"train": 8_938},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        source = locate(root, [f"personachat/{split}_profiles_with_utterances.jsonl"])
        records = json_files.json_lines(source, on_bad)
        return json_files.conversations(source, records, lambda _, record: _profiles(record, split), on_bad)


_SIDES = {"a": Role.SEEKER, "b": Role.SUPPORTER}


def _profiles(record: json_files.Record, split: str) -> Conversation:
    return Conversation(
        id=json_files.text_field(record, "id"),
        turns=tuple(
            Turn(role, json_files.text_field(record, f"some_utterances_{side}"))
            for side, role in _SIDES.items()
        ),
        personas={role.value: _profile(record, f"persona_{side}") for side, role in _SIDES.items()},
        labels={
            "persona_sentence": {
                role.value: json_files.text_field(record, f"persona_sentence_{side}")
                for side, role in _SIDES.items()
            }
        },
        split=split,
        source="personachat-profiles",
    )


def _profile(record: json_files.Record, name: str) -> Persona:
    sentences = json_files.texts(json_files.field(record, name, list), name)
    return Persona(tuple(PersonaSentence(text.strip(), "profile") for text in sentences))
