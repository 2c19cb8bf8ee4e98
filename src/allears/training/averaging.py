"""Several finished runs of one model as one: the weighted mean of their weights (a "model soup").

Runs that went on from the same pretrained weights can be averaged: the mean keeps much of what each of them learned,
and may be better than any of them. It costs nothing when used, unlike an ensemble. Measure it; nothing is promised.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from allears.errors import AllearsError
from allears.runtime.runs import MODEL_FILE, best, joint_parts

WEIGHTS_FILE = "model.safetensors"
RECORD_FILE = "average.json"
ENCODER = "encoder."

Weights = dict[str, Tensor]


def average_runs(runs: Mapping[Path, float], out: Path, *, encoder_of: Path | None = None) -> None:
    """Write the mean of some runs' weights as a run of its own; its card is that of the first.

    `encoder_of`: another run, whose encoder then takes the place of the mean's. A decoder or heads that were learned on
    one version of an encoder so come to another one.
    """
    if out.exists():
        raise AllearsError(f"{out}: exists already; give a new folder")
    if not runs or any(not weight > 0 for weight in runs.values()):
        raise AllearsError("give at least one run, and every weight above 0, such as runs/a=0.5 runs/b=0.5")
    total = sum(runs.values())
    first, *others = runs
    start = _weights(first)
    mean = {name: value.float() * (runs[first] / total) for name, value in start.items()}
    for run in others:
        weights = _weights(run)
        _check_alike(first, mean, run, weights)
        for name, value in weights.items():
            mean[name] += value.float() * (runs[run] / total)
    if encoder_of is not None:
        _take_encoder(first, mean, encoder_of)
    found = {name: value.to(start[name].dtype).contiguous() for name, value in mean.items()}
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        whole = Path(scratch) / "run"
        shutil.copytree(best(first), whole / "best", ignore=shutil.ignore_patterns(WEIGHTS_FILE))
        save_file(found, whole / "best" / WEIGHTS_FILE)
        record = {"runs": {str(run): weight for run, weight in runs.items()}}
        if encoder_of is not None:
            record["encoder of"] = {str(encoder_of): 1.0}
        (whole / RECORD_FILE).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        whole.rename(out)


def _weights(run: Path) -> Weights:
    folder = best(run)
    if not (folder / MODEL_FILE).is_file():
        if parts := joint_parts(run):
            raise AllearsError(
                f"{run}: a joint run has several models; name one of them, such as {next(iter(parts.values()))}"
            )
        raise AllearsError(f"{run}: no model.json here; give the folder of a finished `allears train`")
    try:
        return load_file(folder / WEIGHTS_FILE)
    except (OSError, SafetensorError) as error:
        raise AllearsError(f"{folder / WEIGHTS_FILE}: the weights cannot be read ({error})") from error


def _check_alike(first: Path, known: Weights, run: Path, weights: Weights) -> None:
    shapes, others = ({name: value.shape for name, value in each.items()} for each in (known, weights))
    if shapes != others:
        odd = min(name for name in {*shapes, *others} if shapes.get(name) != others.get(name))
        raise AllearsError(
            f"{run}: not the same model as {first}: {odd} differs; only alike runs have a mean"
        )


def _take_encoder(first: Path, weights: Weights, other: Path) -> None:
    own = {name: value for name, value in weights.items() if name.startswith(ENCODER)}
    given = {name: value.float() for name, value in _weights(other).items() if name.startswith(ENCODER)}
    if not own:
        raise AllearsError(f"{first}: this model has no encoder that could be another run's")
    _check_alike(first, own, other, given)
    weights |= given
