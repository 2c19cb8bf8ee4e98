"""The training loop: one function that can be read in one sitting, for every task and model of the house.

It runs on one CPU, one GPU or many nodes with no change (`accelerate launch -m allears train RECIPE`).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.training.average import Average
from allears.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from allears.training.display import Display
from allears.training.recipe import Recipe, TrainingOptions
from allears.training.record import write_json, write_record
from allears.training.workers import Workers

Backward = Callable[[Tensor], None]


class Task(Protocol):
    """What the loop needs to know about what it trains."""

    data_fingerprint: str

    @property
    def model(self) -> nn.Module: ...

    def batches(self, epoch: int) -> list[list[int]]:
        """The global batches of an epoch, as lists of example numbers; the same for the same seed and epoch."""
        ...

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        """Forward and backward for this process's share of a batch; returns the (detached) loss."""
        ...

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """Metrics on the valid split."""
        ...

    def save(self, folder: Path) -> None:
        """The model, so that it can be loaded without the recipe."""
        ...


def train(task: Task, recipe: Recipe, folder: Path, *, resume: bool = False) -> dict[str, float]:
    """Train, keep the best model in `folder/best`, and return its metrics."""
    options = recipe.training
    gpu = torch.cuda.is_available()
    accelerator = Accelerator(mixed_precision="bf16" if in_half(options.precision, gpu) else "no")
    workers = Workers(accelerator)
    chief = accelerator.is_main_process
    model = task.model.to(accelerator.device)
    _prepare(model, options.compile)
    optimizer = torch.optim.AdamW(
        parameter_groups(model, options), weight_decay=options.weight_decay, fused=gpu
    )
    per_epoch = len(task.batches(0)) // options.accumulate
    if not per_epoch:
        raise AllearsError("the training data is smaller than one batch; lower training.batch")
    total = min(options.max_steps or math.inf, per_epoch * options.epochs)
    evaluate_every = options.evaluate_every or per_epoch
    due = SaveTimes(options.save_every or evaluate_every, options.save_minutes)

    average = Average(model, options.average)
    progress = load_checkpoint(folder / "checkpoint", model, optimizer, average) if resume else Progress()
    metrics = json.loads((folder / "metrics.json").read_text()) if progress.best is not None else {}
    if chief and not resume:
        folder.mkdir(parents=True, exist_ok=True)
        write_record(folder, recipe, task.data_fingerprint)

    with Display(folder, int(total), options, enabled=chief) as display:
        while progress.step < total and not progress.finished:
            batches = task.batches(progress.epoch)
            while progress.batch + options.accumulate <= len(batches) and progress.step < total:
                rate = learning_rate(progress.step, int(total), options)
                chosen = batches[progress.batch : progress.batch + options.accumulate]
                loss = _step(task, chosen, optimizer, workers, options, progress, rate)
                progress.step += 1
                progress.batch += options.accumulate
                average.update(progress.step)
                display.step(progress.step, loss, rate)
                if progress.step % evaluate_every == 0 or progress.step == total:
                    with average.worn():
                        found = _evaluate(task, workers, options)
                        better = progress.best is None or found[options.metric] > progress.best
                        if better and chief:
                            task.save(folder / "best")
                    progress.since_best = 0 if better else progress.since_best + 1
                    if better:
                        progress.best, metrics = found[options.metric], {**found, "step": progress.step}
                        if chief:
                            write_json(folder / "metrics.json", metrics)
                    display.evaluation(progress.step, found, better)
                    progress.finished = bool(options.patience) and progress.since_best >= options.patience
                if chief and (due(progress.step) or progress.step == total or progress.finished):
                    save_checkpoint(folder / "checkpoint", model, optimizer, progress, average)
                if progress.finished:
                    break
            else:
                progress.epoch, progress.batch = progress.epoch + 1, 0
    return metrics


def in_half(precision: str, gpu: bool) -> bool:
    """Whether a run computes in bfloat16."""
    return precision == "bf16-anywhere" or (precision == "bf16" and gpu)


class SaveTimes:
    """When a checkpoint is due: every so many steps, and when the last one is old. Whoever is killed loses minutes."""

    def __init__(self, steps: int, minutes: float):
        self.steps, self.seconds, self.last = steps, minutes * 60 or math.inf, time.monotonic()

    def __call__(self, step: int) -> bool:
        due = step % self.steps == 0 or time.monotonic() - self.last >= self.seconds
        if due:
            self.last = time.monotonic()
        return due


def _prepare(model: nn.Module, backend: str) -> None:
    # cuDNN plans its attention anew for each shape, and hardly two of our batches have the same
    torch.backends.cuda.enable_cudnn_sdp(False)
    if backend:  # in place: the names of the weights stay as they are
        getattr(model, "encoder", model).compile(backend=backend, dynamic=True)


def _step(
    task: Task,
    batches: list[list[int]],
    optimizer: torch.optim.Optimizer,
    workers: Workers,
    options: TrainingOptions,
    progress: Progress,
    rate: float,
) -> Tensor:
    """One optimiser step over one or (accumulating gradients) several batches; the mean loss of all processes."""
    model = task.model.train()
    # Everything random in this step follows from (seed, step): that is what makes a resume exact.
    torch.manual_seed(options.seed * 1_000_003 + progress.step)
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * rate

    def backward(loss: Tensor) -> None:
        (loss / len(batches)).backward()

    total = torch.zeros((), device=workers.device)
    for batch in batches:
        with workers.accelerator.autocast():
            total += task.step(batch, progress.epoch, workers, backward)
    workers.average_gradients(model.parameters())
    nn.utils.clip_grad_norm_(model.parameters(), options.clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return workers.average(total / len(batches))


def _evaluate(task: Task, workers: Workers, options: TrainingOptions) -> dict[str, float]:
    """Every process evaluates: it is cheap beside training, and all must agree on when to stop."""
    task.model.eval()
    with torch.inference_mode():
        found = task.evaluate(workers.device)
    if options.metric not in found:
        raise AllearsError(
            f"recipe: training.metric {options.metric!r} is not measured by this task; measured are {', '.join(found)}"
        )
    return found


def parameter_groups(model: nn.Module, options: TrainingOptions) -> list[dict[str, Any]]:
    """The pretrained encoder at `learning_rate`, everything else at `head_learning_rate`; no decay on vectors.

    A `learning_rate` of 0 beside heads that learn freezes the encoder, `frozen` whatever begins with one of its
    names: no gradient is computed for them. What the task itself has frozen stays so.
    """
    head = options.head_learning_rate or options.learning_rate
    groups: dict[tuple[float, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        peak = options.learning_rate if name.startswith("encoder") else head
        if not parameter.requires_grad or (not peak and head) or name.startswith(options.frozen):
            parameter.requires_grad_(False)
            continue
        groups.setdefault((peak, parameter.dim() > 1), []).append(parameter)
    return [
        {"params": parameters, "peak": peak, "lr": peak, **({} if decays else {"weight_decay": 0.0})}
        for (peak, decays), parameters in groups.items()
    ]


def learning_rate(step: int, total: int, options: TrainingOptions) -> float:
    """The share of the peak rate at a step: warm up linearly, then go down."""
    warmup = max(1, round(options.warmup * total))
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, total - warmup)
    if options.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * done))
    return 1.0 if options.schedule == "constant" else 1 - done
