"""A recipe is a TOML file that says everything about a training run. Unknown keys are errors, not surprises.

task = "selection"          # which task's code reads the other tables
[training]                  # this module: how long, how fast, how often
[data] [model] [limits] ... # the task's own
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from allears.errors import AllearsError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How a run is optimised. `batch` counts examples over all processes."""

    seed: int = 1
    epochs: int = 1
    max_steps: int = 0  # 0: as many as the epochs have
    batch: int = 64
    accumulate: int = 1  # batches per optimiser step
    learning_rate: float = 2e-5
    head_learning_rate: float = 0.0  # for parameters outside the pretrained encoder; 0: the same
    frozen: tuple[str, ...] = ()  # parameters that stay as they are: "encoder.model.embeddings.word"
    weight_decay: float = 0.01
    warmup: float = 0.1  # share of all steps
    schedule: str = "linear"  # linear | cosine | constant
    clip: float = 1.0
    average: float = 0.0  # decay of a moving average of the weights, which is then what is evaluated; 0: off
    precision: str = (
        "bf16"  # bf16 (on a GPU) | bf16-anywhere (quicker on processors with AVX-512 BF16) | float32
    )
    metric: str = "recall_at_1"  # the best checkpoint is the one with the highest
    evaluate_every: int = 0  # steps; 0: after each epoch
    patience: int = 0  # evaluations without a better metric before stopping; 0: never stop early
    save_every: int = 0  # steps; 0: with each evaluation
    save_minutes: float = 5.0  # and whenever the last checkpoint is so old; 0: never
    compile: str = (
        ""  # a torch.compile backend for the encoder ("inductor"): worth it on a GPU, for minutes or more
    )
    wandb: str = ""  # a Weights & Biases project; empty: off


@dataclass(frozen=True, slots=True)
class Recipe:
    """A parsed recipe: the task's name, the training options, and the task's own tables, still raw."""

    task: str
    training: TrainingOptions
    tables: dict[str, Any] = field(default_factory=dict)

    def table(self, kind: type[T], name: str) -> T:
        """One of the tables as a dataclass; its defaults where the recipe says nothing."""
        return parse(kind, self.tables.get(name, {}), name)


def read_recipe(path: Path, changes: Sequence[str] = ()) -> Recipe:
    """The recipe in a file, with `key=value` changes (`--set training.batch=32`) applied."""
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise AllearsError(f"{path}: no such recipe; the shipped ones are in recipes/") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AllearsError(f"{path}: not a TOML file ({error})") from error
    for change in changes:
        _apply(raw, change)
    task = raw.pop("task", None)
    if not isinstance(task, str):
        raise AllearsError(f'{path}: the recipe needs a line task = "..." at its top')
    training = parse(TrainingOptions, raw.pop("training", {}), "training")
    return Recipe(task, training, raw)


def _apply(raw: dict[str, Any], change: str) -> None:
    key, equals, text = change.partition("=")
    if not equals or not key:
        raise AllearsError(f"--set takes key=value, such as training.batch=32; got {change!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text  # an unquoted word is a text
    *tables, last = key.split(".")
    place = raw
    for table in tables:
        place = place.setdefault(table, {})
        if not isinstance(place, dict):
            raise AllearsError(f"--set {change}: {table!r} is not a table of the recipe")
    place[last] = value


def parse(kind: type[T], table: Any, name: str) -> T:
    """A recipe's table as a dataclass: unknown keys and wrong types are named, with the nearest known key."""
    if not isinstance(table, dict):
        raise AllearsError(f"recipe: [{name}] must be a table, got {table!r}")
    known = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    values = {}
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), 1)
            advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            raise AllearsError(f"recipe: unknown key {name}.{key}; {advice}")
        values[key] = _checked(value, hints[key], f"{name}.{key}")
    try:
        return kind(**values)
    except TypeError as error:  # a required key is missing
        raise AllearsError(f"recipe: [{name}] {str(error).split(') ')[-1]}") from error


def only_tables(recipe: Recipe, known: set[str]) -> None:
    """A table that the task does not know is an error, like any unknown key."""
    unknown = set(recipe.tables) - known
    if unknown:
        raise AllearsError(f"recipe: unknown key {min(unknown)}; the tables are {', '.join(sorted(known))}")


def sample(items: list[T], limit: int, seed: int) -> list[T]:
    """A seeded sample in the original order; all of them when the limit is 0 or larger."""
    if not limit or limit >= len(items):
        return items
    chosen = np.sort(np.random.default_rng(seed).choice(len(items), limit, replace=False))
    return [items[place] for place in chosen]


def _checked(value: Any, kind: Any, name: str) -> Any:
    if get_origin(kind) is UnionType:
        options = [option for option in get_args(kind) if option is not type(None)]
        kind = options[0]
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise AllearsError(f"recipe: {name} must be a list, got {value!r}")
        return tuple(_checked(item, get_args(kind)[0], name) for item in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (int, float, str, bool) and (
        not isinstance(value, kind) or (kind is int and isinstance(value, bool))
    ):
        raise AllearsError(f"recipe: {name} must be of type {kind.__name__}, got {value!r}")
    return value
