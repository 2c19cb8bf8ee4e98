"""Running the command line in a test, the way a person's shell does."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from allears.cli import main
from allears.cli.output import console, errors


class Answer(NamedTuple):
    """How a command left and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line through `main`, in a window wide enough that no sentence is broken."""
    monkeypatch.setattr(console, "_width", 200)
    monkeypatch.setattr(errors, "_width", 200)

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["allears", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run
