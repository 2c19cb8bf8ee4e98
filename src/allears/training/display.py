"""What a person sees of a run: a progress bar on a terminal, plain lines elsewhere, TensorBoard, a log file."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor

from allears.errors import AllearsError
from allears.training.recipe import TrainingOptions

READ_LOSS_EVERY = 20  # reading the loss waits for the GPU, so it is read seldom


class Display:
    def __init__(self, folder: Path, total: int, options: TrainingOptions, *, enabled: bool):
        self.folder, self.total, self.options, self.enabled = folder, total, options, enabled
        self.console = Console(stderr=True)
        self.metric, self.loss = "", float("nan")
        self.started: float | None = None
        self.first_step = 0

    def __enter__(self) -> Display:
        if not self.enabled:
            return self
        self.log = open(self.folder / "log.jsonl", "a", encoding="utf-8")
        self.board = _tensorboard(self.folder)
        self.wandb = _wandb(self.options.wandb, self.folder)
        self.progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=self.console, disable=not self.console.is_terminal,
        )  # fmt: skip
        self.progress.start()
        self.bar = self.progress.add_task("training", total=self.total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.enabled:
            return
        self.progress.stop()
        self.log.close()
        if self.board is not None:
            self.board.close()
        if self.wandb is not None:
            self.wandb.finish()

    def step(self, step: int, loss: Tensor, rate: float) -> None:
        if not self.enabled:
            return
        if self.started is None:
            self.started, self.first_step = time.monotonic(), step
        if step % READ_LOSS_EVERY == 0 or step in (1, self.total):
            self.loss = float(loss)
            self._record(step, {"loss": self.loss, "rate": rate})
        seconds = time.monotonic() - self.started
        speed = (step - self.first_step) * self.options.batch * self.options.accumulate / max(seconds, 1e-6)
        self.progress.update(
            self.bar,
            completed=step,
            description=f"loss {self.loss:.3f}{self.metric}  {speed:,.0f} examples/s",
        )

    def evaluation(self, step: int, metrics: dict[str, float], better: bool) -> None:
        if not self.enabled:
            return
        self._record(step, metrics)
        chosen = metrics[self.options.metric]
        self.metric = f"  {self.options.metric} {chosen:.2f}"
        shown = "  ".join(f"{name} {value:.2f}" for name, value in metrics.items())
        self.console.print(
            f"step {step}/{self.total}  loss {self.loss:.3f}  {shown}{'  (best)' if better else ''}",
            highlight=False,
        )

    def _record(self, step: int, values: dict[str, float]) -> None:
        self.log.write(json.dumps({"step": step, **values}) + "\n")
        self.log.flush()
        if self.board is not None:
            for name, value in values.items():
                self.board.add_scalar(name, value, step)
        if self.wandb is not None:
            self.wandb.log(values, step=step)


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # not everybody installs it; log.jsonl has the same numbers
        return None
    return SummaryWriter(str(folder / "tensorboard"))


def _wandb(project: str, folder: Path) -> Any:
    if not project:
        return None
    try:
        import wandb
    except ImportError as error:
        raise AllearsError(
            "recipe: training.wandb is set, but it is not installed; run pip install wandb"
        ) from error

    return wandb.init(project=project, dir=str(folder), name=folder.name)
