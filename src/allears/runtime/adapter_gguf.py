"""A low-rank adapter as llama.cpp reads it: GGUF, tensors "blk.N.attn_q.weight.lora_a" [r, in] and ".lora_b" [out, r].

W x  becomes  W x + (alpha / r) B A x

Llama's kind keeps the rows of q and k in another order there than Hugging Face does, so B's rows move with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError, needs

PARTS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
PLAIN = ("qwen2", "qwen3")  # architectures whose rows stay where they are
TURNED = "llama"
_SIDES = {"lora_A": "lora_a", "lora_B": "lora_b"}

Floats = npt.NDArray[np.float32]
Adapter = dict[str, Floats]
"""By Hugging Face's names: "model.layers.0.self_attn.q_proj.lora_A"."""


def write_adapter_gguf(
    path: Path,
    learned: Mapping[str, npt.NDArray[Any]],
    *,
    architecture: str,
    alpha: float,
    heads: tuple[int, int] | None = None,
    name: str = "allears",
) -> None:
    """In float16; the file is whole or absent.

    Args:
        architecture: Of the base, in GGUF's words, such as qwen2.
        heads: Of queries and of keys; needed for Llama's kind alone.
    """
    with needs("writing an adapter", "llm"):
        from gguf import GGUFWriter
    temporary = path.with_name(f"{path.name}.part")
    writer = GGUFWriter(temporary, architecture)
    writer.add_type("adapter")
    writer.add_name(name)
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for source, weights in learned.items():
        turned = _turned(source, np.asarray(weights, np.float32), architecture, heads, to_gguf=True)
        with np.errstate(over="ignore"):  # what float16 cannot hold is told below
            short = turned.astype(np.float16)
        if not np.isfinite(short).all():
            raise AllearsError(f"{source} holds numbers that float16 cannot; train again, more slowly")
        writer.add_tensor(_gguf_name(source), short)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        temporary.rename(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise AllearsError(f"{path}: cannot be written ({error.strerror})") from error


def read_adapter_gguf(path: Path, heads: tuple[int, int] | None = None) -> tuple[Adapter, str, float]:
    """What `write_adapter_gguf` wrote, as (weights, architecture, alpha)."""
    reader = open_gguf(path)
    if field(reader, "general.type") != "adapter" or field(reader, "adapter.type") != "lora":
        raise AllearsError(f"{path}: not a low-rank adapter")
    architecture, alpha = (
        str(field(reader, "general.architecture")),
        float(field(reader, "adapter.lora.alpha")),
    )
    learned: Adapter = {}
    for tensor in reader.tensors:
        source = _plain_name(str(tensor.name), path)
        learned[source] = _turned(source, tensor.data.astype(np.float32), architecture, heads, to_gguf=False)
    return learned, architecture, alpha


def open_gguf(path: Path) -> Any:
    """A reader of the package gguf."""
    with needs("reading a GGUF file", "llm"):
        from gguf import GGUFReader
    try:
        return GGUFReader(str(path))
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise AllearsError(f"{path}: not a whole GGUF file ({error})") from error


def field(reader: Any, key: str) -> Any:
    """A value of a file's header; None where it has none."""
    found = reader.fields.get(key)
    return None if found is None else found.contents()


def check_fits(learned: Mapping[str, npt.NDArray[Any]], base: Any, shown: str) -> None:
    """Whether every matrix of an adapter finds its matrix in the base.

    Args:
        base: A reader of the base's file.
        shown: The base, as people call it.
    """
    # GGUF names the numbers of a row first
    sizes = {
        str(tensor.name): (int(tensor.shape[1]), int(tensor.shape[0]))
        for tensor in base.tensors
        if len(tensor.shape) == 2
    }
    for source in learned:
        if not source.endswith(".lora_B"):
            continue
        first = learned.get(source.removesuffix("B") + "A")
        wanted = sizes.get(_gguf_name(source).removesuffix(".lora_b"))
        if first is None or wanted != (learned[source].shape[0], first.shape[1]):
            raise AllearsError(
                f"the adapter does not fit {shown} ({source.removesuffix('.lora_B')}); give --base the model that it "
                "was trained on"
            )


def _turned(
    source: str, weights: Floats, architecture: str, heads: tuple[int, int] | None, *, to_gguf: bool
) -> Floats:
    """GGUF rotates neighbours (0, 1), (2, 3), ... of a head in Llama's kind; Hugging Face its first half with its
    second."""
    if architecture in PLAIN:
        return weights
    if architecture != TURNED:
        raise AllearsError(
            f"adapters of the architecture {architecture!r} cannot be written for llama.cpp; there are: "
            f"{', '.join((*PLAIN, TURNED))}"
        )
    if heads is None:
        raise AllearsError(
            "Llama's kind keeps q and k in another order in GGUF, which depends on the number of heads; give --base "
            "the .gguf file of the base"
        )
    if not source.endswith(("q_proj.lora_B", "k_proj.lora_B")):
        return weights
    count = heads[0] if "q_proj" in source else heads[1]
    half = weights.shape[0] // count // 2
    rows = weights.reshape(count, *((2, half) if to_gguf else (half, 2)), weights.shape[1])
    return np.ascontiguousarray(rows.swapaxes(1, 2)).reshape(weights.shape)


def _gguf_name(source: str) -> str:
    try:
        stem, _, side = source.removeprefix("model.layers.").rpartition(".")
        layer, _, part = stem.partition(".")
        return f"blk.{int(layer)}.{PARTS[part]}.weight.{_SIDES[side]}"
    except (KeyError, ValueError) as error:
        raise AllearsError(f"llama.cpp knows no place for the adapter's {source}") from error


def _plain_name(name: str, path: Path) -> str:
    parts = {value: key for key, value in PARTS.items()}
    sides = {value: key for key, value in _SIDES.items()}
    try:
        _, layer, part, _, side = name.split(".")
        return f"model.layers.{int(layer)}.{parts[part]}.{sides[side]}"
    except (KeyError, ValueError) as error:
        raise AllearsError(f"{path}: there is no place for its {name}") from error
