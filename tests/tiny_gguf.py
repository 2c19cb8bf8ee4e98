"""A tiny made-up language model twice: in a folder, as transformers finds it, and as a GGUF file, for llama.cpp."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_FIXED = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
_WORD, _CONTROL, _UNUSED = 1, 3, 5  # what GGUF calls a token's type


@dataclass(frozen=True)
class TinyModel:
    folder: Path
    file: Path


def tiny_model(where: Path, architecture: str = "qwen2", *, context: int = 2048) -> TinyModel:
    """Two layers, random weights (seed 0) and a byte-level vocabulary; `architecture`: qwen2 or llama."""
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

    folder = where / architecture
    words = _save_tokenizer(folder)
    kinds: dict[str, tuple[Any, Any]] = {
        "qwen2": (Qwen2Config, Qwen2ForCausalLM),
        "llama": (LlamaConfig, LlamaForCausalLM),
    }
    config_of, model_of = kinds[architecture]
    torch.manual_seed(0)
    model = model_of(
        config_of(
            vocab_size=words + 5,  # more rows than words, as many models have
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=context,
            initializer_range=0.15,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=2,
        )
    )
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("bias"):  # as a fresh model has them they would be zero, and say nothing
                value.normal_(std=0.2)
    model.save_pretrained(folder)
    file = where / f"{architecture}.gguf"
    _write(model, folder, file, architecture)
    return TinyModel(folder, file)


def _save_tokenizer(folder: Path) -> int:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=180,
        special_tokens=MARKS,
        # no half letters: every token is some text
        initial_alphabet=[
            each for each in pre_tokenizers.ByteLevel.alphabet() if each.isascii() or each in "ĠĊ"
        ],
        show_progress=False,
    )
    said = ["my dog ate the sandwich again", "what happened to your dog, and who ate the rest of it?"] * 4
    backend.train_from_iterator(said, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token=MARKS[2], pad_token=MARKS[2])
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def _write(model: Any, folder: Path, file: Path, architecture: str) -> None:
    from gguf import GGUFWriter

    config = model.config
    writer = GGUFWriter(file, architecture)
    writer.add_name("tiny")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    _write_words(writer, folder, config.vocab_size)
    for name, value in model.state_dict().items():
        if name == "lm_head.weight":  # the embeddings are the output's, too
            continue
        stem, _, ending = name.rpartition(".")
        weights = value.float().numpy()
        if architecture == "llama" and stem.endswith(("q_proj", "k_proj")):
            heads = config.num_attention_heads if stem.endswith("q_proj") else config.num_key_value_heads
            rows = weights.reshape(heads, 2, weights.shape[0] // heads // 2, -1)
            weights = np.ascontiguousarray(rows.swapaxes(1, 2)).reshape(weights.shape)
        writer.add_tensor(f"{_place(stem)}.{ending}", weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_words(writer: Any, folder: Path, rows: int) -> None:
    saved = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words = sorted(saved["model"]["vocab"], key=saved["model"]["vocab"].__getitem__)
    tokens = words + [f"[PAD{place}]" for place in range(rows - len(words))]
    types = [_CONTROL if word in MARKS else _WORD for word in words] + [_UNUSED] * (rows - len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(
        [" ".join(pair) if isinstance(pair, list) else pair for pair in saved["model"]["merges"]]
    )
    writer.add_eos_token_id(2)
    writer.add_bos_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def _place(stem: str) -> str:
    if stem in _FIXED:
        return _FIXED[stem]
    _, _, layer, part = stem.split(".", 3)
    return f"blk.{layer}.{_LAYER[part]}"
