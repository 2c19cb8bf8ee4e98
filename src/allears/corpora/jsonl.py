"""A user's own corpus: a file with one Conversation a line, as `Conversation.to_json` writes it.

{"id": "talk-1", "turns": [{"speaker": "seeker", "text": "I failed."}, {"speaker": "supporter", "text": ...}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from allears.conversation import Conversation, conversation_from_dict
from allears.corpora.corpus import CorpusInfo
from allears.corpora.files import NotHereError, OnBad, Source, raise_bad
from allears.corpora.json_files import Record, conversations, json_lines

EVERYTHING = ("", "all")


class JsonLines:
    """`path` is absolute, or relative to the root of the corpora or to the current folder (in that order).

    `read(split)` leaves out the records that name another split; "" and "all" read every record.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        name = self.path.name.partition(".jsonl")[0]
        self.info = CorpusInfo(
            name=name,
            title=name,
            licence="your own",
            page="",
            about="A corpus of your own, one conversation a line.",
            splits=("all",),
        )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        source = Source(self._find(Path(root)))
        records = json_lines(source, on_bad)
        found = conversations(source, records, self._conversation, on_bad)
        if split in EVERYTHING:
            return found
        return (conversation for conversation in found if conversation.split in ("", split))

    def _find(self, root: Path) -> Path:
        for path in (root / self.path, self.path, root):  # an absolute path stays itself after `root /`
            if path.is_file() and path.name == self.path.name:
                return path
        raise NotHereError(f"no such file, neither here nor under {root}", source=self.path)

    def _conversation(self, line: int, record: Record) -> Conversation:
        return conversation_from_dict(record)
