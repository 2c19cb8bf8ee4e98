"""A tokenizer of made-up small talk, a small encoder over it, and corpora in which people tell who they are."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from allears.models.extractor.saved import ExtractorCard, TorchExtractor, build
from allears.models.selection.saved import ModelCard, TorchSelector
from allears.models.selection.saved import build as build_ranker
from allears.nn.encoder import Encoder
from allears.personas.examples import Telling
from allears.personas.lengths import Lengths
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece
from allears.training.persona.dataset import TellingDataset

THINGS = [
    "boat",
    "cat",
    "dog",
    "house",
    "garden",
    "piano",
    "violin",
    "bike",
    "farm",
    "bakery",
    "garage",
    "canoe",
]
PLACES = ["oslo", "lima", "quito", "berne", "cairo", "dakar", "hanoi", "minsk"]
VOCABULARY = """
[PAD] [UNK] [CLS] [SEP] [MASK] i my me you your we he she it is am are was have has had own a an the of in on at to
for and or but not no yes oh so well just also live lives living lived like likes liked love want work works worked
working go going went play plays playing do does what how about today nice great hello thanks . , ! ? ' - m s t from
with named new old two
"""
PIECES = ["##s", "##ed", "##ing", "##er", *(f"##{letter}" for letter in "abcdefghijklmnopqrtuvwxyz")]
WIDTH = 48  # of a token's state
LENGTHS = Lengths(utterance_tokens=24, persona_tokens=16)


def small_talk_tokenizer(folder: Path) -> WordPiece:
    words = [*VOCABULARY.split(), *THINGS, *PLACES]
    tokens = [*words, *(letter for letter in "bcdefghjklnopqruvwxyz" if letter not in words), *PIECES]
    backend = Tokenizer(models.WordPiece({word: i for i, word in enumerate(tokens)}, unk_token="[UNK]"))
    backend.normalizer, backend.pre_tokenizer = (
        normalizers.BertNormalizer(),
        pre_tokenizers.BertPreTokenizer(),
    )
    folder.mkdir(parents=True, exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    return WordPiece(folder)


def small_config(tokenizer: WordPiece) -> dict[str, Any]:
    return {
        "model_type": "bert",
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "vocab_size": tokenizer.size,
        "max_position_embeddings": 64,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.2,
    }


def small_extractor(folder: Path, *, seed: int = 0, beam: int = 1) -> TorchExtractor:
    tokenizer = small_talk_tokenizer(folder)
    torch.manual_seed(seed)
    encoder = Encoder.from_config(small_config(tokenizer))
    options = {"layers": 2, "heads": 4, "longest": LENGTHS.persona_tokens, "dropout": 0.0}
    card = ExtractorCard(LENGTHS, encoder.config, options, threshold=0.5)
    return TorchExtractor(build(card, encoder), card, tokenizer, beam=beam)


def learned_extractor(folder: Path, examples: Sequence[Telling]) -> TorchExtractor:
    """An extractor that has learned some tellings by heart."""
    extractor = small_extractor(folder)
    data = TellingDataset(examples, extractor.tokenizer, LENGTHS)
    model = extractor.model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    rows = list(range(len(data)))
    telling = [row for row in rows if data.tells[row]]
    targets, mask = data.written(telling)
    inputs = data.inputs(rows)
    for _ in range(150):
        gate, states = model.read(inputs)
        likely = model.likelihood(inputs[telling], states[telling], targets)
        wrong = torch.nn.functional.binary_cross_entropy_with_logits(
            gate, torch.from_numpy(data.tells).float()
        )
        loss = wrong - (likely * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return extractor


def ranker_beside(extractor: TorchExtractor, **options: Any) -> TorchSelector:
    """A ranker on the extractor's very encoder."""
    config = extractor.model.encoder.config
    limits = Limits(context_tokens=60, first_turn_tokens=24, persona_sentences=3)
    card = ModelCard("cobert", options, limits, encoder=config)
    return TorchSelector(build_ranker(card, extractor.model.encoder), card, extractor.tokenizer)


def save_small_encoder(folder: Path) -> Path:
    """As `from_pretrained` finds one."""
    from transformers import BertConfig, BertModel

    tokenizer = small_talk_tokenizer(folder)
    torch.manual_seed(0)
    config = {key: value for key, value in small_config(tokenizer).items() if key != "model_type"}
    BertModel(BertConfig(**config), add_pooling_layer=False).save_pretrained(folder)
    return folder


def tellings(count: int, seed: int = 0) -> list[Telling]:
    """Different utterances, three in four of which tell something."""
    chance = random.Random(seed)
    found: dict[str, Telling] = {}
    while len(found) < count:
        thing, place, other = chance.choice(THINGS), chance.choice(PLACES), chance.choice(THINGS)
        kinds = [
            (f"oh nice, i just went home to my {thing} in {place}.", f"I have a {thing}. I live in {place}."),
            (f"well, the {thing} and the {other} are great!", f"I like the {thing} and the {other}."),
            (f"hello, i work on a {thing} today, and you?", f"I work on a {thing}."),
            (f"do you have a {thing} in {place}?", ""),
        ]
        said, told = kinds[len(found) % 4]
        found.setdefault(said, Telling(said, told))
    return list(found.values())


def write_corpora(root: Path, *, dialogues: int = 40) -> Path:
    """MSC and both PERSONA-CHAT files, in the layouts of the real ones."""
    folder = root / "personachat"
    folder.mkdir(parents=True, exist_ok=True)
    sessions, lines, records = [], [], []
    for number in range(dialogues):
        said = tellings(4, seed=number)
        for session in (1, 2):
            sessions.append(
                {
                    "id": f"msc_s{session}_valid_{number}",
                    "session": session,
                    "dialogue": [[each.utterance, "i see."] for each in said],
                    "user_memory": [[each.persona] if each.persona else [] for each in said],
                }
            )
    for number in range(12):
        thing, place = THINGS[number], PLACES[number % len(PLACES)]
        profile = [f"i have a {thing} .", f"i am from {place} ."]
        lines += [f"{line} your persona: {text}" for line, text in enumerate(profile, 1)]
        lines += [f"3 hello , do you have a {place} ?\ti went to {place} with my {thing} .\t\t"]
        records.append(
            {
                "id": f"p{number}",
                "persona_a": profile,
                "persona_b": ["i like the old farm ."],
                "persona_sentence_a": profile[0],
                "persona_sentence_b": "i like the old farm.",
                "some_utterances_a": f"oh , my {thing} is new . what do you do ? i live in {place} .",
                "some_utterances_b": "the old farm is nice . how are you today ?",
            }
        )
    _write_lines(folder / "msc_persona_valid.jsonl", map(json.dumps, sessions))
    _write_lines(folder / "train_both_original_no_cands.txt", lines)
    _write_lines(folder / "train_profiles_with_utterances.jsonl", map(json.dumps, records))
    return root


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
