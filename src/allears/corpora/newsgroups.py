"""20 Newsgroups, split by date: posts to twenty newsgroups, for learning topics.

Two layouts. The official one is a folder tree, `20news-bydate-{train,test}/GROUP/NUMBER`, in
`20news-bydate.tar.gz` or unpacked, in Latin-1; headers and quoted lines are stripped here, and a post of
which nothing is left is dropped. The other is `20news/{train,test}.jsonl` with `label` and `text`, where that
was done already and texts are cut at 1,200 characters.

The tree has 11,314 and 7,532 posts; without those that are empty the jsonl has 11,290 and 7,507, and these
are the counts we check. A post is one seeker turn; its group is in `labels["topic"]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora.corpus import CorpusInfo, Download
from allears.corpora.files import OnBad, locate, raise_bad, whole_files
from allears.corpora.json_files import Record, conversations, json_lines, text_field

# Lines that repeat what somebody else wrote, and the line that says who.
_QUOTED = re.compile(r"^\s*[>|]|(writes in|writes:|wrote:|says:|said:)\s*$|^In article\b|^Quoted from\b")


class Newsgroups:
    info = CorpusInfo(
        name="20news",
        title="20 Newsgroups",
        licence="public",
        page="http://qwone.com/~jason/20Newsgroups/",
        about="Newsgroup posts of 1993 in 20 topics, headers and quotes stripped.",
        splits=("train", "test"),
        downloads=(
            Download(
                url="http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                file="20news/20news-bydate.tar.gz",
            ),
        ),
        counts={"train": 11_290, "test": 7_507},
        utterances={"train": 11_290, "test": 7_507},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        root = Path(root)
        tree = f"20news-bydate-{split}"
        for folder in (root / tree, root / "20news" / tree, root / "20news-bydate" / tree, root):
            if folder.name == tree and folder.is_dir():
                return _posts(folder, f"*{tree}/*/*", split)
        source = locate(root, [f"20news/{split}.jsonl", f"20news/20news-bydate.tar.gz:*{tree}/*/*"])
        if source.member is not None:
            return _posts(source.path, f"*{tree}/*/*", split)

        def build(line: int, record: Record) -> Conversation:
            topic, text = text_field(record, "label"), text_field(record, "text")
            return _conversation(f"20news-{split}-{line}", topic, text, split)

        return conversations(source, json_lines(source, on_bad), build, on_bad)


def _posts(place: Path, pattern: str, split: str) -> Iterator[Conversation]:
    for name, post in whole_files(place, pattern):
        topic, number = name.split("/")[-2:]
        text = strip_quotes(strip_header(post.decode("latin-1")))
        if text:
            yield _conversation(f"{topic}/{number}", topic, text, split)


def _conversation(name: str, topic: str, text: str, split: str) -> Conversation:
    return Conversation(
        id=name,
        turns=(Turn(Role.SEEKER, text),),
        labels={"topic": topic},
        split=split,
        source="20news",
    )


def strip_header(post: str) -> str:
    """What comes after the first blank line."""
    return post.replace("\r\n", "\n").partition("\n\n")[2]


def strip_quotes(text: str) -> str:
    """Without the lines somebody else wrote."""
    return "\n".join(line for line in text.split("\n") if not _QUOTED.search(line)).strip()
