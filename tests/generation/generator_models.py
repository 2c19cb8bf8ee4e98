"""Small generators over made-up support talk, and corpora of it in ESConv's layout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from allears.conversation import Role, Turn
from allears.models.generation import saved
from allears.models.generation.dataset import GenerationDataset
from allears.models.generation.examples import GenerationExample
from allears.models.generation.saved import GeneratorCard
from allears.models.generation.torch_generator import TorchGenerator
from allears.nn.encoder import Encoder
from allears.runtime.generator import STRATEGIES, Prompt
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece

THINGS = ["boat", "cat", "dog", "house", "garden", "piano", "violin", "bike"]
PLACES = ["oslo", "lima", "quito", "berne", "cairo", "dakar", "hanoi", "minsk"]
SPOKEN = """
[PAD] [UNK] [CLS] [SEP] i my you your a the is am are was have lost sold want to in with so sorry about what happened
tell me that sounds hard could ask for it from near love hello thanks do not know . , ? ! : [ ] persona dialogue history
turns question repeat reflect share reassure suggest inform other 1 2 3 4 5 6 7 8
"""
LIMITS = Limits(
    context_tokens=48,
    first_turn_tokens=20,
    turn_tokens=16,
    response_tokens=14,
    persona_sentences=4,
    persona_sentence_tokens=8,
)
WIDTH = 32


def talk_tokenizer(folder: Path) -> WordPiece:
    words = SPOKEN.split()
    letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz0" if letter not in words]
    tokens = [*words, *THINGS, *PLACES, *letters, *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]
    backend = Tokenizer(models.WordPiece({word: i for i, word in enumerate(tokens)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    folder.mkdir(parents=True, exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    return WordPiece(folder)


def talk_config(size: int, **changes: Any) -> dict[str, Any]:
    return {
        "model_type": "bert",
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "vocab_size": size,
        "max_position_embeddings": 64,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.2,
        **changes,
    }


def save_talk_encoder(folder: Path) -> Path:
    """As `from_pretrained` finds one."""
    from transformers import BertConfig, BertModel

    config = talk_config(talk_tokenizer(folder).size)
    config.pop("model_type")
    torch.manual_seed(0)
    BertModel(BertConfig(**config), add_pooling_layer=False).save_pretrained(folder)
    return folder


def small_generator(
    folder: Path,
    name: str = "pal",
    *,
    seed: int = 0,
    limits: Limits = LIMITS,
    strategy_first: bool = True,
    own_words: bool = False,
    **options: Any,
) -> TorchGenerator:
    """Fresh weights, and strategies and a mixture that are no longer all alike."""
    tokenizer = talk_tokenizer(folder)
    torch.manual_seed(seed)
    encoder = Encoder.from_config(talk_config(tokenizer.size))
    decoder = {"layers": 2, "heads": 4, "inner": 2, "dropout": 0.0, "own_words": own_words}
    card = GeneratorCard(
        name, limits, encoder.config, decoder, options, context_turns=4, strategy_first=strategy_first
    )
    model = saved.build(card, (encoder, None))
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        if name == "pal":
            model.weights.copy_(torch.tensor([0.3, 0.1, -0.2]))
    return TorchGenerator(model, card, tokenizer)


def talks(count: int) -> list[GenerationExample]:
    """Different prompts, each with a strategy and a response that say something of the prompt and the persona."""
    found = []
    for number in range(count):
        thing, place = THINGS[number % 8], PLACES[(number // 8 + number) % 8]
        strategy = STRATEGIES[number % len(STRATEGIES)]
        turns = (
            Turn(Role.SEEKER, f"I lost my {thing} in {place}."),
            Turn(Role.SUPPORTER, "so sorry. tell me.", strategy="Question"),
            Turn(Role.SEEKER, f"it was near the {THINGS[(number + 3) % 8]}"),
        )
        persona = (f"I have a {thing}.", f"I am from {place}.")
        found.append(
            GenerationExample(
                Prompt(turns, persona, strategy), f"That sounds hard, your {thing} was lost in {place}."
            )
        )
    return found


def dataset_for(generator: TorchGenerator, examples: Sequence[GenerationExample]) -> GenerationDataset:
    return GenerationDataset(
        examples,
        generator.tokenizer,
        generator.card.limits,
        generator.model.place,
        turns=generator.card.context_turns,
        first_strategy=generator.model.decoder.first_strategy,
    )


def learn(
    generator: TorchGenerator, examples: Sequence[GenerationExample], steps: int = 150
) -> TorchGenerator:
    """By heart."""
    model = generator.module.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batch = dataset_for(generator, examples).batch(list(range(len(examples))))
    decoder = generator.model.decoder
    for _ in range(steps):
        memory = generator.model.read(batch.context, batch.persona)
        likely, _ = decoder.likelihood(batch.targets, memory, decoder.table(generator.model.encoder))
        loss = -(likely * batch.mask).sum() / batch.mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return generator


def support_record(number: int, *, personas: bool) -> dict[str, Any]:
    thing, place = THINGS[number % 8], PLACES[number // 8 % 8]
    dialog = []
    for _ in range(4):
        dialog.append({"speaker": "seeker", "annotation": {}, "content": f"i lost my {thing} in {place}."})
        strategy = STRATEGIES[number % len(STRATEGIES)]
        dialog.append(
            {
                "speaker": "supporter",
                "annotation": {"strategy": strategy},
                "content": f"so sorry about your {thing}.",
            }
        )
    record: dict[str, Any] = {
        "emotion_type": "sadness",
        "problem_type": "loss",
        "situation": "lost it",
        "survey_score": {},
        "dialog": dialog,
    }
    if personas:
        told = [f"I have a {thing}.", f"I am from {place}."]
        record |= {"persona": told, "persona_by_turn": [told[:1], told]}
    return record


def write_support_corpora(root: Path, *, talks: int = 24) -> Path:
    """ESConv's train split, PESConv's valid split, and ESConv's train split annotated with personas as .jsonl."""
    from allears.corpora import read

    for folder in ("esconv", "pesconv"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    plain = [support_record(number, personas=False) for number in range(talks)]
    told = [support_record(number, personas=True) for number in range(talks)]
    (root / "esconv" / "train.json").write_text(json.dumps(plain))
    (root / "pesconv" / "valid.json").write_text(json.dumps(told[:4]))
    (root / "pesconv" / "train.json").write_text(json.dumps(told))
    lines = [conversation.to_json() for conversation in read("pesconv", "train", root)]
    (root / "pesconv-train.jsonl").write_text("\n".join(lines) + "\n")
    return root
