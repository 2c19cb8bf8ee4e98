"""What does it cost to score 100 candidates, model by model, and what did we gain over the plain way?

    python benchmarks/selection.py --encoder DIR_OR_NAME            # 2 CPU cores
    python benchmarks/selection.py --device cuda --check            # exit code 1 if a limit is broken

Two tables, all ratios within one run. One context is scored at a time, as in a conversation, with its persona
of ten sentences; candidates are encoded ahead by every model that can. Texts are made of random words, about
as long as in the corpora. Weights are the encoder's own and otherwise fresh: they change no cost.

1. Every model against the Bi-encoder, as in the PEC paper's Table 7. *Time* covers encoding context and
   persona and scoring. Bi-encoder and model take turns, context by context, so that whatever else the machine
   does falls on both alike, and the best of several rounds counts for each context: two threads that wait for
   each other on a busy machine can take ten times as long, and only ever longer. *Memory* is what one model
   needs for the longest of the contexts, weights and cached candidates included, in a process of its own: on a
   CPU the peak of its resident memory over what it had before the model was there; on a GPU the peak of what
   torch allocated.
2. CoBERT against `PlainCoBERT`, below: the same weights and equal scores, but every input padded to the
   maximum and the context repeated for every candidate. Both encode a context only once and have their
   candidates encoded ahead. *Scoring* starts from token states; *whole context* encodes it as well.

The limits: on a CPU, CoBERT scores at least 8 times as fast as the plain way; on a GPU, it takes at most 1.3
times the Bi-encoder's time per context.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from rich.console import Console
from rich.table import Table
from torch import Tensor

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.models.selection import saved
from allears.models.selection.cobert import CoBERT
from allears.models.selection.saved import WORD_MODELS, ModelCard
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pretrained import load_encoder
from allears.text.layout import Limits, Row, context_rows, flatten, pad_flat, pad_nested, plain_rows

LEAST_SPEED_UP = 8.0  # of CoBERT's scoring over the plain way, on a CPU
MOST_GPU_TIME = 1.3  # of CoBERT, times the Bi-encoder's
LARGEST_DIFFERENCE = 1e-3  # between CoBERT's scores and the plain way's, as a share of the largest score
BASELINE = "bi_encoder"
SLOW_ROUND = 20.0  # seconds; a model this slow is measured in two rounds, not in all
LIMITS = Limits()
# the paper's InfTime and RAM, relative to the Bi-encoder
PAPER = {
    "dim": (10.36, 0.79),
    "bi_encoder": (1.00, 1.00),
    "poly_encoder": (1.33, 1.84),
    "cobert": (2.00, 1.14),
    "memnet": (0.87, 0.89),
    "dam": (14.26, 1.57),
    "bert_dim": (18.36, 1.78),
}
RECIPE_COBERT = "cobert, as in the recipes"
OPTIONS: dict[str, dict[str, Any]] = {
    "bow": {},
    "hlstm": {},
    "dim": {},
    "bi_encoder": {},
    "poly_encoder": {},
    "cobert": {},
    RECIPE_COBERT: {"similarity": "cosine", "temperature": "learned", "pooled": True},
    "memnet": {},
    "dam": {},
    "bert_dim": {},
    "cross_encoder": {},
}
ABLATIONS: dict[str, dict[str, Any]] = {  # of CoBERT, as in the paper's Table 7; measured when they are named
    "cobert, without hop 1": {"hops": [2]},
    "cobert, without hop 2": {"hops": [1]},
    "cobert, with hop 3": {"hops": [1, 2, 3]},
    "cobert, mean for max": {"poolings": ["mean"]},
    "cobert, max and mean": {"poolings": ["max", "mean"]},
}
KNOWN = OPTIONS | ABLATIONS
SMALL_LSTMS = {"hidden_size": 8, "mlp_size": 8}


@dataclass(frozen=True)
class Setting:
    """What one run measures; handed as JSON to the processes that measure memory."""

    device: str
    encoder: str
    small: bool
    candidates: int
    contexts: int
    repeats: int
    threads: int

    def autocast(self) -> AbstractContextManager[Any]:
        """bfloat16 on a GPU, as `TorchSelector` does."""
        return torch.autocast("cuda", torch.bfloat16, enabled=self.device == "cuda")

    def load_encoder(self) -> Encoder:
        if not self.small:
            return load_encoder(self.encoder)
        tiny = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        return Encoder.from_config({"model_type": "bert", "vocab_size": 2_000, **tiny})

    def build(self, name: str, encoder: Encoder | None = None) -> Any:
        kind = name.partition(",")[0]
        options = dict(KNOWN[name])
        if self.small and kind in {"dim", "bert_dim"}:
            options |= SMALL_LSTMS
        torch.manual_seed(0)
        if kind in WORD_MODELS:
            card = ModelCard(kind, options, LIMITS, vocabulary_size=2_000 if self.small else 40_000)
            return saved.build(card).to(self.device).eval()
        encoder = encoder or self.load_encoder()
        model = saved.build(ModelCard(kind, options, LIMITS, encoder=encoder.config), encoder)
        return model.to(self.device).eval()


@dataclass(frozen=True)
class Words:
    """Token lists of one context: its turns, in order, and its persona's sentences."""

    turns: list[list[int]]
    persona: list[list[int]]


class MadeUpTexts:
    """Random words, as many as people use: about 40 tokens of context, 16 of response, 13 a persona sentence.

    Lengths are log-normal, as those of written sentences are, and cut as the layouts cut them.
    """

    # ids below 1000 are special or unused in BERT's vocabulary; a tiny vocabulary has none of those
    marks: Any = SimpleNamespace(pad=0, start=101, end=102)

    def __init__(self, setting: Setting):
        self.setting, self.chance = setting, np.random.default_rng(0)
        self.contexts = [
            Words(
                turns=[self._words(12) for _ in range(self.chance.integers(1, 6))],  # 3 on average
                persona=[self._words(13) for _ in range(LIMITS.persona_sentences)],
            )
            for _ in range(setting.contexts)
        ]
        self.responses = [self._words(16) for _ in range(setting.candidates)]

    def _words(self, mean: int) -> list[int]:
        spread = 0.6
        drawn = self.chance.lognormal(np.log(mean) - spread**2 / 2, spread)
        return self.chance.integers(1_000, 2_000, max(2, round(drawn))).tolist()

    @cached_property
    def longest(self) -> Words:
        return max(self.contexts, key=lambda words: sum(map(len, [*words.turns, *words.persona])))

    def context(self, words: Words, *, nested: bool) -> Inputs:
        turns = [Turn(Role.SUPPORTER if place % 2 else Role.SEEKER, "") for place in range(len(words.turns))]
        return self._inputs([context_rows(turns, words.turns, LIMITS)], nested)

    def persona(self, words: Words, *, nested: bool) -> Inputs:
        return self._inputs([plain_rows(words.persona, LIMITS.persona_sentence_tokens, segment=1)], nested)

    def candidates(self) -> Inputs:
        rows = plain_rows(self.responses, LIMITS.response_tokens, segment=1)
        return self._inputs([[row] for row in rows], nested=False)

    def _inputs(self, groups: list[list[Row]], nested: bool) -> Inputs:
        if nested:
            tokens = pad_nested(groups, self.marks)
        else:
            tokens = pad_flat([flatten(rows, self.marks) for rows in groups], self.marks.pad)
        return Inputs.from_tokens(tokens).to(self.setting.device)

    def facts(self) -> dict[str, float]:
        sizes = {
            "context": [int(self.context(words, nested=False).mask.sum()) for words in self.contexts],
            "persona": [int(self.persona(words, nested=False).mask.sum()) for words in self.contexts],
            "response": self.candidates().mask.sum(-1).tolist(),
        }
        return {f"mean_{name}_tokens": float(np.mean(found)) for name, found in sizes.items()}


class Scorer:
    """A model with its candidates encoded ahead: what one context costs."""

    def __init__(self, model: Any, texts: MadeUpTexts, setting: Setting):
        self.model, self.texts, self.setting = model, texts, setting
        with torch.inference_mode(), setting.autocast():
            self.candidates: Encoded = model.encode_response(texts.candidates())[None]

    def encode(self, words: Words) -> tuple[Encoded, Encoded]:
        context = self.texts.context(words, nested=self.model.nested_context)
        persona = self.texts.persona(words, nested=self.model.nested_persona)
        return self.model.encode_context(context), self.model.encode_persona(persona)

    def score(self, sides: tuple[Encoded, Encoded]) -> Tensor:
        scores: Tensor = self.model.score(*sides, self.candidates)
        return scores

    def seconds(self, words: Words) -> float:
        """To encode a context with its persona and to score all candidates."""
        return self._timed(lambda: self.score(self.encode(words)))

    def scoring_seconds(self, words: Words) -> float:
        with torch.inference_mode(), self.setting.autocast():
            sides = self.encode(words)
        return self._timed(lambda: self.score(sides))

    def _timed(self, work: Callable[[], Tensor]) -> float:
        with torch.inference_mode(), self.setting.autocast():
            self._wait()
            start = time.perf_counter()
            work()
            self._wait()
            return time.perf_counter() - start

    def _wait(self) -> None:
        if self.setting.device == "cuda":
            torch.cuda.synchronize()


class PlainCoBERT(Scorer):
    """The baseline: CoBERT as it is written down first.

    Every input has the length of the longest that can come (256 tokens of context, 30 of response, ten
    persona sentences of 22, and the special tokens), and every candidate has its own copy of the context's
    and the persona's token states. Equations 1 to 6 then follow line by line, for one context.
    """

    CONTEXT = LIMITS.context_tokens
    PERSONA = LIMITS.persona_sentences * (LIMITS.persona_sentence_tokens + 1) + 1
    RESPONSE = LIMITS.response_tokens + 2

    def __init__(self, model: CoBERT, texts: MadeUpTexts, setting: Setting):
        super().__init__(model, texts, setting)
        with torch.inference_mode(), setting.autocast():
            self.candidates = model.encode_response(self._padded(texts.candidates(), self.RESPONSE))

    def encode(self, words: Words) -> tuple[Encoded, Encoded]:
        context = self._padded(self.texts.context(words, nested=False), self.CONTEXT)
        persona = self._padded(self.texts.persona(words, nested=False), self.PERSONA)
        return self.model.encode_context(context), self.model.encode_persona(persona)

    def _padded(self, inputs: Inputs, length: int) -> Inputs:
        return inputs.map(lambda tensor: F.pad(tensor, (0, length - tensor.shape[-1])))

    def score(self, sides: tuple[Encoded, Encoded]) -> Tensor:
        context, persona = sides
        return (self._match(context) + self._match(persona))[None]  # equation 6

    def _match(self, side: Encoded) -> Tensor:
        Y, y_mask = self.candidates.states, self.candidates.mask  # [C, n, d] and [C, n]
        X, x_mask = side.states.repeat(len(Y), 1, 1), side.mask.repeat(len(Y), 1)  # [C, m, d] and [C, m]
        x_hidden, y_hidden = (x_mask == 0), (y_mask == 0)
        A = X @ Y.transpose(1, 2)  # equation 1: [C, m, n]
        X2Y = A.masked_fill(y_hidden[:, None, :], -1e30).softmax(-1)  # equation 2
        Y2X = A.transpose(1, 2).masked_fill(x_hidden[:, None, :], -1e30).softmax(-1)  # equation 3
        x_first = (X2Y @ Y).masked_fill(x_hidden[..., None], -1e30).max(1).values
        y_first = (Y2X @ X).masked_fill(y_hidden[..., None], -1e30).max(1).values
        x_mean = (X2Y * x_mask[..., None]).sum(1, keepdim=True) / x_mask.sum(1)[:, None, None]
        y_mean = (Y2X * y_mask[..., None]).sum(1, keepdim=True) / y_mask.sum(1)[:, None, None]
        x_second = (x_mean @ Y2X) @ X  # equation 4: [C, 1, d]
        y_second = (y_mean @ X2Y) @ Y  # equation 5
        return (x_first * y_first).sum(-1).float() + (x_second * y_second).sum((1, 2)).float()


Work = Callable[[Words], float]


def take_turns(ours: Work, other: Work, contexts: Sequence[Words], repeats: int) -> tuple[float, float]:
    """Seconds per context of both: the mean over contexts of the best of several rounds."""
    for work in (ours, other):
        work(contexts[0])  # warm up
    best = [(math.inf, math.inf)] * len(contexts)
    for number in range(repeats):
        start = time.perf_counter()
        for place, words in enumerate(contexts):
            before = best[place]
            best[place] = (min(before[0], ours(words)), min(before[1], other(words)))
        if number and time.perf_counter() - start > SLOW_ROUND:
            break
    first, second = (statistics.mean(times) for times in zip(*best, strict=True))
    return first, second


def measure_models(names: Sequence[str], setting: Setting, note: Callable[[str], None]) -> dict[str, Any]:
    texts, encoder = MadeUpTexts(setting), setting.load_encoder()
    baseline = Scorer(setting.build(BASELINE, encoder), texts, setting)
    base_memory = memory_of(BASELINE, setting)
    found: dict[str, Any] = {}
    for name in names:
        note(name)
        scorer = Scorer(setting.build(name, encoder), texts, setting)
        base, seconds = take_turns(baseline.seconds, scorer.seconds, texts.contexts, setting.repeats)
        memory = base_memory if name == BASELINE else memory_of(name, setting)
        found[name] = {
            "time_ratio": seconds / base,
            "seconds_per_context": seconds,
            "memory_ratio": memory / base_memory,
            "memory_bytes": memory,
        }
    return found


def measure_plain(setting: Setting) -> dict[str, float]:
    texts, model = MadeUpTexts(setting), setting.build("cobert")
    ours, plain = Scorer(model, texts, setting), PlainCoBERT(model, texts, setting)
    difference = largest_difference(model, texts, setting)
    if difference > LARGEST_DIFFERENCE:
        raise AllearsError(f"CoBERT and the plain way disagree by {difference:.1e} of their largest score")
    contexts, repeats = texts.contexts, setting.repeats
    scoring, plain_scoring = take_turns(ours.scoring_seconds, plain.scoring_seconds, contexts, repeats)
    whole, plain_whole = take_turns(ours.seconds, plain.seconds, contexts, repeats)
    return {
        "scoring_speed_up": plain_scoring / scoring,
        "whole_context_speed_up": plain_whole / whole,
        "scoring_seconds_per_context": scoring,
        "plain_scoring_seconds_per_context": plain_scoring,
        "largest_relative_difference": difference,
    }


@torch.inference_mode()
def largest_difference(model: CoBERT, texts: MadeUpTexts, setting: Setting) -> float:
    """Between the two ways' scores, as a share of the largest; in float32 wherever it runs."""
    exact = SimpleNamespace(device=setting.device, autocast=lambda: torch.autocast("cuda", enabled=False))
    ours, plain = Scorer(model, texts, exact), PlainCoBERT(model, texts, exact)  # type: ignore[arg-type]
    worst = 0.0
    for words in texts.contexts:
        one, other = ours.score(ours.encode(words)), plain.score(plain.encode(words))
        worst = max(worst, float((one - other).abs().max() / other.abs().max()))
    return worst


def memory_of(name: str, setting: Setting) -> int:
    """Bytes, measured in a fresh process: nothing another model left behind counts."""
    command = [sys.executable, __file__, "--memory-of", name, "--setting", json.dumps(asdict(setting))]
    # glibc gives large blocks back when they are freed: what is resident is what is in use
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise AllearsError(f"measuring the memory of {name} failed: {done.stderr.strip()[-500:]}")
    return int(done.stdout.split()[-1])


def measure_memory(name: str, setting: Setting) -> int:
    """What the model needs, from being loaded to having scored the longest context."""
    texts = MadeUpTexts(setting)
    # a tiny one first: the libraries that a model brings in when it is first used are nobody's memory
    tiny = replace(setting, small=True)
    Scorer(tiny.build(name), texts, tiny).seconds(texts.longest)
    gc.collect()
    before = 0 if setting.device == "cuda" else resident("VmRSS")
    scorer = Scorer(setting.build(name), texts, setting)
    gc.collect()
    if setting.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    else:
        # from here on: loading an encoder takes memory for a moment that using it does not
        Path("/proc/self/clear_refs").write_text("5")
    scorer.seconds(texts.longest)
    if setting.device == "cuda":
        return torch.cuda.max_memory_allocated()
    return resident("VmHWM") - before


def resident(what: str) -> int:
    """Resident memory now (VmRSS) or at its highest (VmHWM), in bytes, as Linux counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    raise AllearsError(f"/proc/self/status does not say {what}; memory is measured on Linux only")


def check(found: dict[str, Any]) -> list[str]:
    """The limits that are broken, in words."""
    broken = []
    speed_up = found["plain"]["scoring_speed_up"]
    cobert = found["models"].get("cobert")
    if found["device"] == "cpu" and speed_up < LEAST_SPEED_UP:
        broken.append(
            f"CoBERT scores {speed_up:.1f} times as fast as the plain way, not {LEAST_SPEED_UP:.0f}"
        )
    if found["device"] == "cuda" and cobert and cobert["time_ratio"] > MOST_GPU_TIME:
        broken.append(
            f"CoBERT takes {cobert['time_ratio']:.2f} times the Bi-encoder's time, not {MOST_GPU_TIME}"
        )
    return broken


def tables(found: dict[str, Any]) -> list[Table]:
    where = f"{found['machine']}, {found['candidates']} candidates, {found['encoder']}"
    models = Table(title=f"Relative to the Bi-encoder: {where}", caption="PEC: the paper's Table 7")
    models.add_column("model")
    for heading in ("time", "PEC", "ms per context", "memory", "PEC", "MB"):
        models.add_column(heading, justify="right")
    for name, row in found["models"].items():
        time_there, memory_there = PAPER.get(name, (None, None))
        models.add_row(
            name,
            f"{row['time_ratio']:.2f}",
            "" if time_there is None else f"{time_there:.2f}",
            f"{row['seconds_per_context'] * 1e3:.1f}",
            f"{row['memory_ratio']:.2f}",
            "" if memory_there is None else f"{memory_there:.2f}",
            f"{row['memory_bytes'] / 1e6:.0f}",
        )
    plain = Table(title="CoBERT against the plain way: padded to the maximum, repeated per candidate")
    plain.add_column("")
    plain.add_column("times as fast", justify="right")
    plain.add_row("scoring", f"{found['plain']['scoring_speed_up']:.1f}")
    plain.add_row("whole context", f"{found['plain']['whole_context_speed_up']:.1f}")
    return [models, plain]


def measure(names: Sequence[str], setting: Setting, note: Callable[[str], None]) -> dict[str, Any]:
    processor = torch.cuda.get_device_name() if setting.device == "cuda" else f"{setting.threads} CPU threads"
    found: dict[str, Any] = {
        **asdict(setting),
        "encoder": "a tiny random encoder" if setting.small else Path(setting.encoder).name,
        "machine": processor,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "texts": MadeUpTexts(setting).facts(),
    }
    note("the plain way")
    found["plain"] = measure_plain(setting)
    found["models"] = measure_models(names, setting, note)
    found["broken_limits"] = check(found)
    return found


def arguments_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument(
        "--encoder",
        default=os.environ.get("ALLEARS_ENCODER", "thenlper/gte-small"),
        help="a hub name or a folder (default: $ALLEARS_ENCODER, else thenlper/gte-small)",
    )
    parser.add_argument("--small", action="store_true", help="a tiny random encoder: tries the script out")
    parser.add_argument("--models", nargs="+", choices=list(KNOWN), default=list(OPTIONS), metavar="NAME")
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--contexts", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=7, help="rounds over all contexts; the best counts")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is broken")
    parser.add_argument("--memory-of", choices=list(KNOWN), help=argparse.SUPPRESS)
    parser.add_argument("--setting", type=json.loads, help=argparse.SUPPRESS)
    return parser


def main(arguments: list[str] | None = None) -> int:
    options = arguments_parser().parse_args(arguments)
    if options.memory_of:
        setting = Setting(**options.setting)
        torch.set_num_threads(setting.threads)
        print(measure_memory(options.memory_of, setting))
        return 0
    setting = Setting(
        options.device,
        options.encoder,
        options.small,
        options.candidates,
        options.contexts,
        options.repeats,
        options.threads,
    )
    torch.set_num_threads(setting.threads)
    errors = Console(stderr=True)
    try:
        with errors.status("measuring") as status:
            found = measure(options.models, setting, lambda name: status.update(f"measuring {name}"))
    except AllearsError as error:
        errors.print(str(error), style="red", markup=False)
        return 2
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        console = Console()
        for table in tables(found):
            console.print(table)
    for broken in found["broken_limits"]:
        errors.print(broken, style="bold red", markup=False)
    return int(options.check and bool(found["broken_limits"]))


if __name__ == "__main__":
    sys.exit(main())
