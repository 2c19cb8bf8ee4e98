"""Writing a corpus in our own schema: JSON lines (our reader reads them back) or Parquet.

A file appears under its name only when it is complete: it is written beside its place first, then renamed.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from allears.conversation import Conversation, Example, Persona, Turn
from allears.errors import AllearsError

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
ROWS_AT_ONCE = 2_000  # a Parquet row group: large enough to compress, small enough to keep memory flat


def check_out(path: Path) -> None:
    """Refuse early what could not be written later."""
    if not path.name.endswith(ENDINGS):
        raise AllearsError(f"{path}: an export ends in {', '.join(ENDINGS)}")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise AllearsError(f"{path}: the folder {folder} does not exist")
    if path.is_dir():
        raise AllearsError(f"{path}: this is a folder, not a file")
    if path.name.endswith(".parquet"):
        _pyarrow()


def export_conversations(conversations: Iterable[Conversation], out: Path) -> int:
    """Write conversations to `out` and say how many. The ending chooses the format."""
    check_out(out)
    if out.name.endswith(".parquet"):
        return _write_parquet(map(conversation_row, conversations), out, "conversation")
    return write_lines((conversation.to_json() for conversation in conversations), out)


def export_examples(examples: Iterable[Example], out: Path) -> int:
    """Write (context, response, persona) examples to `out` and say how many."""
    check_out(out)
    if out.name.endswith(".parquet"):
        return _write_parquet(map(_example_row, examples), out, "example")
    return write_lines((json.dumps(plain_example(item), ensure_ascii=False) for item in examples), out)


def plain_example(example: Example) -> dict[str, Any]:
    """An example as JSON data; empty fields are left out, as in `Conversation.to_json`."""
    plain: dict[str, Any] = {
        "conversation_id": example.conversation_id,
        "context": [_plain_turn(turn) for turn in example.context],
        "response": _plain_turn(example.response),
    }
    if example.persona.sentences:
        plain["persona"] = _plain_persona(example.persona)
    if example.labels:
        plain["labels"] = dict(example.labels)
    return plain


def _plain_turn(turn: Turn) -> dict[str, Any]:
    return {key: value for key, value in _turn_row(turn).items() if value is not None}


def _turn_row(turn: Turn) -> dict[str, Any]:
    return {
        "speaker": turn.speaker.value,
        "text": turn.text,
        "author": turn.author,
        "emotion": turn.emotion,
        "strategy": turn.strategy,
        "intent": turn.intent,
        "feedback": turn.feedback,
    }


def _plain_persona(persona: Persona) -> list[dict[str, str]]:
    return [{"text": sentence.text, "source": sentence.source} for sentence in persona.sentences]


def conversation_row(conversation: Conversation) -> dict[str, Any]:
    """A conversation as a row of Parquet."""
    return {
        "id": conversation.id,
        "split": conversation.split,
        "source": conversation.source,
        "emotion": conversation.emotion,
        "situation": conversation.situation,
        "problem": conversation.problem,
        "turns": [_turn_row(turn) for turn in conversation.turns],
        "personas": [
            {"who": who, "sentences": _plain_persona(persona)}
            for who, persona in conversation.personas.items()
        ],
        "survey": list(conversation.survey.items()),
        "labels": _labels(conversation.labels),
    }


def _example_row(example: Example) -> dict[str, Any]:
    return {
        "conversation_id": example.conversation_id,
        "context": [_turn_row(turn) for turn in example.context],
        "response": _turn_row(example.response),
        "persona": _plain_persona(example.persona),
        "labels": _labels(example.labels),
    }


def _labels(labels: Any) -> str | None:
    """Labels differ from corpus to corpus, so a Parquet column holds them as JSON."""
    return json.dumps(dict(labels), ensure_ascii=False) if labels else None


def write_lines(lines: Iterator[str], out: Path) -> int:
    """Write a line for each text; a file of that name is replaced once all are there. How many there were."""
    count = 0
    with _said_clearly(out), lines_sink(out) as write:
        for line in lines:
            try:
                write(line)
            except UnicodeEncodeError as error:
                raise AllearsError(
                    f"item {count + 1} holds a lone surrogate, which is no text; "
                    "`allears data check` says where"
                ) from error
            count += 1
    return count


@contextmanager
def lines_sink(out: Path) -> Iterator[Callable[[str], object]]:
    """A function that takes lines one by one and writes them to `out`, for those who write several files in one
    pass. What the system has against it (`OSError`) is theirs to explain: they know what all the files are for."""
    with _beside(out) as part, open(part, "wb") as file, _packed(file, out) as packed:
        yield lambda line: packed.write(f"{line}\n".encode())


def _packed(file: IO[bytes], out: Path) -> AbstractContextManager[IO[bytes]]:
    """Gzip if the name says so, with no time and no name in the header: the same corpus, the same bytes."""
    if out.name.endswith(".gz"):
        return gzip.GzipFile("", "wb", 4, fileobj=file, mtime=0)  # type: ignore[return-value]
    return nullcontext(file)


def _write_parquet(rows: Iterator[dict[str, Any]], out: Path, kind: str) -> int:
    count = 0
    with _said_clearly(out), parquet_sink(out, kind) as write:
        for row in rows:
            write(row)
            count += 1
    return count


@contextmanager
def parquet_sink(out: Path, kind: str = "conversation") -> Iterator[Callable[[dict[str, Any]], None]]:
    """The same for Parquet, with rows as `conversation_row` makes them."""
    pyarrow = _pyarrow()
    from pyarrow import parquet

    schema = _schemas(pyarrow)[kind]
    rows: list[dict[str, Any]] = []
    done = 0
    with _beside(out) as part, parquet.ParquetWriter(part, schema, compression="zstd") as writer:

        def flush() -> None:
            nonlocal done
            try:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
            except (pyarrow.ArrowException, UnicodeEncodeError) as error:
                raise AllearsError(
                    f"{out}: rows {done + 1} to {done + len(rows)} do not fit Parquet ({error})"
                ) from error
            done += len(rows)
            rows.clear()

        def take(row: dict[str, Any]) -> None:
            rows.append(row)
            if len(rows) == ROWS_AT_ONCE:
                flush()

        yield take
        if rows:
            flush()


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise AllearsError(
            "Parquet needs pyarrow; install it with: pip install 'allears[reddit]' (or write .jsonl.gz)"
        ) from error
    return pyarrow


def _schemas(pa: Any) -> dict[str, Any]:
    text = pa.string()
    turn = pa.struct(
        [(name, text) for name in ("speaker", "text", "author", "emotion", "strategy", "intent")]
        + [("feedback", pa.int32())]
    )
    persona = pa.list_(pa.struct([("text", text), ("source", text)]))
    return {
        "conversation": pa.schema(
            [
                *((name, text) for name in ("id", "split", "source", "emotion", "situation", "problem")),
                ("turns", pa.list_(turn)),
                ("personas", pa.list_(pa.struct([("who", text), ("sentences", persona)]))),
                ("survey", pa.map_(text, pa.float64())),
                ("labels", text),
            ]
        ),
        "example": pa.schema(
            [
                ("conversation_id", text),
                ("context", pa.list_(turn)),
                ("response", turn),
                ("persona", persona),
                ("labels", text),
            ]
        ),
    }


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A temporary name in the same folder, renamed to `out` at the end, removed if anything goes wrong."""
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, out)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _said_clearly(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AllearsError(f"{out}: cannot write ({error.strerror or error})") from error
