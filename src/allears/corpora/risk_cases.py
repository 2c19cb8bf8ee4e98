"""The crisis screen's own cases: short messages, each with the danger it shows, written for this project.

They ship inside the package (`safety/cases`), so `root` is not looked at. A message is one
seeker turn; its danger, or "none", is in `labels["risk"]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora.corpus import CorpusInfo
from allears.corpora.files import NotHereError, OnBad, Source, raise_bad
from allears.corpora.json_files import Record, conversations, json_lines, text_field

FOLDER = Path(__file__).parent.parent / "safety" / "cases"


def cases_path(split: str) -> Path:
    """Where the cases of a split lie; those of train, which are many, are packed."""
    packed = FOLDER / f"{split}.jsonl.gz"
    return packed if packed.is_file() else FOLDER / f"{split}.jsonl"


class RiskCases:
    info = CorpusInfo(
        name="risk-cases",
        title="Crisis screen cases",
        licence="MIT",
        page="docs/safety.md",
        about="Messages with and without danger to somebody, written for the crisis screen. Shipped with allears.",
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        path = cases_path(split)
        if not path.is_file():
            raise NotHereError(f"risk-cases has no split {split!r}; it has {', '.join(self.info.splits)}")
        source = Source(path)

        def build(line: int, record: Record) -> Conversation:
            return Conversation(
                id=f"risk-{split}-{line}",
                turns=(Turn(Role.SEEKER, text_field(record, "text")),),
                labels={"risk": text_field(record, "label")},
                split=split,
                source="risk-cases",
            )

        return conversations(source, json_lines(source, on_bad), build, on_bad)
