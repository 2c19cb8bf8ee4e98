"""Reading a Llama-family model without torch: from GGUF and from a folder, the same model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from causal_models import save_language_model

from allears.errors import AllearsError
from allears.models.language_models import load_chat_tokenizer
from allears.runtime.language_models import place_of
from allears.runtime.llama import LlamaTokenizer, read_llama, with_adapter

_NAMES = {
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_language_model(tmp_path_factory.mktemp("language-model"))


def write_gguf(folder, path, architecture="llama"):
    """As llama.cpp's converter does: neighbours are rotated, not halves."""
    from gguf import GGUFWriter

    config = json.loads((folder / "config.json").read_text())
    tokens = json.loads((folder / "tokenizer.json").read_text())
    writer = GGUFWriter(str(path), architecture)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    vocabulary = sorted(tokens["model"]["vocab"], key=tokens["model"]["vocab"].get)
    marks = {each["content"] for each in tokens["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if token in marks else 1 for token in vocabulary])
    writer.add_token_merges([" ".join(pair) for pair in tokens["model"]["merges"]])
    for name, value in read_llama(folder).weights.items():
        if name.startswith("model.layers."):
            _, _, layer, *part, _ = name.split(".")
            stem = ".".join(part)
            if stem in ("self_attn.q_proj", "self_attn.k_proj"):
                heads = config["num_attention_heads" if "q_proj" in stem else "num_key_value_heads"]
                halves = value.reshape(heads, 2, -1, value.shape[1])
                turned = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(value.shape)
                writer.add_tensor(f"blk.{layer}.{_NAMES[stem]}.weight", turned)
                continue
            writer.add_tensor(f"blk.{layer}.{_NAMES[stem]}.weight", value)
        else:
            plain = {
                "model.embed_tokens.weight": "token_embd.weight",
                "model.norm.weight": "output_norm.weight",
            }
            writer.add_tensor(plain[name], value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_gguf_and_folder_are_the_same_model(folder, tmp_path):
    first, second = read_llama(folder), read_llama(write_gguf(folder, tmp_path / "small.gguf"))
    assert first.shape.epsilon == pytest.approx(second.shape.epsilon)
    assert (first.shape.heads, first.shape.key_heads, first.shape.rope_base) == (4, 2, 10_000.0)
    assert first.shape.layers == second.shape.layers
    assert set(first.weights) == set(second.weights)
    for name, value in first.weights.items():
        np.testing.assert_array_equal(value, second.weights[name], err_msg=name)
    texts = ["I lost my boat near oslo, 42!", "<|im_start|>user\nhello  there<|im_end|>\n"]
    theirs = load_chat_tokenizer(folder)
    for each in (first, second):
        mine = LlamaTokenizer(each.tokenizer, 2)
        assert mine.encode_many(texts) == theirs.encode_many(texts)
        assert (mine.size, mine.marks, mine.end) == (theirs.size, theirs.marks, theirs.end)
        assert mine.text(mine.encode_many(texts)[0]) == texts[0]


def test_an_adapter_is_joined(folder):
    llama = read_llama(folder)
    name = "model.layers.1.mlp.down_proj"
    rng = np.random.default_rng(0)
    first, second = (rng.normal(size=shape).astype(np.float32) for shape in ((3, 96), (64, 3)))
    joined = with_adapter(llama, {f"{name}.lora_A": first, f"{name}.lora_B": second}, 2.0)
    np.testing.assert_allclose(
        joined.weights[f"{name}.weight"], llama.weights[f"{name}.weight"] + 2 * second @ first, rtol=1e-5
    )
    with pytest.raises(AllearsError, match="the adapter does not fit this language model"):
        with_adapter(llama, {f"{name}.lora_A": first[:, :5], f"{name}.lora_B": second}, 2.0)


def test_what_is_no_llama_is_one_sentence(folder, tmp_path):
    (tmp_path / "no.gguf").write_bytes(b"not gguf" * 100)
    with pytest.raises(AllearsError, match=r"no\.gguf: not a GGUF file"):
        read_llama(tmp_path / "no.gguf")
    with pytest.raises(AllearsError, match=r"gone\.gguf: no such file"):
        place_of(tmp_path / "gone.gguf")
    with pytest.raises(AllearsError, match="only Llama's kind runs without torch"):
        read_llama(write_gguf(folder, tmp_path / "other.gguf", "gpt2"))
    with pytest.raises(AllearsError, match="no such folder"):
        read_llama("somebody/a-model-on-a-hub")
    (tmp_path / "empty").mkdir()
    with pytest.raises(AllearsError, match="not a language model's folder"):
        read_llama(tmp_path / "empty")
