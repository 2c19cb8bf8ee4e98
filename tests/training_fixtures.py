"""A made-up EmpatheticDialogues, a tiny encoder on disk, and recipes over them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from allears.training.recipe import Recipe, read_recipe

torch.set_num_threads(1)

FEELINGS = {
    "sad": ("lost my cat", "so sorry about your cat"),
    "proud": ("passed my exam", "well done on the exam"),
    "afraid": ("heard a noise at night", "was the noise scary"),
    "grateful": ("got help from a neighbour", "what a kind neighbour"),
}


@pytest.fixture
def corpus_root(tmp_path: Path) -> Path:
    """60 train and 30 valid conversations of two to four turns, in the official layout."""
    folder = tmp_path / "empatheticdialogues"
    folder.mkdir()
    for split, count in (("train", 60), ("valid", 30)):
        chance = random.Random(split)
        rows = ["conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"]
        for number in range(count):
            emotion = chance.choice(sorted(FEELINGS))
            story, answer = FEELINGS[emotion]
            turns = [f"i {story} on day {number}", f"{answer} number {number}"]
            if chance.random() < 0.5:
                turns += [f"yes it was day {number} indeed", f"i see_comma_ day {number} then"]
            rows += [
                f"hit:{number}_conv:{number},{position + 1},{emotion},i {story},{position % 2},{text},,"
                for position, text in enumerate(turns)
            ]
        (folder / f"{split}.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.fixture
def tiny_encoder(tmp_path: Path) -> Path:
    """A BERT of two narrow layers with its tokenizer, without dropout, as `from_pretrained` finds one."""
    from transformers import BertConfig, BertModel

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + list("0123456789.,!?'")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    tokenizer = Tokenizer(WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    folder = tmp_path / "encoder"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture
def recipe_file(tmp_path: Path, corpus_root: Path, tiny_encoder: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(f"""task = "selection"
[data]
train = ["ed"]
valid = "ed"
root = "{corpus_root}"
candidates = 10
[model]
name = "bi_encoder"
encoder = "{tiny_encoder}"
[negatives]
part = 4
[training]
epochs = 3
batch = 8
learning_rate = 1e-3
""")
    return path


@pytest.fixture
def recipe(recipe_file: Path) -> Callable[..., Recipe]:
    """`recipe("training.batch=4")`: the recipe with changes."""
    return lambda *changes: read_recipe(recipe_file, changes)
