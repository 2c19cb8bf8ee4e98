"""What does a batch and a cache gain in beam search, over a loop that recomputes the prefix for each hypothesis?

    python benchmarks/beam.py                       # MoEL and the Transformer at the papers' size, on the CPU
    python benchmarks/beam.py --device cuda --check # exit code 1 if a limit is broken

Both searches are beam search of width 5 over at most 30 words (MoEL, MIME), with the same weights, and must find equal
words. *Loop*: prompt by prompt, and at every step each hypothesis by itself, from its first word; the context is read
once. *Batched*: all prompts and hypotheses in one batch, with keys and values kept. Weights are fresh (they change no
cost), contexts are random words, as long as EmpatheticDialogues' are. The two take turns, and the best of several
rounds counts for each.

The limit: at least 10 times as fast.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from allears.conversation import Role, Turn
from allears.decoding import Written, beam_search
from allears.models.generation.empathetic_data import EmpatheticDataset
from allears.models.generation.empathetic_generator import EmpatheticGenerator
from allears.models.generation.empathetic_saved import EmpatheticCard, build_empathetic, word_vocabulary
from allears.models.generation.examples import GenerationExample
from allears.runtime.generator import Prompt
from allears.text.layout import Limits

LEAST = 10.0
WIDTH, LONGEST = 5, 30
MODELS: dict[str, dict[str, Any]] = {"transformer": {}, "moel": {}}


def generator(name: str, words: int, device: str, **options: Any) -> EmpatheticGenerator:
    """At the papers' size, with fresh weights; the end is never likely, so that every search goes to its limit."""
    vocabulary = word_vocabulary().restore(
        ["<pad>", "<start>", "<end>", "<unknown>", *(f"w{n}" for n in range(words - 4))]
    )
    torch.manual_seed(0)
    card = EmpatheticCard(name, Limits(context_tokens=160, response_tokens=64), words, options=options)
    model = build_empathetic(card)
    with torch.no_grad():
        model.output.bias.normal_(std=2.0)
        model.output.bias[vocabulary.end] = -10.0
    return EmpatheticGenerator(model, card, vocabulary, device=device)


def prompts(count: int, words: int) -> list[Prompt]:
    """Three turns of about 15 words."""
    chance = np.random.default_rng(0)
    roles = (Role.SEEKER, Role.SUPPORTER, Role.SEEKER)
    return [
        Prompt(
            tuple(
                Turn(role, " ".join(f"w{n}" for n in chance.integers(words - 4, size=chance.integers(8, 22))))
                for role in roles
            )
        )
        for _ in range(count)
    ]


@torch.inference_mode()
def batched(model: EmpatheticGenerator, asked: Sequence[Prompt]) -> list[Written]:
    batch = _batch(model, asked)
    with model.autocast():
        state = model.model.begin(model.model.read(batch))
        return _search(model, model.step, state, len(asked))


@torch.inference_mode()
def loop(model: EmpatheticGenerator, asked: Sequence[Prompt]) -> list[Written]:
    found = []
    for prompt in asked:
        with model.autocast():
            begun = model.model.begin(model.model.read(_batch(model, [prompt])))

            def step(tokens: Tensor, state: Any, begun: Any = begun) -> tuple[Tensor, Any]:
                (before,) = state
                prefixes = torch.cat([before, tokens[:, None]], 1)
                logits = [model.model.write(prefix[None], begun)[0][:, -1] for prefix in prefixes]
                return torch.cat(logits).float(), (prefixes,)

            nothing = torch.zeros(1, 0, dtype=torch.long, device=model.device)
            found += _search(model, step, (nothing,), 1)
    return found


def _search(model: EmpatheticGenerator, step: Any, state: Any, count: int) -> list[Written]:
    start = torch.full((count,), model.tokenizer.start, device=model.device)
    return beam_search(step, state, start, end=model.tokenizer.end, limit=LONGEST, width=WIDTH)


def _batch(model: EmpatheticGenerator, asked: Sequence[Prompt]) -> Any:
    model.module.eval()
    data = EmpatheticDataset(
        [GenerationExample(prompt, "") for prompt in asked], model.tokenizer, model.layout
    )
    return data.batch(list(range(len(asked)))).to(model.device)


def seconds(work: Callable[[], Any], device: str) -> float:
    started = time.perf_counter()
    work()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter() - started


def compare(
    name: str, *, words: int, count: int, rounds: int, device: str, **options: Any
) -> dict[str, float]:
    model, asked = generator(name, words, device, **options), prompts(count, words)
    fast, slow = batched(model, asked), loop(model, asked)
    same = sum(mine.tokens == other.tokens for mine, other in zip(fast, slow, strict=True))
    times = [
        (seconds(lambda: batched(model, asked), device), seconds(lambda: loop(model, asked), device))
        for _ in range(rounds)
    ]
    quick, plain = min(first for first, _ in times), min(second for _, second in times)
    return {
        "prompts": float(count),
        "batched_ms": 1000 * quick / count,
        "loop_ms": 1000 * plain / count,
        "ratio": plain / quick,
        "same": 100.0 * same / count,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="exit code 1 if a limit is broken")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    found = {
        name: compare(
            name, words=asked.words, count=asked.prompts, rounds=asked.rounds, device=asked.device, **options
        )
        for name, options in MODELS.items()
    }
    if asked.json:
        print(json.dumps(found))
    else:
        table = Table("model", "batched, ms a reply", "loop, ms a reply", "times as fast", "equal replies")
        for name, row in found.items():
            table.add_row(
                name,
                f"{row['batched_ms']:.1f}",
                f"{row['loop_ms']:.0f}",
                f"{row['ratio']:.1f}",
                f"{row['same']:.0f}%",
            )
        Console().print(table)
    broken = [name for name, row in found.items() if row["ratio"] < LEAST or row["same"] < 100]
    for name in broken:
        print(f"{name}: {found[name]['ratio']:.1f} times as fast, {found[name]['same']:.0f}% equal; "
              f"at least {LEAST:.0f} times and 100% are asked for", file=sys.stderr)  # fmt: skip
    return 1 if asked.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
