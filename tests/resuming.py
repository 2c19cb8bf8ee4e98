"""Runs that are stopped in the middle and go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allears.training.loop import train
from allears.training.recipe import Recipe

WEIGHTS = "checkpoint/model.safetensors"


def failing_after(step: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A task's step that is interrupted once it was called `count` times."""
    left = count

    def failing(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return step(*arguments)

    return failing


def expect_the_same_end(
    make: Callable[[Recipe, Path], Any], recipe: Recipe, folder: Path, *, stop_after: int
) -> None:
    """A run stopped after so many batches and resumed ends with the weights of one that never was, to the bit."""
    whole, parts = folder / "whole", folder / "parts"
    train(make(recipe, whole), recipe, whole)
    task = make(recipe, parts)
    task.step = failing_after(task.step, stop_after)
    with pytest.raises(KeyboardInterrupt):
        train(task, recipe, parts)
    train(make(recipe, parts), recipe, parts, resume=True)
    assert (whole / WEIGHTS).read_bytes() == (parts / WEIGHTS).read_bytes()
