"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# A wide terminal for every test and the commands it starts: where a table wraps is not what is tested.
os.environ["COLUMNS"] = "200"
# Language models of this machine are left alone; `real_voice` names the folder for tests that want them.
REAL_MODELS = os.environ.get("ALLEARS_MODELS")
os.environ["ALLEARS_MODELS"] = os.devnull + "-models"


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of the real corpora, or the test is skipped."""
    root = os.environ.get("ALLEARS_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("ALLEARS_DATA is not set to a folder")
    return Path(root)
