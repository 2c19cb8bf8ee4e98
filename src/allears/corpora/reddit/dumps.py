"""Reading one dump file (newline JSON, usually .zst with a long window) into Parquet, line by line.

Nothing is decided here but what a record is: lines that are no JSON or lack a key are counted and left out;
people's names are replaced by ids at once, so no later file holds them (unless that is switched off).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from allears.corpora.files import CorpusError, Source, lines, valid_utf8

ROWS_AT_ONCE = 20_000  # a Parquet row group; also what is held in memory
MOST_BROKEN = 0.5  # of a file's lines; beyond that it is no dump but something else

COMMENT_KEYS = ("id", "author", "body", "parent_id", "subreddit")
SUBMISSION_KEYS = ("id", "author", "title", "subreddit")

GONE_AUTHORS = frozenset({"[deleted]", "[removed]", ""})
GONE_TEXTS = frozenset({"[deleted]", "[removed]", "[ Removed by Reddit ]", "[deleted by user]"})
_BOT_NAME = re.compile(
    r"(?i:^(?:automoderator|remindmebot|haikubot.*|.*[_-]bot(?:[_-].*|\d*)|bot[_-].*|.*-bot-.*)$)|.*[a-z0-9]Bot\d*$"
)
_BOT_WORDS = re.compile(r"\bi(?:['’]?| a)m a bot\b|\bbeep boop\b|this action was performed automatically")

BROKEN_JSON, MISSING_KEYS, NOT_TEXT = "broken JSON", "missing keys", "not valid UTF-8"
LINES = "lines"


def read_dump(
    path: Path,
    out: Path,
    *,
    submissions: bool,
    author_id: Callable[[str], str],
    on_lines: Callable[[int], None] = lambda done: None,
) -> Counter[str]:
    """Write the records of a dump to `out`; how many lines there were, and how many could not be used."""
    from pyarrow import Table, parquet

    schema = _schema()
    counts: Counter[str] = Counter()
    records = _records(path, submissions=submissions, author_id=author_id, counts=counts)
    part = out.with_name(out.name + ".part")
    # This file is read once and goes: written fast rather than small.
    with parquet.ParquetWriter(
        part, schema, compression="lz4", use_dictionary=["kind", "subreddit"], write_statistics=False
    ) as writer:
        for batch in _batches(records):
            columns = list(zip(*batch, strict=True)) or [()] * len(schema)
            writer.write_table(Table.from_arrays([*map(_array, columns, schema.types)], schema=schema))
            on_lines(counts[LINES])
    broken = counts.total() - counts[LINES]
    if broken > MOST_BROKEN * counts[LINES]:
        part.unlink()
        worst = max((kind for kind in counts if kind != LINES), key=lambda kind: counts[kind])
        raise CorpusError(
            f"{broken:,} of {counts[LINES]:,} lines are no Reddit {'submissions' if submissions else 'comments'} "
            f"({worst}); expected newline JSON with the keys "
            + ", ".join(SUBMISSION_KEYS if submissions else COMMENT_KEYS),
            source=path,
        )
    part.replace(out)
    return counts


def _schema() -> Any:
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            ("id", text),
            ("author", text),
            ("kind", text),  # "", "deleted" or "bot"
            ("subreddit", text),
            ("parent", text),
            ("link", text),
            ("created", pa.int64()),
            ("is_post", pa.bool_()),
            ("crosspost", pa.bool_()),
            ("text", text),
        ]
    )


def _array(values: Sequence[Any], kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, kind)


def _batches(records: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    for record in records:
        batch.append(record)
        if len(batch) == ROWS_AT_ONCE:
            yield batch
            batch = []
    yield batch  # perhaps empty: a file without records still has a schema


def _records(
    path: Path, *, submissions: bool, author_id: Callable[[str], str], counts: Counter[str]
) -> Iterator[tuple[Any, ...]]:
    parse = _submission if submissions else _comment
    for line in lines(Source(path)):
        counts[LINES] += 1
        if not valid_utf8(line):
            counts[NOT_TEXT] += 1
            continue
        try:
            record = json.loads(line)
        except ValueError:  # also a number too long to be one
            counts[BROKEN_JSON] += 1
            continue
        except RecursionError:
            counts[BROKEN_JSON] += 1
            continue
        try:
            yield parse(record, author_id)
        except (KeyError, TypeError, AttributeError):
            counts[MISSING_KEYS] += 1


def _comment(record: dict[str, Any], author_id: Callable[[str], str]) -> tuple[Any, ...]:
    author, text = record["author"] or "", _text(record["body"])
    link = record.get("link_id")
    return (
        "t1_" + _name(record["id"]),
        author_id(_name(author)),
        _kind(author, text),
        _name(record["subreddit"]).lower(),
        _name(record["parent_id"]),
        None if link is None else _name(link),
        _created(record),
        False,
        False,
        text,
    )


def _submission(record: dict[str, Any], author_id: Callable[[str], str]) -> tuple[Any, ...]:
    author, title, body = record["author"] or "", _text(record["title"]), _text(record.get("selftext"))
    key = "t3_" + _name(record["id"])
    return (
        key,
        author_id(_name(author)),
        "deleted" if body.strip() in GONE_TEXTS else _kind(author, title),
        _name(record["subreddit"]).lower(),
        None,
        key,
        _created(record),
        True,
        bool(record.get("crosspost_parent") or record.get("crosspost_parent_list")),
        f"{title}\n{body}",
    )


def _name(value: Any) -> str:
    """An id or a name: a text without the characters that ids never have."""
    if type(value) is str and value.isascii():  # nearly always
        return value
    if not isinstance(value, str):
        raise TypeError(value)
    return value.encode("utf-8", "replace").decode()


def _text(value: Any) -> str:
    """What somebody wrote. JSON can spell halves of characters (`\\ud83d`), which are no text."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(value)
    text = value if value.isascii() else value.encode("utf-8", "replace").decode()
    return text.replace("\0", " ")


def _created(record: dict[str, Any]) -> int | None:
    try:
        created = int(float(record["created_utc"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return created if abs(created) < 2**53 else None


def _kind(author: str, text: str) -> str:
    if author in GONE_AUTHORS or (len(text) < 30 and text.strip() in GONE_TEXTS):
        return "deleted"
    # Looking for a few letters first spares nearly everybody the regular expressions.
    name = author.lower()
    if ("bot" in name or "automod" in name) and _BOT_NAME.match(author):
        return "bot"
    said = text.lower()
    if ("bot" in said or "beep" in said or "automatically" in said) and _BOT_WORDS.search(said):
        return "bot"
    return ""
