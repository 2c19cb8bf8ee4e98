"""Is a corpus what its authors published, and is its text sound? Reads every split that is here.

A *problem* is something that must be mended before the files are used: a broken row, an unknown label, an
empty text, two conversations with one id. A *note* is worth knowing and no reason to stop: mojibake, exact
duplicates, one person speaking twice in a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from allears.conversation import Conversation
from allears.corpora.bad_rows import KEPT, BadRows
from allears.corpora.corpus import Corpus, CorpusInfo
from allears.corpora.files import CorpusError, NotHereError, valid_utf8
from allears.errors import AllearsError

FINE, DIFFERS, BROKEN, NOT_HERE = "fine", "differs", "problem", "not here"

# UTF-8 that somebody once read as Windows-1252: ’ “ é come out as â€™ â€œ Ã©.
MOJIBAKE = ("â€", "Ã©", "Ã¨", "Ã¢", "Ã¼", "Ã¶", "Ã¤", "Ã±", "Â ", "Â£", "ðŸ")

Watch = Callable[[Iterable[Conversation], str, int | None], Iterable[Conversation]]
"""Wraps an iterator to show progress: the conversations, what is being read, how many are expected."""


@dataclass(slots=True)
class SplitReport:
    """What was found in one split."""

    corpus: str
    split: str
    status: str = FINE
    conversations: int = 0
    utterances: int = 0
    expected_conversations: int | None = None
    expected_utterances: int | None = None
    problems: list[str] = field(default_factory=list)  # the first KEPT, as sentences
    problem_count: int = 0
    notes: Counter[str] = field(default_factory=Counter)

    def problem(self, sentence: str) -> None:
        self.problem_count += 1
        if len(self.problems) < KEPT:
            self.problems.append(sentence)

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "split": self.split,
            "status": self.status,
            "conversations": self.conversations,
            "utterances": self.utterances,
            "expected": {
                "conversations": self.expected_conversations,
                "utterances": self.expected_utterances,
            },
            "problem_count": self.problem_count,
            "problems": self.problems,
            "notes": dict(sorted(self.notes.items())),
        }


def splits_here(corpus: Corpus, root: Path) -> list[str]:
    """The splits whose files are under `root`. A broken file is there; `check` says what is wrong with it."""
    found = []
    for split in corpus.info.splits:
        try:
            next(iter(corpus.read(split, root)), None)
        except NotHereError:
            continue
        except CorpusError:
            pass
        found.append(split)
    return found


def readable_splits(corpus: Corpus, root: Path) -> list[str]:
    """The splits that can be read; that there are none is one sentence."""
    here = splits_here(corpus, root)
    if here:
        return here
    if not corpus.info.page:  # a user's own file: its reader knows best what is missing
        next(corpus.read(corpus.info.splits[0], root), None)
    raise AllearsError(
        f"{corpus.info.title} is not under {root}; get it with: allears data download {corpus.info.name}"
    )


def unwatched(conversations: Iterable[Conversation], what: str, total: int | None) -> Iterable[Conversation]:
    return conversations


def check(corpus: Corpus, root: Path, *, watch: Watch = unwatched) -> Iterator[SplitReport]:
    """A report per split, in the corpus's order. Nothing is raised: what is wrong is in the report."""
    seen_elsewhere: set[bytes] = set()
    for split in corpus.info.splits:
        report, fingerprints = _check_split(corpus, split, root, seen_elsewhere, watch)
        seen_elsewhere |= fingerprints
        yield report


def _check_split(
    corpus: Corpus, split: str, root: Path, seen_elsewhere: set[bytes], watch: Watch
) -> tuple[SplitReport, set[bytes]]:
    info = corpus.info
    report = SplitReport(
        info.name,
        split,
        expected_conversations=info.counts.get(split),
        expected_utterances=info.utterances.get(split),
    )
    bad = BadRows()
    ids: set[str] = set()
    fingerprints: set[bytes] = set()
    try:
        stream = corpus.read(split, root, on_bad=bad)
        for conversation in watch(stream, f"{info.name} {split}", report.expected_conversations):
            report.conversations += 1
            report.utterances += len(conversation.turns)
            if conversation.id in ids:
                report.problem(f"two conversations have the id {conversation.id!r}")
            ids.add(conversation.id)
            _check_fields(conversation, info, report)
            _note_text(conversation, report)
            _note_duplicates(conversation, fingerprints, seen_elsewhere, report)
    except NotHereError:
        report.status = NOT_HERE
        return report, fingerprints
    except CorpusError as error:  # the file as a whole: cut short, wrong columns, a pickle
        report.problem(str(error))
    report.problem_count += bad.count
    report.problems = [str(error) for error in bad.first] + report.problems
    report.status = _status(report)
    return report, fingerprints


def _status(report: SplitReport) -> str:
    if report.problem_count:
        return BROKEN
    for found, expected in (
        (report.conversations, report.expected_conversations),
        (report.utterances, report.expected_utterances),
    ):
        if expected is not None and found != expected:
            return DIFFERS
    return FINE


def _check_fields(conversation: Conversation, info: CorpusInfo, report: SplitReport) -> None:
    where = f"conversation {conversation.id!r}"
    if not conversation.turns:
        report.problem(f"{where} has no turns")
    _check_known(info, report, where, "emotion", conversation.emotion)
    _check_known(info, report, where, "problem", conversation.problem)
    for number, turn in enumerate(conversation.turns, start=1):
        if not turn.text or turn.text.isspace():
            report.problem(f"{where}, turn {number} is empty")
        if not valid_utf8(turn.text):
            report.problem(f"{where}, turn {number} holds characters that are no text (lone surrogates)")
        if info.known:
            here = f"{where}, turn {number}"
            _check_known(info, report, here, "turn emotion", turn.emotion)
            _check_known(info, report, here, "strategy", turn.strategy)
            _check_known(info, report, here, "intent", turn.intent)
    if info.rules is not None:
        for sentence in info.rules(conversation):
            report.problem(f"{where}: {sentence}")


def _check_known(info: CorpusInfo, report: SplitReport, where: str, label: str, value: str | None) -> None:
    if value is not None and label in info.known and value not in info.known[label]:
        report.problem(f"{where} has the unknown {label} {value!r}")


def _note_text(conversation: Conversation, report: SplitReport) -> None:
    last = None
    twice = False
    for turn in conversation.turns:
        if not turn.text.isascii():  # most text is, and this is nearly free
            if "\ufffd" in turn.text:
                report.notes["utterances with �"] += 1
            if any(sign in turn.text for sign in MOJIBAKE):
                report.notes["utterances with mojibake"] += 1
        twice = twice or (turn.speaker, turn.author) == last
        last = (turn.speaker, turn.author)
    if twice:
        report.notes["with one speaker twice in a row"] += 1


def _note_duplicates(
    conversation: Conversation, seen: set[bytes], seen_elsewhere: set[bytes], report: SplitReport
) -> None:
    """Equal words in equal order, whatever the ids and labels say. A digest, so memory stays small."""
    text = "\x1e".join(turn.text for turn in conversation.turns)
    fingerprint = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if fingerprint in seen:
        report.notes["exact duplicates"] += 1
    elif fingerprint in seen_elsewhere:
        report.notes["also in an earlier split"] += 1
    seen.add(fingerprint)
