"""What every run folder remembers: its recipe, the code's commit, the data's fingerprint, the versions."""

from __future__ import annotations

import json
import platform
import subprocess
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from allears import __version__
from allears.training.recipe import Recipe

PACKAGES = ("torch", "transformers", "accelerate", "tokenizers", "safetensors", "numpy")


def write_record(folder: Path, recipe: Recipe, data_fingerprint: str) -> None:
    record = {
        "allears": __version__,
        "commit": _commit(),
        "data": data_fingerprint,
        "recipe": {"task": recipe.task, "training": asdict(recipe.training), **recipe.tables},
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "hardware": torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else f"CPU ({platform.machine()})",
    }
    write_json(folder / "run.json", record)


def write_json(path: Path, content: Any) -> None:
    """JSON by way of a temporary file: whole or absent."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    temporary.rename(path)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """The commit of the checkout the package runs from; installed packages have none."""
    here = Path(__file__).parent
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"],
            cwd=here, capture_output=True, text=True, timeout=10, check=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + (" with local changes" if changed else "")
