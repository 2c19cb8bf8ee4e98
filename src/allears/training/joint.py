"""Several tasks trained together on one encoder, each batch from one of them.

[[parts]]
name = "ranker"                    # the first part brings the encoder that all others share
recipe = "recipes/ed-cobert.toml"
[[parts]]
name = "reader"
recipe = "recipes/reader.toml"
set = ["training.batch=128"]       # as `allears train --set` would
rounds = 0.5                       # half of its own batches in each joint epoch
weight = 2.0                       # of its loss

Give `training.accumulate` as many batches as hold one of every part: a step then hears all of them.
Batch sizes and what a part's loss looks like are its own recipe's; steps, rates and evaluations are the joint one's.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.training.loop import Backward, Task
from allears.training.recipe import Recipe, parse, read_recipe
from allears.training.tasks import make_task
from allears.training.workers import Workers

ROWS = 10**9  # example r of part p is number p * ROWS + r


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOptions:
    name: str
    recipe: str
    set: tuple[str, ...] = ()
    rounds: float = 1.0  # of its own epochs in one joint epoch
    weight: float = 1.0  # of its loss
    model_of: str = (
        ""  # train this earlier part's whole model, not only its encoder: the same model on other data
    )


class JointModel(nn.Module):
    """One encoder, and the models that hold it. It comes first, so its weights are named and counted once."""

    def __init__(self, encoder: nn.Module, parts: dict[str, nn.Module]):
        super().__init__()
        self.encoder = encoder
        self.parts = nn.ModuleDict(parts)


class JointTask:
    def __init__(self, recipe: Recipe, folder: Path):
        self.options = recipe.training
        self.wanted = _parts(recipe)
        self.metrics: list[str] = []
        self.tasks: list[Any] = []
        for part in self.wanted:
            own = read_recipe(Path(part.recipe), part.set)
            self.metrics.append(own.training.metric)
            self.tasks.append(make_task(own, folder / part.name))
        named = {part.name: task for part, task in zip(self.wanted, self.tasks, strict=True)}
        for part, task in zip(self.wanted, self.tasks, strict=True):
            if part.model_of:
                _same_kind(part, task.model, named[part.model_of].model)
                task.model = named[part.model_of].model
            elif task is not self.tasks[0]:
                _share_encoder(part, task.model, self.tasks[0].model.encoder)
        own_models = {
            part.name: task.model
            for part, task in zip(self.wanted, self.tasks, strict=True)
            if not part.model_of
        }
        self.model = JointModel(self.tasks[0].model.encoder, own_models)
        joined = "".join(task.data_fingerprint for task in self.tasks)
        self.data_fingerprint = hashlib.sha256(joined.encode()).hexdigest()[:16]

    def batches(self, epoch: int) -> list[list[int]]:
        """Every part's batches of this epoch, evenly mixed. A part's own epochs follow one another unbroken."""
        places: list[tuple[float, list[int]]] = []
        for number, (part, task) in enumerate(zip(self.wanted, self.tasks, strict=True)):
            chosen = _walk(task, epoch * part.rounds, part.rounds)
            step = 1 / max(1, len(chosen))
            generator = np.random.default_rng((self.options.seed, epoch, number))
            for position, rows in enumerate(chosen):
                place = (position + float(generator.random())) * step
                places.append((place, [number * ROWS + row for row in rows]))
        return [rows for _, rows in sorted(places, key=lambda item: item[0])]

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        number = batch[0] // ROWS
        rows = [row - number * ROWS for row in batch]
        weight = self.wanted[number].weight

        def weighted(loss: Tensor) -> None:
            backward(weight * loss)

        return cast(Tensor, self.tasks[number].step(rows, epoch, workers, weighted))

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """Every part's metrics under its name, and `score`: the mean of what each part's own recipe goes by."""
        found: dict[str, float] = {}
        scores = []
        for part, metric, task in zip(self.wanted, self.metrics, self.tasks, strict=True):
            measured = task.evaluate(device)
            scores.append(measured[metric])
            found |= {f"{part.name}.{name}": value for name, value in measured.items()}
        return {"score": float(np.mean(scores)), **found}

    def save(self, folder: Path) -> None:
        for part, task in zip(self.wanted, self.tasks, strict=True):
            if not part.model_of:
                task.save(folder / part.name)


def _walk(task: Task, start: float, rounds: float) -> list[list[int]]:
    """The batches from `start` to `start + rounds`, counted in the task's own epochs."""
    chosen: list[list[int]] = []
    for own in range(int(start), int(np.ceil(start + rounds))):
        batches = task.batches(own)
        first = round(max(0.0, start - own) * len(batches))
        last = round(min(1.0, start + rounds - own) * len(batches))
        chosen += batches[first:last]
    return chosen


def _parts(recipe: Recipe) -> list[PartOptions]:
    unknown = set(recipe.tables) - {"parts"}
    if unknown:
        raise AllearsError(f"recipe: unknown key {min(unknown)}; a joint recipe has [[parts]] and [training]")
    listed = recipe.tables.get("parts")
    if not isinstance(listed, list) or not listed:
        raise AllearsError(
            'recipe: a joint recipe lists its parts: [[parts]] with name = "..." and recipe = "..."'
        )
    parts = [parse(PartOptions, table, "parts") for table in listed]
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise AllearsError("recipe: two parts have the same name")
    for position, part in enumerate(parts):
        if part.model_of and part.model_of not in names[:position]:
            raise AllearsError(f"recipe: parts.model_of {part.model_of!r} is not an earlier part")
        if part.rounds <= 0:
            raise AllearsError(f"recipe: parts.rounds must be above 0, got {part.rounds}")
    return parts


def _same_kind(part: PartOptions, model: nn.Module, other: nn.Module) -> None:
    shapes = [{name: value.shape for name, value in each.state_dict().items()} for each in (model, other)]
    if shapes[0] != shapes[1]:
        raise AllearsError(
            f"recipe: part {part.name!r} asks for another model than {part.model_of!r}; "
            "their [model] tables must be alike"
        )


def _share_encoder(part: PartOptions, model: nn.Module, encoder: nn.Module) -> None:
    own = getattr(model, "encoder", None)
    if own is None or own.config != encoder.config:
        raise AllearsError(
            f"recipe: part {part.name!r} cannot share the first part's encoder: it has another one, or none"
        )
    model.encoder = encoder
