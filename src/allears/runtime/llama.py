"""The weights and the tokenizer of a Llama-family model, read without torch: from a .gguf file or a model's folder.

Names and layouts are Hugging Face's ("model.layers.0.self_attn.q_proj.weight" [outputs, inputs]), so that an adapter
trained there fits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from allears.errors import AllearsError
from allears.runtime.language_models import place_of

Floats = npt.NDArray[np.float32]
_MARK = 3  # a GGUF token's type where it is no word

# what GGUF calls a layer's weights, and what Hugging Face does
_LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


@dataclass(frozen=True, slots=True)
class LlamaShape:
    layers: int
    size: int
    heads: int
    key_heads: int
    head_size: int
    longest: int
    rope_base: float
    epsilon: float


@dataclass(frozen=True, slots=True)
class Llama:
    """`weights` by Hugging Face's names, in float32; without "lm_head.weight" the embeddings are the output's too."""

    shape: LlamaShape
    weights: Mapping[str, Floats]
    tokenizer: Tokenizer


def read_llama(name: str | Path) -> Llama:
    """`smollm2`, a .gguf file, or a folder with config.json, model.safetensors and tokenizer.json."""
    folder, file = place_of(name)
    if file is not None:
        return _read_gguf(Path(folder) / file)
    if not Path(folder).is_dir():
        raise AllearsError(
            f"{folder}: no such folder; without torch a language model comes from a folder or a .gguf file"
        )
    return _read_folder(Path(folder))


def gguf_installed() -> bool:
    from importlib.util import find_spec

    return find_spec("gguf") is not None


def _read_gguf(path: Path) -> Llama:
    try:
        from gguf import GGUFReader, dequantize
    except ImportError as error:
        raise AllearsError(
            f'{path.name}: reading it needs the package gguf, which is not installed; run pip install "allears[llm]"'
        ) from error
    try:
        reader = GGUFReader(str(path))
    except (OSError, ValueError) as error:
        raise AllearsError(f"{path}: not a GGUF file ({error}); install it again") from error

    def value(key: str) -> Any:
        field = reader.fields.get(key)
        if field is None:
            raise AllearsError(f"{path}: its GGUF header has no {key}")
        return field.contents()

    kind = value("general.architecture")
    if kind != "llama":
        raise AllearsError(f"{path}: a {kind} model; only Llama's kind runs without torch")
    heads, size = int(value("llama.attention.head_count")), int(value("llama.embedding_length"))
    shape = LlamaShape(
        layers=int(value("llama.block_count")),
        size=size,
        heads=heads,
        key_heads=int(value("llama.attention.head_count_kv")),
        head_size=size // heads,
        longest=int(value("llama.context_length")),
        rope_base=float(value("llama.rope.freq_base")),
        epsilon=float(value("llama.attention.layer_norm_rms_epsilon")),
    )
    weights: dict[str, Floats] = {}
    for tensor in reader.tensors:
        found = np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
        plain = _plain_name(tensor.name)
        if plain.endswith(("q_proj.weight", "k_proj.weight")):
            found = _rotated_in_halves(found, heads if "q_proj" in plain else shape.key_heads)
        weights[plain] = found
    types = value("tokenizer.ggml.token_type")
    tokens = value("tokenizer.ggml.tokens")
    marks = [token for token, kind in zip(tokens, types, strict=True) if kind == _MARK]
    tokenizer = byte_tokenizer(tokens, value("tokenizer.ggml.merges"), marks)
    return Llama(shape, weights, tokenizer)


def _plain_name(name: str) -> str:
    fixed = {
        "token_embd.weight": "model.embed_tokens.weight",
        "output_norm.weight": "model.norm.weight",
        "output.weight": "lm_head.weight",
    }
    if name in fixed:
        return fixed[name]
    _, layer, part, ending = name.split(".")
    return f"model.layers.{layer}.{_LAYER_NAMES[part]}.{ending}"


def _rotated_in_halves(weight: Floats, heads: int) -> Floats:
    """GGUF rotates neighbours (0, 1), (2, 3), ...; Hugging Face a head's first half with its second."""
    rows = weight.reshape(heads, weight.shape[0] // heads // 2, 2, weight.shape[1])
    return np.ascontiguousarray(rows.swapaxes(1, 2)).reshape(weight.shape)


def byte_tokenizer(tokens: Iterable[str], merges: Iterable[str], marks: Iterable[str]) -> Tokenizer:
    """GPT-2's kind: byte pairs over bytes written as letters."""
    vocabulary = {token: place for place, token in enumerate(tokens)}
    pairs = [(first, second) for first, _, second in (merge.partition(" ") for merge in merges)]
    found = Tokenizer(models.BPE(vocabulary, pairs))
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    found.add_special_tokens([AddedToken(mark, normalized=False, special=True) for mark in marks])
    return found


def _read_folder(folder: Path) -> Llama:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights: dict[str, Floats] = {}
        for path in sorted(folder.glob("*.safetensors")):
            weights |= {name: np.asarray(found, np.float32) for name, found in load_file(path).items()}
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except (OSError, ValueError, SafetensorError) as error:
        raise AllearsError(
            f"{folder}: not a language model's folder ({str(error).splitlines()[0]})"
        ) from error
    except Exception as error:  # the tokenizers' Rust side raises bare Exception
        raise AllearsError(f"{folder}: not a language model's folder ({error})") from error
    if config.get("model_type") != "llama" or config.get("attention_bias") or config.get("mlp_bias"):
        raise AllearsError(
            f"{folder}: a {config.get('model_type')} model; only Llama's kind runs without torch"
        )
    heads, size = config["num_attention_heads"], config["hidden_size"]
    rope = config.get("rope_parameters") or {}
    shape = LlamaShape(
        layers=config["num_hidden_layers"],
        size=size,
        heads=heads,
        key_heads=config.get("num_key_value_heads", heads),
        head_size=config.get("head_dim") or size // heads,
        longest=config["max_position_embeddings"],
        rope_base=float(rope.get("rope_theta", config.get("rope_theta", 10_000.0))),
        epsilon=config["rms_norm_eps"],
    )
    return Llama(shape, weights, tokenizer)


class LlamaTokenizer:
    """A model's tokenizer as a `ChatTokenizer`."""

    def __init__(self, backend: Tokenizer, end: int):
        self.backend, self.end = backend, end
        self.marks = tuple(sorted({end, *backend.get_added_tokens_decoder()}))

    @property
    def size(self) -> int:
        return int(self.backend.get_vocab_size())

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        return [item.ids for item in self.backend.encode_batch(list(texts), add_special_tokens=False)]

    def text(self, tokens: Sequence[int]) -> str:
        return " ".join(self.backend.decode(list(tokens), skip_special_tokens=True).split())


def with_adapter(llama: Llama, learned: Mapping[str, Floats], scale: float) -> Llama:
    """W + scale B A, for every matrix that has an adapter ("….lora_A", "….lora_B")."""
    weights = dict(llama.weights)
    for name, second in learned.items():
        if not name.endswith(".lora_B"):
            continue
        stem = name.removesuffix(".lora_B")
        first, plain = learned.get(f"{stem}.lora_A"), weights.get(f"{stem}.weight")
        if first is None or plain is None or (second.shape[0], first.shape[1]) != plain.shape:
            raise AllearsError(f"the adapter does not fit this language model ({stem})")
        weights[f"{stem}.weight"] = plain + np.float32(scale) * (
            second.astype(np.float32) @ first.astype(np.float32)
        )
    return Llama(llama.shape, weights, llama.tokenizer)
