"""What writing costs: two branches against one, a cache against none, proposals against encoder passes, words a second.

    python benchmarks/generation.py                        # the voice of the default bundle
    python benchmarks/generation.py --fresh                # fresh weights of recipes/generator-pretrain.toml's size
    python benchmarks/generation.py --bundle FOLDER --run runs/esconv-pal --check

1. *Two branches*: equation 6 (alpha 0.75 from the first word on) against the same prompt written with alpha 0, at
   batch 1, 25 words each, in the bundle's precision. Reading the prompt is no part of either; preparing what is read
   for the decoder is. Greedy, so that nothing but the branches differs; `sampled` is the same with PAL's settings.
2. *Cache*: 40 words of a run in torch, greedy, against the same without a cache: every word reads its source and all
   words before it anew, as `use_cache=False` does elsewhere. The encoder runs once in both. Both must write the same.
   In torch for one row, and for the six of three proposals with both branches; and, `int8`, in the bundle's runtime,
   against a graph of the same int8 weights that has no cache. The limit is for the last.
3. *Proposals*: a whole call for three proposals of 25 words with three strategies, prompt and persona read, both
   branches, sampled, against encoder passes over a context of 128 tokens.
4. *Words a second*: every generator there is here, one prompt at a time and plainly; a language model beside Hugging
   Face's `generate` with the same weights.
5. *llama.cpp*: with `--gguf FILE`, a GGUF voice against llama.cpp's own time for the same 40 tokens (gguf_speed.py).

Contestants take turns, and of several rounds the best time of each word counts, since other work on the machine
disturbs all of them (and an encoder pass, which is one piece, more than a word).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.decoding import PAL_ALPHAS, PAL_SETTINGS, Settings
from allears.errors import AllearsError
from allears.runtime.bundle import BundleCard, default_bundle
from allears.runtime.generator import Generator, Prompt
from allears.runtime.onnx_generator import OnnxGenerator
from allears.runtime.replies import write_replies
from allears.runtime.voice_card import has_voice
from gguf_speed import against_llama

MOST_BRANCHES = 1.25  # times plain decoding
LEAST_CACHE = 5.0  # times recomputing
MOST_PASSES = 12.0  # of the encoder, for three proposals
LEAST_LANGUAGE_MODEL = 2.0  # times Hugging Face's generate
MOST_LLAMA = 1.2  # times llama.cpp's own time
WORDS, CACHED_WORDS = 25, 40
ROWS = 6  # of the listener's decoding: three proposals, two branches each
LEANING = "Information"  # a strategy of alpha 0.75
THREE = ("Question", "Affirmation and Reassurance", "Providing Suggestions")
TURNS = (
    Turn(
        Role.SEEKER, "I had a fight with my brother yesterday about the car that he borrowed without asking."
    ),
    Turn(Role.SUPPORTER, "That sounds upsetting. What happened then?", strategy="Question"),
    Turn(
        Role.SEEKER,
        "He brought it back with an empty tank. It is not about the money, he never asks and just takes things. I "
        "shouted at him in front of our parents, and now I feel bad about it and cannot sleep.",
    ),
    Turn(
        Role.SUPPORTER, "You felt ignored, and now you are sorry as well.", strategy="Reflection of feelings"
    ),
    Turn(
        Role.SEEKER,
        "We were so close when we were kids. Maybe I should write to him tonight, but what would I say?",
    ),
)
PERSONA = ("I have a brother.", "I live with my parents.", "I work in a bakery.", "I have two cats.")
Laps = list[float]  # moments in seconds: the start, after each word, the end
Work = Callable[[Laps], Any]


def fixed(settings: Settings, words: int) -> Settings:
    """Exactly so many words, whatever the model would like."""
    return replace(settings, longest=words, shortest=words)


GREEDY = fixed(Settings(method="greedy"), WORDS)
SAMPLED = fixed(PAL_SETTINGS, WORDS)


def best_of(work: Mapping[str, Work], rounds: int) -> dict[str, float]:
    """Milliseconds of each, taking turns: the best time of every lap."""
    found: dict[str, npt.NDArray[np.float64]] = {}
    for _ in range(rounds):
        for name, run in work.items():
            laps = [time.perf_counter()]
            run(laps)
            spent = np.diff([*laps, time.perf_counter()])
            found[name] = np.minimum(found.get(name, spent), spent)
    return {name: 1000 * float(spent.sum()) for name, spent in found.items()}


def noting(step: Any, laps: Laps) -> Any:
    """The same step, which notes when it is called."""

    def noted(*arguments: Any, **named: Any) -> Any:
        laps.append(time.perf_counter())
        return step(*arguments, **named)

    return noted


def generating(generator: Any, prompts: list[Prompt], settings: Settings, alphas: Any = None) -> Work:
    """A whole call of a generator on the CPU; each of its steps is a lap."""
    owner = getattr(generator, "runtime", None) or getattr(
        getattr(generator, "model", None), "decoder", generator
    )

    def work(laps: Laps) -> None:
        step = owner.step
        owner.step = noting(step, laps)
        try:
            generator.generate(prompts, settings, list(range(len(prompts))), alphas=alphas)
        finally:
            del owner.step

    return work


def two_branches(voice: OnnxGenerator, rounds: int) -> dict[str, Any]:
    prompt = Prompt(TURNS, PERSONA, LEANING)
    (read,) = voice._read([prompt])  # the encoder's part, which is the same for both

    def writing(settings: Settings, alpha: float) -> Work:
        def work(laps: Laps) -> None:
            step, state, reorder = voice._begin(read, PAL_ALPHAS.all(alpha))
            write_replies(
                [prompt],
                noting(step, laps),
                state,
                np.full(1, voice.card.start, np.int64),
                vocabulary=voice.vocabulary,
                settings=settings,
                longest=voice.card.limits.response_tokens,
                strategy_first=voice.card.strategy_first,
                seeds=[0],
                reorder=reorder,
            )

        return work

    spent = best_of(
        {
            "plain": writing(GREEDY, 0.0),
            "two": writing(GREEDY, PAL_ALPHAS.of(LEANING)),
            "plain_sampled": writing(SAMPLED, 0.0),
            "two_sampled": writing(SAMPLED, PAL_ALPHAS.of(LEANING)),
        },
        rounds,
    )
    return {
        "plain_ms": round(spent["plain"], 1),
        "two_branches_ms": round(spent["two"], 1),
        "two_branches_ratio": round(spent["two"] / spent["plain"], 2),
        "two_branches_ratio_sampled": round(spent["two_sampled"] / spent["plain_sampled"], 2),
    }


def cached(run: Any, rounds: int, rows: int) -> dict[str, Any]:
    """`run`: a TorchGenerator."""
    import torch

    prompt = Prompt(TURNS, PERSONA, LEANING)
    model, writer = run.module.eval(), run.model.decoder
    part, data = next(iter(run._parts([prompt] * rows)))
    context, persona, _, _ = data.batch(part)
    with torch.inference_mode():
        table = writer.table(model.encoder)
        memory = run.model.read(context, persona)

    @torch.inference_mode()
    def with_cache(laps: Laps) -> list[list[int]]:
        state, written, tokens = writer.begin(memory, table), [], torch.full((rows,), writer.start)
        for _ in range(CACHED_WORDS):
            laps.append(time.perf_counter())
            likely, state = writer.step(tokens, state, table)
            tokens = likely.argmax(-1)
            written.append(tokens.tolist())
        return written

    @torch.inference_mode()
    def without(laps: Laps) -> list[list[int]]:
        tokens = torch.full((rows, 1), writer.start)
        for _ in range(CACHED_WORDS):
            laps.append(time.perf_counter())
            state = writer.begin(memory, table)
            found, _ = writer.decoder.distribution(tokens, state, table)
            words = (found.writes[:, -1:, None] + found.words[:, -1:]).exp()[:, 0]
            copies = (found.points[:, -1:, None] + found.copies[:, -1:]).exp()[:, 0]
            likeliest = words.scatter_add(-1, state.ids, copies).argmax(-1)
            tokens = torch.cat([tokens, likeliest[:, None]], 1)
        return tokens[:, 1:].T.tolist()

    spent = best_of({"cached": with_cache, "recomputed": without}, rounds)
    return {
        f"cached_ms_{rows}": round(spent["cached"], 1),
        f"recomputed_ms_{rows}": round(spent["recomputed"], 1),
        f"cache_ratio_{rows}": round(spent["recomputed"] / spent["cached"], 2),
        f"same_words_{rows}": with_cache([]) == without([]),
    }


def cached_in_int8(voice: OnnxGenerator, run: Any, folder: Path, rounds: int) -> dict[str, Any]:
    """The same for the bundle's runtime: its step against a graph of the same weights that reads everything anew."""
    import onnx
    import torch
    from torch import nn

    from allears.runtime import onnx_weights
    from allears.runtime.onnx_encoder import open_graph
    from allears.training.export.ranker import trace

    writer = run.model.decoder

    class Whole(nn.Module):
        """Source and all words so far to P of the next word."""

        def __init__(self) -> None:
            super().__init__()
            self.decoder = writer.decoder
            self.table = nn.Parameter(writer.table(run.model.encoder).detach())

        def forward(self, states: Any, ids: Any, mask: Any, tokens: Any) -> Any:
            decoder = self.decoder
            state = decoder.start(states, ids, mask, self.table)
            places = decoder.positions(torch.arange(tokens.shape[1]))
            hidden, source = decoder._embed(tokens, self.table) + places, mask[:, None, None, :].bool()
            for number, block in enumerate(decoder.blocks):
                own = (state.keys[:, number], state.values[:, number])
                theirs = (state.memory_keys[:, number], state.memory_values[:, number])
                hidden, _, _ = block(hidden, *own, *theirs, source)
            last = decoder.norm(hidden[:, -1:])
            likely = torch.nn.functional.linear(decoder.word_projection(last), self.table) + decoder.word_bias
            looks = decoder.copy_projection(last) @ state.memory.transpose(1, 2) * decoder.size**-0.5
            copies = looks.masked_fill(~source.squeeze(1), -1e9).softmax(-1)
            writes = decoder.switch(last).sigmoid()
            words = (writes * likely.softmax(-1))[:, 0]
            return words.scatter_add(-1, ids, ((1 - writes) * copies)[:, 0])

    (read,) = voice._read([Prompt(TURNS, PERSONA, LEANING)])
    source = voice._source(read)
    inputs = {
        "states": torch.randn(1, 5, voice.card.size),
        "ids": torch.ones(1, 5, dtype=torch.int64),
        "mask": torch.ones(1, 5, dtype=torch.int64),
        "tokens": torch.ones(1, 3, dtype=torch.int64),
    }
    axes = {name: {0: "rows", 1: "length"} for name in ("states", "ids", "mask")} | {"tokens": {1: "written"}}
    path = folder / "whole.onnx"
    trace(Whole(), inputs, ["likely"], path, axes)
    graph = onnx.load(path)
    onnx_weights.quantize(graph, keep_float=("switch",))
    onnx_weights.save(graph, path, largest_file=2**30)
    whole = open_graph(path, None, many_small_runs=True)
    feed = {"states": source.states, "ids": source.ids, "mask": source.mask}

    def with_cache(laps: Laps) -> None:
        state, tokens = voice.begin(source), np.array([voice.card.start])
        for _ in range(CACHED_WORDS):
            laps.append(time.perf_counter())
            likely, state = voice.step(tokens, state)
            tokens = likely.argmax(-1)

    def without(laps: Laps) -> None:
        tokens = np.array([[voice.card.start]])
        for _ in range(CACHED_WORDS):
            laps.append(time.perf_counter())
            (likely,) = whole.run(["likely"], {**feed, "tokens": tokens})
            tokens = np.concatenate([tokens, likely.argmax(-1)[:, None]], 1)

    spent = best_of({"cached": with_cache, "recomputed": without}, rounds)
    return {
        "cached_ms_int8": round(spent["cached"], 1),
        "recomputed_ms_int8": round(spent["recomputed"], 1),
        "cache_ratio_int8": round(spent["recomputed"] / spent["cached"], 2),
    }


def proposals(voice: OnnxGenerator, rounds: int) -> dict[str, Any]:
    prompts = [Prompt(TURNS, PERSONA, strategy) for strategy in THREE]
    ids = np.random.default_rng(0).integers(5, voice.card.words, (1, 128))
    inputs = (ids, np.ones_like(ids), np.zeros_like(ids))
    spent = best_of(
        {
            "three": generating(voice, prompts, SAMPLED),
            "pass": lambda laps: voice.encoder.run(*inputs),
        },
        rounds,
    )
    return {
        "three_proposals_ms": round(spent["three"], 1),
        "encoder_pass_ms": round(spent["pass"], 1),
        "proposals_in_passes": round(spent["three"] / spent["pass"], 2),
    }


def words_a_second(generators: Mapping[str, Generator], rounds: int) -> dict[str, Any]:
    prompt, plain = Prompt(TURNS, PERSONA, LEANING), PAL_ALPHAS.all(0.0)
    work = {name: generating(each, [prompt], GREEDY, plain) for name, each in generators.items()}
    spent = best_of(work, rounds)
    return {f"words_a_second_{name}": round(1000 * WORDS / spent[name], 1) for name in generators}


def language_model(folder: str, rounds: int) -> dict[str, Any]:
    """Our adapter's voice on ONNX, against its base in Hugging Face's `generate`; both read the same prompt."""
    import torch

    from allears.runtime.causal_onnx import open_adapted
    from allears.runtime.language_models import load_language_model

    voice = open_adapted(folder)
    base = load_language_model(voice.card.base).eval()
    prompt, plain = Prompt(TURNS, PERSONA, LEANING), PAL_ALPHAS.all(0.0)
    (row,) = voice.layout.rows([prompt])
    ids = torch.tensor([row.whole]).clamp(max=voice.card.words - 1)  # the base knows no strategies

    @torch.inference_mode()
    def theirs(laps: Laps) -> None:
        base.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            min_new_tokens=WORDS,
            max_new_tokens=WORDS,
            pad_token_id=0,
            streamer=_Streamer(laps),
        )

    ours, two = (generating(voice, [prompt], GREEDY, alphas) for alphas in (plain, None))
    spent = best_of({"ours": ours, "two": two, "theirs": theirs}, rounds)
    return {
        "words_a_second_language_model": round(1000 * WORDS / spent["ours"], 1),
        "words_a_second_hugging_face": round(1000 * WORDS / spent["theirs"], 1),
        "language_model_ratio": round(spent["theirs"] / spent["ours"], 2),
        "language_model_two_branches_ratio": round(spent["two"] / spent["ours"], 2),
    }


class _Streamer:
    """Notes when Hugging Face hands out a word."""

    def __init__(self, laps: Laps):
        self.laps = laps

    def put(self, value: Any) -> None:
        self.laps.append(time.perf_counter())

    def end(self) -> None:
        pass


def fresh(folder: Path) -> tuple[Path, Any]:
    """A bundle and a run with fresh weights, as large as those that recipes/generator-pretrain.toml makes."""
    import torch

    from allears.models.generation import saved
    from allears.models.selection.saved import ModelCard, TorchSelector
    from allears.models.selection.saved import build as build_ranker
    from allears.nn.encoder import Encoder
    from allears.text.layout import Limits
    from allears.text.tokenizer import WordPiece
    from allears.training.export.bundle import export_together

    torch.manual_seed(0)
    tokenizer = WordPiece(default_bundle())
    sizes = {
        "hidden_size": 384,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    }
    encoder = Encoder.from_config({"model_type": "bert", "vocab_size": tokenizer.size, **sizes})
    limits = Limits(
        context_tokens=160, first_turn_tokens=90, turn_tokens=64, response_tokens=64, persona_sentences=10
    )
    decoder = {"layers": 6, "heads": 6, "inner": 4, "dropout": 0.1, "own_words": False}
    card = saved.GeneratorCard("pal", limits, encoder.config, decoder, {"mixture": "joined"})
    voice = saved.TorchGenerator(saved.build(card, (encoder, None)), card, tokenizer)
    ranker_card = ModelCard("cobert", {}, limits, encoder=encoder.config)
    ranker = TorchSelector(build_ranker(ranker_card, encoder), ranker_card, tokenizer)
    export_together(ranker, folder / "bundle", voice=voice)
    return folder / "bundle", voice


def measured(arguments: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    run: Any = None
    folder = default_bundle() if arguments.bundle == "default" else Path(arguments.bundle)
    if arguments.fresh:
        folder, run = fresh(scratch)
    elif not has_voice(BundleCard.read(folder)):
        raise AllearsError(f"{folder}: this bundle carries no voice; give another --bundle, or --fresh")
    if arguments.run:
        from allears.models.generation import saved

        run = saved.load(arguments.run)
    voice = OnnxGenerator.from_bundle(folder)
    generators: dict[str, Generator] = {"bundle": voice}
    found = two_branches(voice, arguments.rounds) | proposals(voice, arguments.rounds)
    if run is not None:
        generators["torch"] = run
        for rows in (1, ROWS):
            found |= cached(run, max(2, arguments.rounds // 3), rows)
        found |= cached_in_int8(voice, run, scratch, arguments.rounds)
    found |= words_a_second(generators, arguments.rounds)
    if arguments.language_model:
        found |= language_model(arguments.language_model, max(2, arguments.rounds // 3))
    if arguments.gguf:
        prompt = Prompt(TURNS, PERSONA, LEANING)
        found |= against_llama(arguments.gguf, arguments.adapter, prompt, max(2, arguments.rounds // 3))
    size = sum(facts.bytes for facts in BundleCard.read(folder).files.values())
    voice_size = sum(path.stat().st_size for path in folder.glob("voice*"))
    found |= {"bundle_mib": round(size / 2**20, 1), "voice_mib": round(voice_size / 2**20, 1)}
    return found | {"load": round(os.getloadavg()[0], 1)}


def broken_limits(found: Mapping[str, Any]) -> list[str]:
    most = {
        "two_branches_ratio": MOST_BRANCHES,
        "proposals_in_passes": MOST_PASSES,
        "llama_cpp_ratio": MOST_LLAMA,
    }
    least = {"cache_ratio_int8": LEAST_CACHE, "language_model_ratio": LEAST_LANGUAGE_MODEL}
    broken = [f"{name} {found[name]} > {limit}" for name, limit in most.items() if found.get(name, 0) > limit]
    broken += [
        f"{name} {found[name]} < {limit}" for name, limit in least.items() if found.get(name, limit) < limit
    ]
    same = all(value for name, value in found.items() if name.startswith("same_words"))
    return broken + ([] if same else ["the cache changes what is written"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bundle", default="default", help="a bundle with a voice")
    parser.add_argument("--run", default="", help="a generator's run folder, for the cache and for torch")
    parser.add_argument(
        "--fresh", action="store_true", help="fresh weights in the place of both; no cost changes"
    )
    parser.add_argument("--language-model", default="", metavar="RUN", help="an adapter's run folder")
    parser.add_argument(
        "--gguf", type=Path, metavar="FILE", help="a language model, against llama.cpp itself"
    )
    parser.add_argument(
        "--adapter", type=Path, metavar="FILE", help="what is laid over it, with its voice.json"
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is broken")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = measured(arguments, Path(scratch))
    except AllearsError as error:
        print(error, file=sys.stderr)
        return 2
    found["broken_limits"] = broken_limits(found)
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:>34}  {value}")
    return 1 if arguments.check and found["broken_limits"] else 0


if __name__ == "__main__":
    sys.exit(main())
