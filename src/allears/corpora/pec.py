"""PEC (Zhong et al. 2020): persona-based empathetic conversations from Reddit.

Official layout, one folder per domain (`happy`, `offmychest`; any name will do, and what our own Reddit
builder writes has the same form) inside `pec/`, `pec_format/` or an archive of that name:

    train.txt, valid.txt, test.txt    `author ---+--- text`, a row of asterisks after each conversation
    persona.txt                       an author, that author's sentences, a row of asterisks

The last author answers and is the supporter; everybody else is a seeker. Conversations are streamed; the
personas are looked up by author in any order, so they are held in memory, one text per author. The counts
below are those of the sample described in docs/corpora; the whole corpus has 355K conversations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.corpus import CorpusInfo
from allears.corpora.files import (
    ARCHIVES,
    COMPRESSED,
    CorpusError,
    NotHereError,
    OnBad,
    Source,
    lines,
    members,
    raise_bad,
    valid_utf8,
)

SEPARATOR = " ---+--- "
PERSONAS = "persona.txt"

_PLACES = ("pec_format", "pec")


class PEC:
    """`domains` chooses among the folders; by default all of them are read, in the order of their names."""

    info = CorpusInfo(
        name="pec",
        title="PEC",
        licence="GPL-3.0",
        page="https://github.com/zhongpeixiang/PEC",
        about="Reddit conversations of happiness and hardship, with sentences about each responder.",
        counts={"train": 4, "valid": 4, "test": 4},
    )

    def __init__(self, *, domains: Sequence[str] | None = None):
        self.domains = None if domains is None else tuple(domains)

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        found = _domains(Path(root), split)
        wanted = sorted(found) if self.domains is None else self.domains
        missing = [name for name in wanted if name not in found]
        if missing or not wanted:
            expected = f"{missing[0] if missing else 'DOMAIN'}/{split}.txt"
            raise NotHereError(f"expected pec/{expected} with {PERSONAS} beside it", source=Path(root))
        return _read(split, [found[name] for name in wanted], on_bad)


@dataclass(frozen=True, slots=True)
class _Domain:
    name: str
    conversations: Source
    personas: Source


def _domains(root: Path, split: str) -> dict[str, _Domain]:
    """Every domain with this split in the first place that has any."""
    if not root.exists():
        raise NotHereError("no such file or folder; set ALLEARS_DATA or pass --root", source=root)
    places = [root / place for place in _PLACES] + [root]
    for place in places:
        for path in (place, *(place.with_name(place.name + ending) for ending in ARCHIVES)):
            found = _domains_in(path, split)
            if found:
                return found
    return {}


def _domains_in(place: Path, split: str) -> dict[str, _Domain]:
    """The domains in a folder (or the one domain that a folder or file is), or in an archive."""
    if place.is_dir():
        sources = [Source(path) for path in [*place.glob("*.txt*"), *place.glob("*/*.txt*")]]
    elif not place.is_file():
        return {}
    elif place.name.endswith(ARCHIVES):
        sources = [Source(place, member) for member in members(place)]
    else:
        sources = [
            Source(path) for path in place.parent.glob("*.txt*") if path == place or _is(path, PERSONAS)
        ]
    by_folder: dict[str, dict[str, Source]] = {}
    for source in sources:
        path = PurePosixPath(source.member) if source.member else PurePosixPath(source.path.as_posix())
        for wanted in (f"{split}.txt", PERSONAS):
            if _is(path, wanted):
                by_folder.setdefault(path.parent.name, {})[wanted] = source
    return {
        name: _Domain(name, found[f"{split}.txt"], found[PERSONAS])
        for name, found in by_folder.items()
        if len(found) == 2
    }


def _is(path: PurePosixPath | Path, name: str) -> bool:
    return path.name in {name, *(name + ending for ending in COMPRESSED)}


def _read(split: str, domains: Sequence[_Domain], on_bad: OnBad) -> Iterator[Conversation]:
    for domain in domains:
        yield from _conversations(domain, split, on_bad)


def _conversations(domain: _Domain, split: str, on_bad: OnBad) -> Iterator[Conversation]:
    personas = dict(_author_and_sentences(domain.personas, on_bad))
    for block in _blocks(domain.conversations):
        try:
            turns = _turns(block, domain.conversations)
        except CorpusError as error:
            on_bad(error)
            continue
        yield Conversation(
            id=f"pec-{domain.name}-{split}-{block[0][0]}",
            turns=turns,
            personas={
                author: _persona(personas[author])
                for author in dict.fromkeys(turn.author for turn in turns)
                if author is not None and author in personas
            },
            labels={"domain": domain.name},
            split=split,
            source="pec",
        )


def _blocks(source: Source) -> Iterator[list[tuple[int, str]]]:
    """The lines between rows of asterisks, each with its number. The last row may be missing."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines(source), 1):
        text = line.strip()
        if len(text) >= 10 and not text.strip("*"):
            if block:
                yield block
            block = []
        elif text:
            block.append((number, text))
    if block:
        yield block


def _turns(block: list[tuple[int, str]], source: Source) -> tuple[Turn, ...]:
    said: list[tuple[str, str]] = []
    for number, line in block:
        if not valid_utf8(line):
            raise CorpusError("not valid UTF-8", source=source, line=number)
        author, separator, text = line.partition(SEPARATOR)
        if not (separator and author.strip() and text.strip()):
            raise CorpusError(f"expected 'author{SEPARATOR}text'", source=source, line=number)
        said.append((author.strip(), text.strip()))
    responder = said[-1][0]
    return tuple(
        Turn(Role.SUPPORTER if author == responder else Role.SEEKER, text, author) for author, text in said
    )


def _author_and_sentences(source: Source, on_bad: OnBad) -> Iterator[tuple[str, str]]:
    for block in _blocks(source):
        (line, author), *sentences = block
        text = "\n".join(sentence for _, sentence in sentences)
        if valid_utf8(author + text):
            yield author, text
        else:
            on_bad(CorpusError("not valid UTF-8 in this persona", source=source, line=line))


def _persona(sentences: str) -> Persona:
    return Persona(tuple(PersonaSentence(text, PERSONAS) for text in sentences.split("\n") if text))
