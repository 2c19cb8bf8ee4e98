"""Tasks by the name a recipe gives them. Each is a function `(recipe, folder) -> Task`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from allears.errors import AllearsError
from allears.training.loop import Task
from allears.training.recipe import Recipe

_TASKS = {
    "joint": "allears.training.joint:JointTask",
    "selection": "allears.training.selection.task:SelectionTask",
    "understanding": "allears.training.understanding.task:UnderstandingTask",
    "persona-extraction": "allears.training.persona.task:PersonaTask",
    "persona-teacher": "allears.training.persona.teacher_task:TeacherTask",
    "voice": "allears.training.voice.task:VoiceTask",
    "voice-preference": "allears.training.voice.preference:PreferenceTask",
    "generation": "allears.training.generation.tasks:generation_task",
}


def make_task(recipe: Recipe, folder: Path) -> Task:
    where = _TASKS.get(recipe.task)
    if where is None:
        raise AllearsError(f"recipe: unknown task {recipe.task!r}; known are {', '.join(_TASKS)}")
    module, _, attribute = where.partition(":")
    factory: Callable[[Recipe, Path], Task] = getattr(import_module(module), attribute)
    return factory(recipe, folder)
