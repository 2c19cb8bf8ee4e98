"""What every response-selection model must hold, whatever is inside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer as HuggingFaceTokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from torch import Tensor, nn

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.models.selection import saved
from allears.models.selection.contract import SelectionModel
from allears.models.selection.saved import ENCODER_MODELS, WORD_MODELS, ModelCard, TorchSelector
from allears.nn.inputs import Inputs
from allears.runtime.selector import Query
from allears.text.layout import Limits, Row, flatten, pad_flat, pad_nested
from allears.text.tokenizer import Tokenizer, WordPiece, WordVocabulary

VOCABULARY = 60
MARKS: Any = SimpleNamespace(pad=0, start=1, end=2, size=VOCABULARY)
WORDS = [*WordVocabulary.SPECIAL, *(f"word{number}" for number in range(VOCABULARY - 4))]
TINY_BERT = {
    "model_type": "bert",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 128,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "initializer_range": 0.2,  # states that differ from token to token, as a trained encoder's do
}
WORD_SIZES = {"embedding_size": 16, "dropout": 0.0}
# every model as the papers have it, and a second form where an option changes the path through the score
OPTIONS: dict[str, dict[str, Any]] = {
    "bow": WORD_SIZES,
    "hlstm": WORD_SIZES | {"hidden_size": 12},
    "dim": WORD_SIZES | {"hidden_size": 12, "character_size": 6, "character_filters": 4, "mlp_size": 16},
    "bi_encoder": {},
    "bi_encoder persona scale": {"persona_scale": 2.0},
    "bi_encoder dot cls": {"similarity": "dot", "pooling": "cls"},
    "poly_encoder": {"codes": 8},
    "poly_encoder dot": {"codes": 8, "similarity": "dot"},
    "cobert": {},
    "cobert cosine pooled": {"similarity": "cosine", "temperature": "learned", "pooled": True},
    "memnet": {},
    "memnet dot": {"similarity": "dot", "hops": 2},
    "memnet gentle": {"scale": 1.0},  # attention so soft that a forgotten mask would show
    "dam": {"channels": (6, 4), "cells": (1, 2, 2)},
    "bert_dim": {"hidden_size": 12, "mlp_size": 16, "dropout": 0.0},
    "cross_encoder": {"dropout": 0.0, "maximum_tokens": 128},
    "cross_encoder cls": {"dropout": 0.0, "maximum_tokens": 128, "pooling": "cls"},
}
# from scratch, words need larger steps than a Transformer bears
LEARNING_RATES = {"bow": 3e-2, "hlstm": 1e-2, "dim": 5e-3}
MODELS = [*WORD_MODELS, *ENCODER_MODELS]
CHUNKED = [name for name in OPTIONS if name.split()[0] not in {"bow", "hlstm", "bi_encoder", "memnet"}]


def card_of(name: str) -> ModelCard:
    kind = name.split(maxsplit=1)[0]
    if kind in WORD_MODELS:
        return ModelCard(kind, OPTIONS[name], Limits(), vocabulary_size=VOCABULARY)
    return ModelCard(kind, OPTIONS[name], Limits(), encoder=TINY_BERT)


def build(name: str, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    model = saved.build(card_of(name))
    if hasattr(model, "set_words"):
        model.set_words(WORDS)
    return model.eval()


@dataclass
class Texts:
    """Token lists of one example, without special tokens."""

    context: list[list[int]]
    persona: list[list[int]]
    response: list[int]


def made_up(count: int, *, seed: int = 0, longest: int = 7, most: int = 3) -> list[Texts]:
    random = Random(seed)

    def text() -> list[int]:
        return [random.randrange(4, VOCABULARY) for _ in range(random.randint(2, longest))]

    return [
        Texts(
            context=[text() for _ in range(random.randint(1, most))],
            persona=[text() for _ in range(random.randint(1, most))],
            response=text(),
        )
        for _ in range(count)
    ]


def rows(texts: list[list[int]]) -> list[Row]:
    return [(text, [position % 2] * len(text)) for position, text in enumerate(texts)]


def side(groups: list[list[list[int]]], nested: bool) -> Inputs:
    if nested:
        return Inputs.from_tokens(pad_nested([rows(group) for group in groups], MARKS))
    flat = [flatten(rows(group), MARKS) if group else ([], []) for group in groups]
    return Inputs.from_tokens(pad_flat(flat, MARKS.pad))


def contexts(model: SelectionModel, examples: list[Texts]) -> Inputs:
    return side([example.context for example in examples], model.nested_context)


def personas(model: SelectionModel, examples: list[Texts]) -> Inputs:
    return side([example.persona for example in examples], model.nested_persona)


def responses(examples: list[Texts]) -> Inputs:
    return side([[example.response] for example in examples], nested=False)


def all_scores(model: Any, context: Inputs, persona: Inputs | None, response: Inputs) -> Tensor:
    """Every context against every response: [B, N]."""
    return model.score(
        model.encode_context(context),
        None if persona is None else model.encode_persona(persona),
        model.encode_response(response)[None],
    )


def scores_of(model: Any, examples: list[Texts], *, persona: bool = True) -> Tensor:
    known = personas(model, examples) if persona else None
    return all_scores(model, contexts(model, examples), known, responses(examples))


def wider(inputs: Inputs, fill: int) -> Inputs:
    """Three more tokens per row, and one more row where there are rows, all masked; `fill` lies beneath."""
    rows_more = (0, 1) if inputs.ids.dim() == 3 else ()
    return Inputs(
        ids=F.pad(inputs.ids, (0, 3, *rows_more), value=fill),
        mask=F.pad(inputs.mask, (0, 3, *rows_more)),
        segments=F.pad(inputs.segments, (0, 3, *rows_more), value=fill % 2),
    )


def with_garbage(inputs: Inputs) -> Inputs:
    torch.manual_seed(5)
    masked = inputs.mask == 0
    return Inputs(
        ids=torch.where(masked, torch.randint(0, VOCABULARY, inputs.ids.shape), inputs.ids),
        mask=inputs.mask,
        segments=torch.where(masked, torch.randint(0, 2, inputs.ids.shape), inputs.segments),
    )


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


every_model = pytest.mark.parametrize("name", OPTIONS)


def test_the_tests_cover_every_model_in_the_registry() -> None:
    assert {name.split()[0] for name in OPTIONS} == set(MODELS)
    assert all(isinstance(build(name), SelectionModel) for name in MODELS)


@pytest.mark.parametrize("name", ["bi_encoder", "poly_encoder", "cobert", "memnet"])
def test_an_unknown_similarity_is_one_sentence(name: str) -> None:
    card = ModelCard(name, {"similarity": "cosin"}, Limits(), encoder=TINY_BERT)
    with pytest.raises(AllearsError, match="unknown similarity 'cosin'; use 'dot' or 'cosine'"):
        saved.build(card)


def test_dam_refuses_layers_the_encoder_does_not_have() -> None:
    with pytest.raises(AllearsError, match="the encoder has layers 0 to 2, but 12 is asked for"):
        saved.build(ModelCard("dam", {"layers": [0, 12]}, Limits(), encoder=TINY_BERT))


@pytest.mark.parametrize("name", MODELS)
def test_overfits_32_examples(name: str) -> None:
    examples, size = made_up(32, seed=3, longest=4, most=2), 8
    model = build(name).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATES.get(name, 1e-3))
    order = Random(1)
    for step in range(400):
        batch = order.sample(examples, size)
        loss = F.cross_entropy(scores_of(model, batch), torch.arange(size))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0 and loss < 0.2 and right(model, examples):
            return
    pytest.fail(f"{name} still confuses the responses of 32 examples; the last loss was {float(loss):.3f}")


@torch.no_grad()
def right(model: nn.Module, examples: list[Texts]) -> bool:
    found = scores_of(model, examples).argmax(1)
    return bool((found == torch.arange(len(examples))).all())


@every_model
@torch.no_grad()
def test_permuting_candidates_permutes_scores(name: str) -> None:
    model, examples = build(name), made_up(5)
    order = torch.tensor([3, 0, 4, 2, 1])
    context, persona, response = contexts(model, examples), personas(model, examples), responses(examples)
    scores = all_scores(model, context, persona, response)
    close(all_scores(model, context, persona, response[order]), scores[:, order])
    assert scores.std() > 1e-3, "a model that scores everything alike would pass"


@every_model
@torch.no_grad()
def test_shared_candidates_score_as_each_contexts_own(name: str) -> None:
    model, examples = build(name), made_up(4)
    context, persona = contexts(model, examples), personas(model, examples)
    encoded = model.encode_context(context), model.encode_persona(persona)
    shared = model.encode_response(responses(examples))[None]
    own = shared.map(lambda tensor: tensor.expand(len(examples), *tensor.shape[1:]))
    close(model.score(*encoded, own), model.score(*encoded, shared))


@every_model
@torch.no_grad()
def test_each_context_is_compared_with_its_own_candidates(name: str) -> None:
    model, examples = build(name), made_up(4)
    context, persona = contexts(model, examples), personas(model, examples)
    chosen = torch.tensor([[0, 1], [2, 3], [3, 0], [1, 2]])
    own = model.encode_response(responses(examples))[chosen]
    scores = model.score(model.encode_context(context), model.encode_persona(persona), own)
    close(scores, scores_of(model, examples).gather(1, chosen))


@every_model
@torch.no_grad()
def test_batch_mates_never_change_a_score(name: str) -> None:
    model, examples = build(name), made_up(5)
    together = scores_of(model, examples)
    for position, example in enumerate(examples):
        close(scores_of(model, [example])[0, 0], together[position, position])


@every_model
@torch.no_grad()
def test_padding_never_changes_a_score(name: str) -> None:
    model, examples = build(name), made_up(4)
    inputs = contexts(model, examples), personas(model, examples), responses(examples)
    padded = [wider(part, fill=MARKS.pad) for part in inputs]
    close(all_scores(model, *padded), all_scores(model, *inputs))


@every_model
@torch.no_grad()
def test_what_lies_under_the_mask_changes_nothing(name: str) -> None:
    model, examples = build(name), made_up(4)
    inputs = [
        wider(part, fill=7)
        for part in (contexts(model, examples), personas(model, examples), responses(examples))
    ]
    close(all_scores(model, *map(with_garbage, inputs)), all_scores(model, *inputs))


@every_model
@torch.no_grad()
def test_an_empty_persona_is_no_persona(name: str) -> None:
    model, examples = build(name), made_up(4)
    nobody = [Texts(example.context, [], example.response) for example in examples]
    assert not personas(model, nobody).mask.any()
    without = scores_of(model, nobody, persona=False)
    close(scores_of(model, nobody), without)
    # the same among neighbours who have one
    mixed = [nobody[0], examples[1], nobody[2], examples[3]]
    scores, with_persona = scores_of(model, mixed), scores_of(model, examples)
    close(scores[[0, 2]], without[[0, 2]])
    close(scores[[1, 3]], with_persona[[1, 3]])
    assert not torch.allclose(with_persona, without, atol=1e-3), "the persona must matter when there is one"


@every_model
def test_gradients_reach_every_parameter(name: str) -> None:
    model, examples = build(name).train(), made_up(6)
    F.cross_entropy(scores_of(model, examples), torch.arange(6)).backward()
    still = [
        parameter_name
        for parameter_name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.abs().sum() > 0
    ]
    assert not still


@every_model
def test_gradients_stay_finite_when_some_personas_are_empty(name: str) -> None:
    model, examples = build(name).train(), made_up(4)
    examples[1].persona.clear()
    F.cross_entropy(scores_of(model, examples), torch.arange(4)).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("name", CHUNKED)
def test_scoring_in_chunks_changes_neither_scores_nor_gradients(name: str) -> None:
    model, examples = build(name), made_up(5)
    gradients, scores = [], []
    for pairs in (model.chunk_pairs, 0):  # all at once, then one candidate at a time
        model.chunk_pairs = pairs
        model.zero_grad()
        found = scores_of(model, examples)
        F.cross_entropy(found, torch.arange(5)).backward()
        scores.append(found.detach())
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    close(*scores)
    for whole, chunked in zip(*gradients, strict=True):
        torch.testing.assert_close(chunked, whole, atol=1e-4, rtol=1e-3)


@every_model
def test_learns_in_bfloat16_as_on_a_gpu(name: str) -> None:
    model, examples = build(name).train(), made_up(4)
    with torch.autocast("cpu", torch.bfloat16):
        scores = scores_of(model, examples)
    assert scores.dtype == torch.float32, "half precision would round close scores to ties"
    F.cross_entropy(scores, torch.arange(4)).backward()
    exact = scores_of(model, examples)
    assert ((scores - exact).abs() <= 0.05 * (1 + exact.abs().max())).all()


def word_tokenizer() -> WordVocabulary:
    return WordVocabulary().restore(WORDS)


def sub_word_tokenizer(folder: Path) -> WordPiece:
    names = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *WORDS[4:]]
    backend = HuggingFaceTokenizer(WordLevel({word: i for i, word in enumerate(names)}, unk_token="[UNK]"))
    backend.pre_tokenizer = Whitespace()
    backend.save(str(folder / "tokenizer.json"))
    return WordPiece(folder)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_comes_back_with_equal_scores(name: str, tmp_path: Path) -> None:
    tokenizer: Tokenizer = word_tokenizer() if name in WORD_MODELS else sub_word_tokenizer(tmp_path)
    model, card = build(name, seed=4), card_of(name)
    saved.save(tmp_path / "model", model, card, tokenizer)
    queries = [
        Query(
            (Turn(Role.SEEKER, "word1 word2 word3"), Turn(Role.SUPPORTER, "word9 word8")), ("word5 word6",)
        ),
        Query((Turn(Role.SEEKER, "word7"),)),
    ]
    pool = ["word4 word5 word6 word7 word8", "word11", "word2 word3"]
    chosen = np.array([[0, 1, 2], [2, 1, 0]])

    def scored(selector: TorchSelector) -> np.ndarray:
        return selector.score(queries, selector.encode_responses(pool), chosen)

    expected = scored(TorchSelector(model, card, tokenizer))
    torch.manual_seed(99)  # whatever weights the loader starts from must not show
    np.testing.assert_allclose(scored(saved.load(tmp_path / "model")), expected, atol=1e-6)
    assert np.ptp(expected) > 1e-4
