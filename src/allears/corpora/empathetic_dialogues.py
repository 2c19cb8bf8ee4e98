"""EmpatheticDialogues (Rashkin et al. 2019): 25K conversations, each grounded in one of 32 emotions.

Official layout: `train.csv`, `valid.csv`, `test.csv` with eight unquoted columns, commas written `_comma_`;
in a tarball, a folder, or alone. The seeker is whoever speaks first. Rows may carry further columns
(the official test file lists candidates there); they are not part of the conversation and are left.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora.corpus import CorpusInfo, Download
from allears.corpora.files import CorpusError, OnBad, Source, lines, locate, raise_bad, valid_utf8
from allears.labels import ED_EMOTIONS as EMOTIONS

COLUMNS = ["conv_id", "utterance_idx", "context", "prompt", "speaker_idx", "utterance"]


_KNOWN_EMOTIONS = frozenset(EMOTIONS)
# Looking a member up on the enum costs as much as the rest of the work on a row.
_SEEKER, _SUPPORTER = Role.SEEKER, Role.SUPPORTER


class EmpatheticDialogues:
    info = CorpusInfo(
        name="ed",
        title="EmpatheticDialogues",
        licence="CC BY-NC 4.0",
        page="https://github.com/facebookresearch/EmpatheticDialogues",
        about="One-on-one conversations about a felt situation, with 32 emotion labels.",
        downloads=(
            Download(
                url="https://dl.fbaipublicfiles.com/parlai/empatheticdialogues/empatheticdialogues.tar.gz",
                file="empatheticdialogues.tar.gz",
                bytes=28_022_709,
                sha256="56f234d77b7dd1f005fd365bb17769cfe346c3c84295b69bc069c8ccb83be03d",
            ),
        ),
        counts={"train": 19_532, "valid": 2_769},
        utterances={"train": 84_165},
        known={"emotion": EMOTIONS},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        source = locate(
            root,
            [
                f"empatheticdialogues/{split}.csv",
                f"empatheticdialogues.tar.gz:*{split}.csv",
                f"empatheticdialogues.tar:*{split}.csv",
                f"empatheticdialogues.zip:*{split}.csv",
            ],
        )
        return _conversations(source, split, on_bad)


def _conversations(source: Source, split: str, on_bad: OnBad) -> Iterator[Conversation]:
    """Rows of one conversation stand together; a new `conv_id` closes the last one."""
    reader = csv.reader(lines(source), quoting=csv.QUOTE_NONE)
    _check_header(reader, source)
    rows: list[list[str]] = []
    conv_id = ""
    while True:  # a row that csv cannot read ends the for loop, not the file
        try:
            for row in reader:
                if not row:  # a blank line says nothing
                    continue
                problem = _problem(row)
                if problem is not None:
                    on_bad(CorpusError(problem, source=source, line=reader.line_num))
                elif row[0] == conv_id:
                    rows.append(row)
                else:
                    if rows:
                        yield _conversation(rows, split)
                    rows = [row]
                    conv_id = row[0]
            break
        except csv.Error as error:
            on_bad(CorpusError(f"not a CSV row ({error})", source=source, line=reader.line_num))
    if rows:
        yield _conversation(rows, split)


def _check_header(reader: Iterator[list[str]], source: Source) -> None:
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise CorpusError(f"not a CSV row ({error})", source=source, line=1) from error
    if header[: len(COLUMNS)] != COLUMNS:
        raise CorpusError(
            f"expected the columns {', '.join(COLUMNS)}, got {', '.join(header)}", source=source, line=1
        )


def _problem(row: list[str]) -> str | None:
    """What is wrong with a row, or None. Called for every row, so the common case does little."""
    if len(row) < len(COLUMNS):
        return f"expected at least {len(COLUMNS)} columns, got {len(row)}"
    if row[2] not in _KNOWN_EMOTIONS:
        return f"unknown emotion {row[2]!r} in the column 'context'"
    if not (row[0] and row[5]):
        return "an empty conv_id or utterance"
    if row[5].isascii() and row[3].isascii() and row[0].isascii() and row[4].isascii():
        return None
    return None if valid_utf8("".join(row)) else "not valid UTF-8"


def _conversation(rows: list[list[str]], split: str) -> Conversation:
    first = rows[0]
    opener = first[4]
    # Utterances are numbered from 1 by turns. An even number first: the opening row was bad and is skipped.
    roles = (_SEEKER, _SUPPORTER) if first[1][-1:] in "13579" else (_SUPPORTER, _SEEKER)
    return Conversation(
        id=first[0],
        turns=tuple(  # from a list, which is faster than a generator for a few items
            [Turn(roles[row[4] != opener], row[5].replace("_comma_", ","), row[4]) for row in rows]
        ),
        emotion=first[2],
        situation=first[3].replace("_comma_", ","),
        split=split,
        source="ed",
    )
