"""What models cost: time, memory, parameters, minutes of training."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from allears.errors import AllearsError
from allears.experiments.contract import Measurement, Run
from allears.experiments.measures.kind import Measures, device_for, place_of

if TYPE_CHECKING:
    from allears.experiments.lab import Lab


def cost(lab: Lab, asked: Measurement) -> Measures:
    """Time and memory of scoring 100 candidates, relative to the Bi-encoder: the repository's own benchmark."""
    script = lab.setting.repository / "benchmarks" / "selection.py"
    if not script.is_file():
        raise AllearsError(
            f"{script}: costs are measured by the benchmark of the source tree, which is not here"
        )
    words = [
        sys.executable,
        str(script),
        "--json",
        "--device",
        lab.setting.device,
        "--models",
        *asked.option("models"),
    ]
    if lab.setting.small:
        words += ["--small", "--contexts", "2", "--repeats", "1", "--candidates", "10"]
    elif lab.setting.encoder:
        words += ["--encoder", lab.setting.encoder]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AllearsError(f"{script} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    models = json.loads(done.stdout)["models"]
    return {
        f"{measure} {name}": value
        for name, row in models.items()
        for measure, value in row.items()
        if measure in ("time_ratio", "memory_ratio")
    }


def cost_command(lab: Lab, asked: Measurement) -> str:
    return shlex.join(["python", "benchmarks/selection.py", "--models", *asked.option("models")])


def persona_cost(lab: Lab, asked: Measurement) -> Measures:
    """Seconds and memory of a context with more and more persona sentences."""
    from allears.evaluation.selection import query_for
    from allears.models.selection.loading import load_selector

    counts = asked.option("counts")
    examples = _timed_examples(lab, asked)
    selector = load_selector(
        place_of(lab, asked.of), device_for(lab, asked.of), persona_sentences=max(counts)
    )
    sides = {count: (selector, [query_for(each, count) for each in examples]) for count in counts}
    return _costs(lab, {str(count): side for count, side in sides.items()}, examples)


def _timed_examples(lab: Lab, asked: Measurement) -> list[Any]:
    from allears.corpora.split_examples import split_examples

    examples = split_examples(lab.corpora.place(asked.option("corpus")), "valid", lab.corpora.root)
    return examples[: 8 if lab.setting.small else 100]


def _costs(lab: Lab, sides: dict[str, tuple[Any, list[Any]]], examples: list[Any]) -> Measures:
    """Seconds a context, side by side in turns, the best of three rounds; on a GPU also the peak of torch's memory."""
    import time

    texts = [example.response.text for example in examples]
    encoded = {name: selector.encode_responses(texts) for name, (selector, _) in sides.items()}
    rows = np.arange(len(texts))[None]
    best = dict.fromkeys(sides, float("inf"))
    memory: dict[str, int] = {}
    for _ in range(3):
        for name, (selector, queries) in sides.items():
            if lab.setting.device == "cuda":
                import torch

                torch.cuda.reset_peak_memory_stats()
            begun = time.perf_counter()
            for query in queries:
                selector.score([query], encoded[name], rows)  # ends on the CPU: nothing is left to wait for
            best[name] = min(best[name], (time.perf_counter() - begun) / len(queries))
            if lab.setting.device == "cuda":
                memory[name] = torch.cuda.max_memory_allocated()
    return {f"seconds_{name}": seconds for name, seconds in best.items()} | {
        f"memory_{name}": peak for name, peak in memory.items()
    }


def size(lab: Lab, asked: Measurement) -> Measures:
    """A run's parameters, and how long it took to train."""
    from safetensors import safe_open

    from allears.runtime.runs import best

    if not isinstance(asked.of, Run):
        raise AllearsError("only a run of our own has a size and a time to train")
    count = 0
    with safe_open(best(lab.place_of(asked.of)) / "model.safetensors", framework="numpy") as file:
        for name in file.keys():  # noqa: SIM118 (not a dictionary)
            size = 1
            for length in file.get_slice(name).get_shape():
                size *= length
            count += size
    return {"parameters": count, "minutes": lab.run_done(asked.of).seconds / 60}


def size_command(lab: Lab, asked: Measurement) -> str:
    return lab.train_command(asked.of) if isinstance(asked.of, Run) else ""
