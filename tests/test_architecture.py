"""The house keeps its shape: imports go downwards only, talking needs no torch, files stay readable."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import grimp
import pytest
from importlinter.application.use_cases import read_user_options
from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "allears"
LONGEST_FILE = 400


@pytest.fixture(scope="module")
def layers() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    return [name.strip() for line in contract["layers"] for name in line.split("|")]


def test_imports_go_downwards_only_and_talking_needs_no_torch(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    assert len(read_user_options().contracts_options) == 2
    assert lint_imports(cache_dir=None, config_filename=str(ROOT / "pyproject.toml")) == 0


def test_every_room_has_its_place_among_the_layers(layers: list[str]):
    rooms = {
        f"allears.{path.stem}"
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert rooms - {"allears.__init__", "allears.__main__"} == set(layers)


def test_every_room_says_what_it_is_for():
    silent = [
        str(path.parent.relative_to(PACKAGE))
        for path in PACKAGE.rglob("__init__.py")
        if not path.read_text(encoding="utf-8").lstrip().startswith('"""') and "migrations" not in str(path)
    ]
    assert silent == []


def test_a_class_name_means_one_thing():
    places: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_file_is_longer_than_a_sitting():
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in PACKAGE.rglob("*.py")}
    assert {str(path): lines for path, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_no_module_of_ours_is_imported_late_to_hide_a_cycle():
    """Between rooms the layers see to it; inside each room there is no cycle either."""
    graph = grimp.build_graph("allears", exclude_type_checking_imports=True)
    for room in sorted({name.split(".")[1] for name in graph.modules if "." in name}):
        modules = [name for name in graph.modules if name.startswith(f"allears.{room}.")]
        edges = {
            name: {other for other in graph.find_modules_directly_imported_by(name) if other in modules}
            for name in modules
        }
        assert _cycle(edges) == []


def _cycle(edges: dict[str, set[str]]) -> list[str]:
    """The modules that are left when whatever imports nothing else of them is taken away again and again."""
    left = {name: set(others) for name, others in edges.items()}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)
