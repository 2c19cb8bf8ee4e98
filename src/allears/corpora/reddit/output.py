"""Writing a built corpus: our JSON lines, Parquet, PEC's official text layout, the counts and the data card.

Everything is written into a folder beside the output, which takes its name at the very end.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from bisect import insort
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.export import conversation_row, lines_sink, parquet_sink
from allears.corpora.pec import PERSONAS, SEPARATOR
from allears.corpora.reddit.options import Options
from allears.corpora.reddit.privacy import hashed
from allears.corpora.statistics import Statistics
from allears.errors import AllearsError

JSON_LINES, PARQUET, PEC_FOLDER, COUNTS = "reddit.jsonl.gz", "reddit.parquet", "pec", "counts.json"
SPLITS = ("train", "valid", "test")
EVERYTHING = "reddit"  # the domain's name in PEC's layout when no subreddits were chosen
ROW = "*" * 30
ROWS_AT_ONCE = 2_000  # read
AT_ONCE = 500  # conversations written
EXAMPLES = 20  # on the card


def write_corpus(options: Options, report: Any, key: bytes | None) -> None:
    """All outputs from `kept.parquet` and `personas.parquet` in the work folder, then the rename."""
    from allears.corpora.reddit.card import write_card

    new = options.work / "corpus"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    personas = personas_by_author(options.work / "personas.parquet")
    statistics = {split: Statistics() for split in SPLITS}
    examples = Examples()
    with (
        PecWriter(new / PEC_FOLDER, by_subreddit=bool(options.wanted)) as pec,
        parquet_sink(new / PARQUET) as to_parquet,
        lines_sink(new / JSON_LINES) as to_lines,
    ):
        found = _conversations(options, personas, key)
        # Some hundreds at a time for each of the writers: a sixth faster than each conversation for all of them.
        while some := list(islice(found, AT_ONCE)):
            for conversation in some:
                to_lines(conversation.to_json())
            for conversation in some:
                to_parquet(conversation_row(conversation))
            for conversation in some:
                pec.write(conversation)
            for conversation in some:
                statistics[conversation.split].add(conversation)
                examples.add(conversation)
    report.conversations = {split: found.conversations for split, found in statistics.items()}
    if not report.total:
        raise AllearsError(
            "no conversation is left after the rules, so nothing was written; "
            "try other --subreddits, --orphans keep or --persona-of respondent"
            + "".join(f"; {rule.name}: {rule.removed:,}" for rule in report.rules if rule.removed)
        )
    facts = {
        "lines": dict(report.lines),
        "rules": [rule.to_dict() for rule in report.rules],
        "conversations": report.conversations,
        "statistics": {split: _without_words(found.to_dict()) for split, found in statistics.items()},
    }
    (new / COUNTS).write_text(json.dumps(facts, indent=1), encoding="utf-8")
    write_card(new, options, report, statistics, examples.chosen)
    put_in_place(new, options.out)


def put_in_place(new: Path, out: Path) -> None:
    """Give a finished folder its name; an older one steps aside first and goes when the new one is there."""
    old = out.absolute().with_name(f".{out.name}.old")
    if out.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.rename(out, old)
    os.rename(new, out)
    shutil.rmtree(old, ignore_errors=True)


def _without_words(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plain.items() if name != "labels"}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, or of the files in the folder that Spark writes, in their order."""
    from pyarrow import parquet

    for file in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=ROWS_AT_ONCE):
            yield from batch.to_pylist()


def personas_by_author(path: Path) -> dict[str, str]:
    """One text a person, a line a sentence: a tenth of the memory of as many objects."""
    found: dict[str, str] = {}
    for row in _rows(path):
        before = found.get(row["author"])
        found[row["author"]] = row["text"] if before is None else f"{before}\n{row['text']}"
    return found


def _conversations(
    options: Options, personas: Mapping[str, str], key: bytes | None
) -> Iterator[Conversation]:
    control = {name.lower() for name in options.control}

    # The same people speak again and again in a thread, and threads lie together.
    @lru_cache(maxsize=4096)
    def persona(author: str) -> Persona:
        return Persona(tuple(map(PersonaSentence, personas[author].split("\n"))))

    for row in _rows(options.work / "kept.parquet"):
        places = range(row["length"] - 1, -1, -1)
        authors = [row[f"author_{back}"] for back in places]
        turns = tuple(
            Turn(Role.SUPPORTER if author == authors[-1] else Role.SEEKER, row[f"text_{back}"], author)
            for back, author in zip(places, authors, strict=True)
        )
        labels: dict[str, Any] = {"subreddit": row["subreddit"]}
        if control:
            labels["control"] = row["subreddit"] in control
        yield Conversation(
            id=row["id"] if key is None else f"reddit-{hashed(key, row['id'])}",
            turns=turns,
            personas={author: persona(author) for author in authors if author in personas},
            labels=labels,
            split=row["split"],
            source="reddit",
        )


class Examples:
    """Some conversations for the card, the same ones every time: those whose ids have the smallest hashes."""

    def __init__(self, most: int = EXAMPLES):
        self._most = most
        self._found: list[tuple[str, Conversation]] = []

    def add(self, conversation: Conversation) -> None:
        place = hashlib.sha256(conversation.id.encode()).hexdigest()
        if len(self._found) < self._most or place < self._found[-1][0]:
            insort(self._found, (place, conversation), key=itemgetter(0))
            del self._found[self._most :]

    @property
    def chosen(self) -> list[Conversation]:
        return [conversation for _, conversation in self._found]


class PecWriter:
    """PEC's layout: a folder for each chosen subreddit (or one for all), train, valid, test and persona.txt."""

    def __init__(self, folder: Path, *, by_subreddit: bool):
        self._folder, self._by_subreddit = folder, by_subreddit
        self._stack = ExitStack()
        self._domains: dict[str, _Domain] = {}

    def __enter__(self) -> PecWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def write(self, conversation: Conversation) -> None:
        name = str(conversation.labels["subreddit"]) if self._by_subreddit else EVERYTHING
        if name not in self._domains:
            self._domains[name] = _Domain(self._folder / name, self._stack)
        self._domains[name].write(conversation)


class _Domain:
    """The files of one domain. Each person's sentences are written when they first speak there."""

    def __init__(self, folder: Path, stack: ExitStack):
        folder.mkdir(parents=True)
        self._folder, self._stack = folder, stack
        self._files: dict[str, IO[str]] = {}
        self._written: set[str] = set()

    def write(self, conversation: Conversation) -> None:
        said = "".join(f"{turn.author}{SEPARATOR}{turn.text}\n" for turn in conversation.turns)
        self._file(f"{conversation.split}.txt").write(f"{said}{ROW}\n")
        for author, persona in conversation.personas.items():
            if author not in self._written:
                self._written.add(author)
                self._file(PERSONAS).write("\n".join((author, *persona.texts, ROW)) + "\n")

    def _file(self, name: str) -> IO[str]:
        """Opened when there is something to write: an empty split has no file."""
        if name not in self._files:
            self._files[name] = self._stack.enter_context((self._folder / name).open("w", encoding="utf-8"))
        return self._files[name]
