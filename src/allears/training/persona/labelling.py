"""What a teacher takes utterances to tell, written down: a file to learn from, one line of JSON for each utterance."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from rich.progress import track

from allears.conversation import Conversation, Role
from allears.corpora import read
from allears.corpora.files import CorpusError, Source, raise_bad
from allears.corpora.json_files import json_lines
from allears.errors import AllearsError
from allears.personas.examples import Telling, msc_tellings, spoken_in_persona_chat
from allears.training.recipe import sample

# Whose train splits are labelled. PERSONA-CHAT's valid split is MSC's first sessions, so it is left alone.
CORPORA = ("ed", "esconv", "dailydialog")
SHORTEST = 3  # words


def unlabelled(root: Path, limit: int, seed: int, corpora: Sequence[str] | None = None) -> list[str]:
    """Utterances of every corpus at hand, at most `limit` of each (0: all), each text once."""
    msc = [each.utterance for each in msc_tellings("train", root)]
    found: dict[str, None] = dict.fromkeys(sample(msc, limit, seed))
    found |= dict.fromkeys(sample(list(spoken_in_persona_chat(root, seed)), limit, seed))
    for corpus in CORPORA if corpora is None else corpora:
        turns = [text for talk in read(corpus, "train", root) for text in _own_words(talk)]
        found |= dict.fromkeys(sample(turns, limit, seed))
    return [text for text in found if len(text.split()) >= SHORTEST]


def _own_words(talk: Conversation) -> Iterator[str]:
    return (turn.text for turn in talk.turns if turn.speaker is Role.SEEKER)


class WritesPersona(Protocol):
    """Who tells what utterances tell: a teacher."""

    def write(self, utterances: Sequence[str]) -> list[str]: ...


def labelled(teacher: WritesPersona, utterances: Sequence[str], at_once: int = 2048) -> Iterator[Telling]:
    """With a bar: a hundred thousand utterances take minutes."""
    for start in track(range(0, len(utterances), at_once), description="writing down who people are"):
        part = utterances[start : start + at_once]
        for utterance, persona in zip(part, teacher.write(part), strict=True):
            yield Telling(utterance, persona, gold=False)


def write_tellings(path: Path, tellings: list[Telling]) -> None:
    """By way of a temporary file; gzipped where the name says so."""
    text = "".join(
        json.dumps({"utterance": each.utterance, "persona": each.persona}, ensure_ascii=False) + "\n"
        for each in tellings
    ).encode()
    temporary = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    temporary.replace(path)


def read_tellings(path: Path) -> list[Telling]:
    if not path.is_file():
        raise AllearsError(
            f"{path}: no such file; make it with `allears persona label TEACHER --out {path.name}`"
        )
    source, found = Source(path), []
    for number, record in json_lines(source, raise_bad):
        utterance, persona = record.get("utterance"), record.get("persona")
        if not isinstance(utterance, str) or not isinstance(persona, str):
            raise CorpusError("expected an utterance and its persona", source=source, line=number)
        found.append(Telling(utterance, persona, gold=False))
    return found
