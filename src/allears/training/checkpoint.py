"""Checkpoints without pickle: weights and optimiser in safetensors, the rest in JSON, written atomically.

What is random in a step is seeded by (seed, step), and the order of the data by (seed, epoch), so no random
state has to be kept: a resumed run ends with the same weights as one that was never stopped.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from allears.errors import AllearsError
from allears.training.average import Average


@dataclass
class Progress:
    """Where a run stands."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # batches of this epoch already used
    best: float | None = None
    since_best: int = 0
    finished: bool = False


def save_checkpoint(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    average: Average,
) -> None:
    """Replace the checkpoint in `folder`; a kill at any moment leaves the old one or the new one, whole."""
    fresh, old = folder.with_name("checkpoint.part"), folder.with_name("checkpoint.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    save_file(_on_cpu(model.state_dict()), fresh / "model.safetensors")
    save_file(_on_cpu(_optimizer_tensors(optimizer)), fresh / "optimizer.safetensors")
    if average.decay:
        save_file(_on_cpu(average.tensors()), fresh / "average.safetensors")
    (fresh / "progress.json").write_text(json.dumps(asdict(progress)))
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Average
) -> Progress:
    """Restore what `save_checkpoint` wrote. If a kill fell between its two renames, the old one is used."""
    if not folder.exists() and folder.with_name("checkpoint.old").exists():
        folder = folder.with_name("checkpoint.old")
    try:
        model.load_state_dict(load_file(folder / "model.safetensors"))
        _restore_optimizer(optimizer, load_file(folder / "optimizer.safetensors"))
        if average.decay:
            average.restore(load_file(folder / "average.safetensors"))
        return Progress(**json.loads((folder / "progress.json").read_text()))
    except FileNotFoundError:
        raise AllearsError(
            f"{folder}: no checkpoint to resume from; leave --resume out to start anew"
        ) from None
    except (SafetensorError, RuntimeError, KeyError, ValueError, TypeError, OSError) as error:
        detail = str(error).splitlines()[0]
        raise AllearsError(f"{folder}: the checkpoint is corrupt or of another recipe ({detail})") from error


def _on_cpu(tensors: dict[str, Any]) -> dict[str, torch.Tensor]:
    # .clone(): safetensors refuses tensors that share memory
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """AdamW's state as flat names: `12.exp_avg`. Parameters are numbered as the optimiser numbers them."""
    state = optimizer.state_dict()["state"]
    return {
        f"{index}.{name}": value if isinstance(value, torch.Tensor) else torch.tensor(value)
        for index, values in state.items()
        for name, value in values.items()
    }


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
