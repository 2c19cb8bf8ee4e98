"""Commands that are imported when they are asked for: `allears chat` should not wait for what training needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

# each is a module of this package, with an `app` or with a function of the same name
COMMANDS = (
    "chat", "voice", "serve", "memory", "replay", "judge",
    "data", "analyse", "evaluate", "index", "persona", "reddit", "train", "average", "export", "annotate", "generate",
    "study", "experiment",
)  # fmt: skip


class LazyCommands(TyperGroup):
    """Knows every command's name from the beginning, and the rest when it is used or `--help` lists it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: dict[str, Any] = dict.fromkeys(COMMANDS) | dict(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _import(cmd_name)
        return super().get_command(ctx, cmd_name)


def _import(name: str) -> Any:
    module = import_module(f"allears.cli.{name}")
    app = typer.Typer(rich_markup_mode="rich")
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name)
    else:
        app.command(name=name)(getattr(module, name))
    return get_group(app).commands[name]
