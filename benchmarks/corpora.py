"""How much do Conversations cost over bare rows, and does memory stay flat?

    python benchmarks/corpora.py                 # ED under $ALLEARS_DATA, or a made-up file of its size
    python benchmarks/corpora.py --root DIR --json

Speed is a ratio within one run: reading ED's training split into Conversations against a bare `csv.reader`
pass over the same (uncompressed) bytes; processor time, alternating, best of several. Memory is the peak of
what Python allocated while reading a made-up file (longer than any buffer) and one ten times as long. The
exit code is 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from allears.corpora import CorpusError, corpus, data_root
from allears.corpora.empathetic_dialogues import COLUMNS
from allears.corpora.files import locate, open_bytes
from allears.labels import ED_EMOTIONS as EMOTIONS

MOST_TIME = 3.0  # times a bare csv.reader pass
MOST_GROWTH = 1.1  # times the peak memory, for a file ten times as long
ED_CONVERSATIONS = 19_532
WORDS = ["I", "felt", "so", "strange", "that", "day_comma_", "because", "nobody", "told", "me", "why", "."]


def write_made_up(path: Path, conversations: int) -> None:
    """A file like ED's train.csv: 4.3 rows a conversation, prompts and utterances about as long."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join([*COLUMNS, "selfeval", "tags"]) + "\n")
        for number in range(conversations):
            emotion = EMOTIONS[number % len(EMOTIONS)]
            prompt = " ".join(WORDS[number % 5 :] + WORDS)
            for turn in range(1, 5 + (number % 3 == 0)):
                utterance = " ".join(WORDS[(number + turn) % 7 :] + WORDS[:turn])
                file.write(f"hit:{number}_conv:{number},{turn},{emotion},{prompt},{turn % 2},{utterance},,\n")


def place_train_csv(root: Path, path: Path) -> str:
    """Put ED's training split, uncompressed, at `path`; where it came from, in words."""
    try:
        source = locate(root, ["empatheticdialogues/train.csv", "empatheticdialogues.tar.gz:*train.csv"])
    except CorpusError:
        write_made_up(path, ED_CONVERSATIONS)
        return "made up (no EmpatheticDialogues here)"
    with open_bytes(source) as packed, path.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return "EmpatheticDialogues train"


def bare_pass(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.reader(file, quoting=csv.QUOTE_NONE))


def conversations_pass(path: Path) -> int:
    return sum(1 for _ in corpus("ed").read("train", path))


def seconds(work: Callable[[Path], int], path: Path) -> float:
    """Processor time: on a busy machine the clock on the wall measures the neighbours."""
    start = time.process_time()
    work(path)
    return time.process_time() - start


def peak_bytes(path: Path) -> int:
    tracemalloc.start()
    try:
        conversations_pass(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure(root: Path, *, repeats: int, conversations: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        train = Path(name, "train.csv")
        what = place_train_csv(root, train)
        # Alternating, so that whatever else the machine does falls on both alike.
        pairs = [(seconds(bare_pass, train), seconds(conversations_pass, train)) for _ in range(repeats)]
        bare, ours = (min(times) for times in zip(*pairs, strict=True))
        write_made_up(train, conversations)
        peak = peak_bytes(train)
        write_made_up(train, 10 * conversations)
        peak_long = peak_bytes(train)
    return {
        "read": what,
        "bare_csv_seconds": bare,
        "conversations_seconds": ours,
        "time_ratio": ours / bare,
        "most_time_ratio": MOST_TIME,
        "peak_bytes": peak,
        "peak_bytes_ten_times_as_long": peak_long,
        "memory_ratio": peak_long / peak,
        "most_memory_ratio": MOST_GROWTH,
    }


def table(found: dict[str, Any]) -> Table:
    result = Table(title=f"Reading corpora: {found['read']}")
    for heading in ("", "baseline", "ours", "ratio", "at most"):
        result.add_column(heading, justify="left" if not heading else "right")
    result.add_row(
        "time, against bare csv.reader",
        f"{found['bare_csv_seconds']:.3f} s",
        f"{found['conversations_seconds']:.3f} s",
        _coloured(found["time_ratio"], MOST_TIME),
        f"{MOST_TIME:.1f}",
    )
    result.add_row(
        "peak memory, file ten times as long",
        f"{found['peak_bytes'] / 1e6:.2f} MB",
        f"{found['peak_bytes_ten_times_as_long'] / 1e6:.2f} MB",
        _coloured(found["memory_ratio"], MOST_GROWTH),
        f"{MOST_GROWTH:.1f}",
    )
    return result


def _coloured(ratio: float, most: float) -> str:
    return f"[{'green' if ratio <= most else 'bold red'}]{ratio:.2f}[/]"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", type=Path, help="the folder of the corpora (default: $ALLEARS_DATA)")
    parser.add_argument("--repeats", type=int, default=7, help="passes of each kind; the best counts")
    parser.add_argument("--conversations", type=int, default=2_000, help="in the shorter made-up file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    found = measure(data_root(options.root), repeats=options.repeats, conversations=options.conversations)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        Console().print(table(found))
    return int(found["time_ratio"] > MOST_TIME or found["memory_ratio"] > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
