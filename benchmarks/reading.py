"""What does a whole reading of a turn cost, against one bare pass of the encoder over the same tokens?

    python benchmarks/reading.py                        # the bundle that ships with allears, 2 CPU cores
    python benchmarks/reading.py --bundle FOLDER --check    # exit code 1 if a limit is broken
    python benchmarks/reading.py --small                # a tiny bundle with fresh weights: tries the script out

A *reading* is `OnnxReader.read`: it tokenizes a context of 100 tokens, runs the encoder once, and gives every head's
calibrated probabilities. The *bare pass* is the same encoder on the same tokens and nothing else. The two take turns,
so that whatever else the machine does falls on both alike, and the best of several rounds counts for each: a busy
machine only ever adds time.

*From states* is what the listener pays when its ranker has encoded the context already: the heads alone.

The limit: a reading costs at most 1.2 times the bare pass.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.runtime.onnx_reader import OnnxReader
from allears.text.layout import Tokens
from allears.text.reading import Reading
from allears.text.reading_layout import ReadingTokens

MOST_TIME = 1.2  # of a reading, times a bare pass of the encoder
TOKENS = 100
SAID = (
    "I have been feeling really down since my dog passed away last week, and nobody at work understands.",
    "I am so sorry, losing a friend like that hurts. How long was he with you?",
    "Fourteen years. They say it was only a dog, but he slept beside my bed every single night.",
    "That is most of a life together. What do you miss the most when you come home now?",
    "The noise at the door, I think. It is so quiet that I leave the radio on all day, even when I go out.",
)


def context(reader: OnnxReader, count: int) -> tuple[Turn, ...]:
    """A conversation that fills `count` tokens, special ones and all; the last words are left off until it does."""
    words = [word for text in SAID for word in text.split()]
    for said in range(len(words), 0, -1):
        turns, rest = [], words[:said]
        for place, text in enumerate(SAID):
            part, rest = rest[: len(text.split())], rest[len(text.split()) :]
            if part:
                turns.append(Turn(Role.SUPPORTER if place % 2 else Role.SEEKER, " ".join(part)))
        if int(tokens_of(reader, turns).mask.sum()) <= count:
            return tuple(turns)
    raise AllearsError(f"the bundle's tokenizer makes more than {count} tokens of one word")


def tokens_of(reader: OnnxReader, turns: Sequence[Turn]) -> Tokens:
    return ReadingTokens([Reading(tuple(turns))], reader.tokenizer, reader.card.limits).tokens([0])


def take_turns(works: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """Seconds of each: the best of several rounds."""
    best = [math.inf] * len(works)
    for work in works:
        work()  # warm up
    for _ in range(rounds):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - start)
    return best


def measure(reader: OnnxReader, rounds: int) -> dict[str, Any]:
    turns = context(reader, TOKENS)
    tokens = tokens_of(reader, turns)
    inputs = (tokens.ids, tokens.mask, tokens.segments)
    states = reader.encoder.run(*inputs).states
    assert states is not None
    bare, whole, heads = take_turns(
        (
            lambda: reader.encoder.run(*inputs),
            lambda: reader.read(turns),
            lambda: reader.from_states(states, tokens.mask),
        ),
        rounds,
    )
    ratio = whole / bare
    broken = [] if ratio <= MOST_TIME else [f"a reading costs {ratio:.2f} times a bare pass, not {MOST_TIME}"]
    return {
        "tokens": int(np.sum(tokens.mask)),
        "heads": len(reader.card.heads),
        "rounds": rounds,
        "bare_ms": 1000 * bare,
        "reading_ms": 1000 * whole,
        "from_states_ms": 1000 * heads,
        "ratio": ratio,
        "from_states_ratio": heads / bare,
        "broken_limits": broken,
    }


def tiny_bundle(folder: Path) -> Path:
    """A ranker and a reader with fresh weights on one tiny encoder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers

    from allears.corpora.heads import HEADS
    from allears.models.reader import saved
    from allears.models.selection.saved import ModelCard, TorchSelector
    from allears.models.selection.saved import build as build_ranker
    from allears.nn.encoder import Encoder
    from allears.text.layout import Limits
    from allears.text.tokenizer import WordPiece
    from allears.training.export.bundle import export_with_reader

    torch.manual_seed(0)
    letters = sorted(set("".join(SAID)) - {" "})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    backend = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.save(str(folder / "tokenizer.json"))
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    encoder = Encoder.from_config({"model_type": "bert", "vocab_size": len(pieces), **shape})
    tokenizer, card = WordPiece(folder), ModelCard("bi_encoder", {}, Limits(), encoder=encoder.config)
    ranker = TorchSelector(build_ranker(card, encoder), card, tokenizer)
    heads = {name: head.labels for name, head in HEADS.items() if not head.base}
    reader_card = saved.ReaderCard(heads, Limits(), encoder.config)
    reader = saved.TorchReader(saved.build(reader_card, encoder), reader_card, tokenizer)
    export_with_reader(ranker, reader, folder / "bundle")
    return folder / "bundle"


def table(found: dict[str, Any]) -> Table:
    shown = Table(title=f"a context of {found['tokens']} tokens, {found['heads']} heads")
    for heading in ("", "ms", "times a bare pass"):
        shown.add_column(heading, justify="right" if heading else "left")
    shown.add_row("bare pass of the encoder", f"{found['bare_ms']:.2f}", "1.00")
    shown.add_row("whole reading", f"{found['reading_ms']:.2f}", f"{found['ratio']:.2f}")
    shown.add_row("from states", f"{found['from_states_ms']:.2f}", f"{found['from_states_ratio']:.2f}")
    return shown


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--bundle", default="default", help="a bundle folder with a reader (default: default)"
    )
    parser.add_argument("--small", action="store_true", help="a tiny bundle instead: tries the script out")
    parser.add_argument("--rounds", type=int, default=200, help="the best of them counts")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of the encoder")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is broken")
    options = parser.parse_args(arguments)
    errors = Console(stderr=True)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            bundle = tiny_bundle(Path(scratch)) if options.small else options.bundle
            found = measure(OnnxReader.from_bundle(bundle, threads=options.threads), options.rounds)
    except AllearsError as error:
        errors.print(str(error), style="red", markup=False)
        return 2
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        Console().print(table(found))
    for broken in found["broken_limits"]:
        errors.print(broken, style="bold red", markup=False)
    return int(options.check and bool(found["broken_limits"]))


if __name__ == "__main__":
    sys.exit(main())
