"""The small setting: a tiny encoder, and what it changes in every recipe."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from allears.runtime.bundle import default_bundle
from allears.training.recipe import Recipe

CONVERSATIONS = {"train": 48, "valid": 30, "test": 10}  # of every corpus
ENCODER = "tiny-encoder"

# Only keys that the recipe has are made smaller; the others would be unknown to its model.
_OPTIONS: dict[str, Any] = {
    "size": 32, "layers": 1, "response_layers": 1, "decoder_layers": 1, "heads": 2, "inner": 64, "listener_heads": 2,
    "listener_depth": 8, "listener_inner": 16, "embedding_size": 16, "codes": 8,
}  # fmt: skip
_LSTMS = {"dim": {"hidden_size": 8, "mlp_size": 8}, "bert_dim": {"hidden_size": 8, "mlp_size": 8}}
_LIMITS = {
    "context_tokens": 64, "first_turn_tokens": 30, "turn_tokens": 20, "response_tokens": 20,
    "persona_sentence_tokens": 16,
}  # fmt: skip
_TRAINING = {
    "epochs": 1, "max_steps": 4, "batch": 8, "average": 0.0, "precision": "float32", "patience": 0, "accumulate": 1,
}  # fmt: skip


def small_changes(recipe: Recipe, encoder: Path) -> list[str]:
    """`--set` changes that make a recipe's run a matter of seconds."""
    tables = recipe.tables
    model = tables.get("model", {})
    changes = [f"training.{key}={json.dumps(value)}" for key, value in _TRAINING.items()]
    changes += [f"limits.{key}={value}" for key, value in _LIMITS.items()]
    changes.append("data.valid_limit=16")
    if recipe.task == "understanding":
        changes.append("data.train_limit=64")
        changes = [change for change in changes if "persona_sentence_tokens" not in change]
    options = dict(model.get("options", {}))
    smaller = {key: value for key, value in _OPTIONS.items() if key in options}
    smaller |= _LSTMS.get(str(model.get("name", "")), {})
    changes += [f"model.options.{key}={value}" for key, value in smaller.items()]
    if recipe.task == "selection":
        changes.append("data.candidates=10")
    if recipe.task == "generation":
        changes.append("data.sample=0")
        if not options:
            changes += ["model.layers=1", "model.heads=2", "model.inner=2"]
    if model.get("encoder"):
        changes.append(f"model.encoder={json.dumps(str(encoder))}")
    if model.get("vectors"):
        changes.append("model.vectors=")
    if "prepend" in tables:
        changes.append("prepend.classifier=default")  # fitting fastText anew for each run takes longer
    return changes


def tiny_encoder(folder: Path) -> Path:
    """A BERT of one narrow layer with fresh weights and our bundle's word pieces, as pretrained ones are found."""
    if (folder / "config.json").is_file():
        return folder
    import torch
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = default_bundle() / "tokenizer.json"
    words = len(json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"])
    shutil.copy(tokenizer, folder / "tokenizer.json")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=words, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder
