"""The voice `small`: our adapter on SmolLM2-135M-Instruct, in int8 on the CPU."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from allears.errors import AllearsError
from allears.runtime.causal import WEIGHTS_FILE, CausalGenerator
from allears.runtime.language_models import smollm2_file

SMOLLM2_FOLDER = Path(__file__).parents[1] / "bundles" / "smollm2"  # our adapter


def open_smollm2(*, threads: int | None = None) -> CausalGenerator:
    """The voice `small`: our adapter on SmolLM2-135M-Instruct, in int8 on the CPU."""
    missing = smollm2_missing()
    if missing:
        raise AllearsError(missing)
    from allears.runtime.causal_onnx import open_adapted  # needs onnx and gguf

    return open_adapted(SMOLLM2_FOLDER, threads=threads)


def smollm2_missing() -> str:
    """What the voice `small` lacks on this machine, and how to get it; "" where nothing is missing."""
    if not (SMOLLM2_FOLDER / WEIGHTS_FILE).is_file():
        return (
            "this install carries no adapter for the voice small; train one with recipes/esconv-smollm2.toml"
        )
    if not all(find_spec(name) for name in ("gguf", "onnx", "safetensors")):
        return 'the voice small is not installed; run pip install "allears[llm]"'
    try:
        smollm2_file()
    except AllearsError as error:
        return str(error)
    return ""
