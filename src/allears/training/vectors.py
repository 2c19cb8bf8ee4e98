"""The word vectors that a recipe names."""

from __future__ import annotations

from pathlib import Path

from allears.corpora import data_root
from allears.errors import AllearsError


def vectors_file(name: str, root: str = "") -> Path:
    """`model.vectors` of a recipe: a path, or the name of a file among the corpora."""
    for place in (Path(name), data_root(root or None) / name):
        if place.is_file():
            return place
    raise AllearsError(
        f"recipe: model.vectors {name!r}: no such file, here or in ALLEARS_DATA; give a file in the GloVe layout, "
        'or vectors = "" to start from chance'
    )
