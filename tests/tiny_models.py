"""Small models with fresh weights and a small WordPiece tokenizer, for tests of what is done with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.models.extractor.saved import ExtractorCard, TorchExtractor
from allears.models.extractor.saved import build as build_extractor
from allears.models.generation.saved import GeneratorCard
from allears.models.generation.saved import build as build_generator
from allears.models.generation.torch_generator import TorchGenerator
from allears.models.reader.saved import ReaderCard, TorchReader
from allears.models.reader.saved import build as build_reader
from allears.models.selection import saved
from allears.models.selection.saved import ModelCard, TorchSelector
from allears.nn.encoder import Encoder
from allears.personas.lengths import Lengths
from allears.runtime.selector import Query
from allears.safety.bundled_screen import SCREEN_HEADS
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = ["my", "your", "the", "a", "cat", "dog", "boat", "house", "job", "friend", "is", "was", "lost", "sad"]
WORDS += ["glad", "so", "sorry", "great", "news", "tell", "me"]
PIECES = ["##s", "##ly", "##ing", ".", "!", "?", ","]
# every option that changes what is exported
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "bi_encoder": ("bi_encoder", {}),
    "bi_encoder dot cls": ("bi_encoder", {"similarity": "dot", "pooling": "cls"}),
    "cobert": ("cobert", {}),
    "cobert cosine pooled": ("cobert", {"similarity": "cosine", "temperature": "learned", "pooled": True}),
    "cobert three hops": ("cobert", {"hops": [1, 2, 3], "poolings": ["max", "mean"], "temperature": 4.0}),
}
RESPONSES = [
    "so sorry your cat is lost.",
    "great news!",
    "tell me",
    "my dog was lost, so sad, so sad, your friend is glad.",
    "the boat is my house?",
    "a job is a job",
]


def tiny_tokenizer(folder: Path) -> WordPiece:
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS, *PIECES])}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    folder.mkdir(parents=True, exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    return WordPiece(folder)


def tiny_encoder(**changes: Any) -> Encoder:
    config = {
        "model_type": "bert",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "vocab_size": len(SPECIAL) + len(WORDS) + len(PIECES),
        "max_position_embeddings": 300,
        "initializer_range": 0.2,  # states that differ from token to token, as a trained encoder's do
    }
    return Encoder.from_config(config | changes)


def tiny_selector(folder: Path, name: str = "cobert", *, seed: int = 0, **options: Any) -> TorchSelector:
    """A model saved in `folder`, and loaded from there. Its learned scales are no longer round numbers."""
    torch.manual_seed(seed)
    encoder = tiny_encoder()
    card = ModelCard(name, options, Limits(persona_sentences=3), encoder=encoder.config)
    model = saved.build(card, encoder)
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            if parameter_name.endswith(("_scale", "_scales", "temperature")):
                parameter.add_(0.3 * torch.randn_like(parameter))
    saved.save(folder, model, card, tiny_tokenizer(folder))
    return saved.load(folder)


def queries() -> list[Query]:
    """Short and long, one turn and several, with and without persona."""
    seeker, supporter = Role.SEEKER, Role.SUPPORTER
    return [
        Query((Turn(seeker, "my cat is lost"),)),
        Query(
            (Turn(seeker, "great news!"), Turn(supporter, "tell me"), Turn(seeker, "my job is great")),
            ("a cat",),
        ),
        Query(
            (Turn(seeker, "sad"),), ("my dog is my friend.", "my house is a boat", "so glad", "never read")
        ),
    ]


def tiny_reader(selector: TorchSelector, **options: Any) -> TorchReader:
    """A reader of four heads on the very encoder of a ranker. One head has several labels, one points at tokens."""
    names = ("ed-emotion", "goemotions", "strategy", "epitome-explorations")
    encoder: Any = selector.model.encoder
    card = ReaderCard(
        {name: head(name).labels for name in names},
        Limits(context_tokens=40, first_turn_tokens=20, turn_tokens=12),
        encoder.config,
        {"multi_label": ["goemotions"], "rationales": ["epitome-explorations"], **options},
        {"ed-emotion": 0.5, "goemotions": 1.7},
    )
    torch.manual_seed(1)
    model = build_reader(card, encoder)
    with torch.no_grad():  # heads that are sure of something
        for name, parameter in model.named_parameters():
            if not name.startswith("encoder."):
                parameter.add_(0.5 * torch.randn_like(parameter))
    assert isinstance(selector.tokenizer, WordPiece)
    return TorchReader(model, card, selector.tokenizer)


def calm_screen(selector: TorchSelector) -> TorchReader:
    """A reader of danger on the first layer of a ranker's encoder, which sees none in anything."""
    encoder = selector.model.encoder.first_layers(1)  # type: ignore[union-attr,operator]
    heads = {name: head(name).labels for name in SCREEN_HEADS}
    card = ReaderCard(heads, Limits(context_tokens=60), encoder.config)
    model = build_reader(card, encoder)
    with torch.no_grad():
        for last in (each[-1] for each in model.heads.values()):  # type: ignore[index,union-attr]
            last.weight.zero_()
            last.bias.copy_(torch.eye(len(last.bias))[0] * 8)
    assert isinstance(selector.tokenizer, WordPiece)
    return TorchReader(model, card, selector.tokenizer)


def tiny_extractor(selector: TorchSelector) -> TorchExtractor:
    """A persona extractor that has learned nothing, on the very encoder of a ranker."""
    encoder: Any = selector.model.encoder
    card = ExtractorCard(
        Lengths(utterance_tokens=24, persona_tokens=8),
        encoder.config,
        {"layers": 1, "heads": 2, "longest": 8},
    )
    torch.manual_seed(2)
    assert isinstance(selector.tokenizer, WordPiece)
    return TorchExtractor(build_extractor(card, encoder), card, selector.tokenizer)


def tiny_voice(selector: TorchSelector) -> TorchGenerator:
    """A generator that has learned nothing, on the very encoder of a ranker."""
    encoder: Any = selector.model.encoder
    limits = Limits(context_tokens=40, first_turn_tokens=20, turn_tokens=12, response_tokens=48)
    decoder = {"layers": 1, "heads": 2, "inner": 2, "dropout": 0.0}
    card = GeneratorCard("pal", limits, encoder.config, decoder, {"mixture": "joined"}, context_turns=4)
    torch.manual_seed(4)
    return TorchGenerator(build_generator(card, (encoder, None)), card, selector.tokenizer)
