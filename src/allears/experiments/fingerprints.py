"""What a cached number depends on, as short keys: settings, code, data."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import allears
from allears.conversation import Conversation

PACKAGE = Path(allears.__file__).parent
# What every training run rests on. Not the corpora's readers: what they read has a fingerprint of its own.
_LOOP = ("average", "averaging", "checkpoint", "joint", "loop", "recipe", "tasks", "vectors", "workers")
SHARED = ("conversation.py", "labels.py", "text", "nn", "metrics", *(f"training/{name}.py" for name in _LOOP))
# The code of each kind of model: its own files, how it learns, and how it is measured.
SELECTION = (
    *SHARED,
    "models/selection",
    "training/selection",
    "evaluation/selection.py",
    "evaluation/retrieval.py",
)
GENERATION = (*SHARED, "models/generation", "training/generation", "decoding", "evaluation/generation.py")
UNDERSTANDING = (
    *SHARED, "models/reader", "models/extractor", "training/understanding", "training/persona", "personas",
    "evaluation/understanding.py", "evaluation/persona.py", "evaluation/analyses",
)  # fmt: skip
LENGTH = 16


def digest(content: Any) -> str:
    """Of anything that is JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


@cache
def code_of(*rooms: str) -> str:
    """Of the code in some rooms or files of the package, as it runs: comments and docstrings may change freely."""
    found = hashlib.sha256()
    for room in rooms:
        place = PACKAGE / room
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found.update(f"{path.relative_to(PACKAGE)}\n{_shape(_without_docstrings(tree))}\n".encode())
    return found.hexdigest()[:LENGTH]


def conversations_digest(conversations: Iterable[Conversation]) -> str:
    found = hashlib.sha256()
    for conversation in conversations:
        found.update(conversation.to_json().encode("utf-8", "surrogatepass") + b"\n")
    return found.hexdigest()[:LENGTH]


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def _shape(node: Any) -> str:
    """A syntax tree as text: what is empty is left out, since each version of Python adds fields that mostly are."""
    if isinstance(node, ast.AST):
        fields = (
            f"{name}={_shape(value)}" for name, value in ast.iter_fields(node) if value not in (None, [])
        )
        return f"{type(node).__name__}({','.join(fields)})"
    return f"[{','.join(map(_shape, node))}]" if isinstance(node, list) else repr(node)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return tree
