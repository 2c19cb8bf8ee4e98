"""Which task trains the model that a generation recipe names."""

from __future__ import annotations

from pathlib import Path

from allears.models.generation.empathetic_saved import EMPATHETIC_MODELS
from allears.training.loop import Task
from allears.training.recipe import Recipe

CAUSAL = "causal"


def generation_task(recipe: Recipe, folder: Path) -> Task:
    model = recipe.tables.get("model", {})
    if isinstance(model, dict) and model.get("name") == CAUSAL:
        from allears.training.generation.causal_task import CausalTask

        return CausalTask(recipe, folder)
    if isinstance(model, dict) and model.get("name") in EMPATHETIC_MODELS:
        from allears.training.generation.empathetic_task import EmpatheticTask

        return EmpatheticTask(recipe, folder)
    from allears.training.generation.task import GenerationTask

    return GenerationTask(recipe, folder)
