"""A made-up corpus and a lab in which its runs are trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up_experiment import RECIPE

from allears.experiments.lab import Lab
from allears.experiments.setting import Setting
from command_line import run  # noqa: F401
from training_fixtures import corpus_root  # noqa: F401


@pytest.fixture
def setting(tmp_path: Path, corpus_root: Path) -> Setting:  # noqa: F811
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    return Setting(home=tmp_path / "home", root=corpus_root, repository=tmp_path)


@pytest.fixture
def said() -> list[str]:
    """What the lab says it does."""
    return []


@pytest.fixture
def lab(setting: Setting, said: list[str]) -> Callable[..., Lab]:
    """A lab as a new session finds it."""

    def make(**changes: Any) -> Lab:
        return Lab(replace(setting, **changes), said.append)

    return make
