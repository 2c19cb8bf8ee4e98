"""Taking a person out of a built corpus: their persona, and every conversation they speak in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from allears.conversation import Conversation
from allears.corpora.export import export_conversations
from allears.corpora.files import Source, lines
from allears.corpora.reddit.output import EVERYTHING, JSON_LINES, PARQUET, PEC_FOLDER, PecWriter, put_in_place
from allears.errors import AllearsError


def forget(folder: Path, author: str) -> int:
    """Rewrite the corpus in `folder` without `author`; how many conversations went.

    The card's examples and the counts are about people too: examples with the person are cut out of the card.
    The new folder takes the old one's place at the end, so an interruption leaves the old one whole.
    """
    source = folder / JSON_LINES
    if not source.is_file():
        raise AllearsError(
            f"{folder}: no {JSON_LINES} here; give the folder that `allears reddit build` wrote"
        )
    gone = 0

    def others() -> Iterator[Conversation]:
        nonlocal gone
        gone = 0
        for line in lines(Source(source)):
            conversation = Conversation.from_json(line)
            if any(turn.author == author for turn in conversation.turns):
                gone += 1
            else:
                yield conversation

    new = folder.absolute().with_name(f".{folder.name}.forgetting")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        by_subreddit = not (folder / PEC_FOLDER / EVERYTHING).is_dir()
        with PecWriter(new / PEC_FOLDER, by_subreddit=by_subreddit) as pec:
            export_conversations(_also(others(), pec), new / JSON_LINES)
        if not gone:
            raise AllearsError(
                f"{folder}: nobody here has the id {author!r}; `allears reddit author-id NAME` gives it"
            )
        export_conversations(others(), new / PARQUET)
        for path in folder.iterdir():
            if path.name not in (JSON_LINES, PARQUET, PEC_FOLDER):
                shutil.copy2(path, new / path.name)
        _cut_examples(new / "card.md", author, gone)
        put_in_place(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return gone


def _also(conversations: Iterator[Conversation], pec: PecWriter) -> Iterator[Conversation]:
    for conversation in conversations:
        pec.write(conversation)
        yield conversation


def _cut_examples(card: Path, author: str, gone: int) -> None:
    """Examples begin with `### ` and name speakers by the first six characters of their ids."""
    head, *examples = card.read_text(encoding="utf-8").split("\n### ")
    left = [example for example in examples if f"*{author[:6]}*" not in example]
    note = f"\n\n{gone:,} conversations were removed later, at a person's wish; the counts above are from before.\n"
    card.write_text("\n### ".join([head.rstrip() + note, *left]), encoding="utf-8")
