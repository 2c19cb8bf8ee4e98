"""The contrastive loss: what its parts must not change, and what its options must."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator

from allears.conversation import Example, Persona, PersonaSentence, Role, Turn
from allears.models.selection.bi_encoder import BiEncoder
from allears.models.selection.cobert import CoBERT
from allears.nn.inputs import stack
from allears.text.layout import Limits
from allears.training.selection.dataset import SelectionDataset, SelectionLayout
from allears.training.selection.losses import SelectionBatch, SelectionLossOptions, step
from allears.training.workers import Workers
from tiny_models import tiny_encoder, tiny_tokenizer

TEXTS = [
    "my cat is lost",
    "great news",
    "so sad the dog was lost a job",
    "tell me your news my friend",
    "glad",
    "a boat",
]
ANSWERS = [
    "so sorry",
    "great",
    "tell me",
    "so sorry",
    "the house is a boat so glad",
    "your dog",
]  # one occurs twice


@pytest.fixture
def data(tmp_path) -> SelectionDataset:
    examples = [
        Example(
            context=(Turn(Role.SEEKER, text),),
            response=Turn(Role.SUPPORTER, answer),
            persona=Persona((PersonaSentence("my house is a boat"), PersonaSentence("glad"))),
        )
        for text, answer in zip(TEXTS, ANSWERS, strict=True)
    ]
    return SelectionDataset(examples, tiny_tokenizer(tmp_path), Limits(), SelectionLayout())


@pytest.fixture(params=["bi_encoder", "cobert"])
def model(request):
    torch.manual_seed(0)
    encoder = tiny_encoder(hidden_dropout_prob=0.2)
    return (BiEncoder if request.param == "bi_encoder" else CoBERT)(encoder).train()


def batch_of(data: SelectionDataset, part: int, mined: bool = False, teacher: bool = False) -> SelectionBatch:
    rows = list(range(len(data)))
    groups = [rows[i : i + part] for i in range(0, len(rows), part)]
    responses, places = data.responses_of(rows, part)
    batch = SelectionBatch(
        contexts=[data.contexts(group) for group in groups],
        personas=[data.personas_of(group, 0) for group in groups],
        responses=responses,
        response_places=torch.from_numpy(places),
        numbers=torch.from_numpy(data.response_numbers),
    )
    if mined:
        numbers = [(row + shift) % len(rows) for row in rows for shift in (1, 2)]
        parts, places = data.responses_of(numbers, part)
        batch = replace(batch, mined=parts, mined_places=torch.from_numpy(places.reshape(len(rows), 2)))
    return replace(batch, teacher=torch.arange(18.0).reshape(6, 3) / 5) if teacher else batch


def loss_and_gradients(model, batch, options=SelectionLossOptions(), *, dropout: bool = False):  # noqa: B008
    model.train(dropout)
    model.zero_grad()
    torch.manual_seed(3)
    loss = step(model, batch, Workers(Accelerator(cpu=True)), lambda value: value.backward(), options)
    return loss, {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def assert_same(one, other):
    assert torch.allclose(one[0], other[0], atol=1e-5)
    assert one[1].keys() == other[1].keys()
    assert all(torch.allclose(one[1][name], other[1][name], atol=1e-4) for name in one[1])


@pytest.mark.parametrize("mined", [False, True])
def test_the_size_of_the_parts_changes_neither_loss_nor_gradients(model, data, mined):
    whole = loss_and_gradients(model, batch_of(data, 6, mined, teacher=mined))
    for part in (1, 2, 4):
        assert_same(whole, loss_and_gradients(model, batch_of(data, part, mined, teacher=mined)))


@pytest.mark.parametrize("mined", [False, True])
def test_cached_gradients_equal_direct_ones(model, data, mined):
    batch = batch_of(data, 2, mined)
    assert_same(
        loss_and_gradients(model, batch), loss_and_gradients(model, batch, SelectionLossOptions(cached=True))
    )


def test_dropout_falls_the_same_way_in_both_passes_of_cached_gradients(model, data):
    """If it did not, two runs from one seed could not agree with each other while differing from no dropout."""
    batch, options = batch_of(data, 3), SelectionLossOptions(cached=True)
    first = loss_and_gradients(model, batch, options, dropout=True)
    assert_same(first, loss_and_gradients(model, batch, options, dropout=True))
    plain = loss_and_gradients(model, batch, options)
    assert not torch.allclose(first[0], plain[0], atol=1e-4)


def test_the_loss_is_the_cross_entropy_over_the_batch_without_equal_texts(model, data):
    model.eval()
    batch = batch_of(data, 6)
    loss, _ = loss_and_gradients(model, batch)
    responses = model.encode_response(batch.responses[0])[batch.response_places]
    scores = model.score(
        model.encode_context(batch.contexts[0]), model.encode_persona(batch.personas[0]), responses[None]
    )
    expected = 0.0
    for row in range(6):
        others = [c for c in range(6) if c == row or ANSWERS[c] != ANSWERS[row]]
        expected += float((scores[row, others].logsumexp(0) - scores[row, row]).detach()) / 6
    assert float(loss) == pytest.approx(expected, rel=1e-4)


def test_the_symmetric_loss_is_the_mean_of_both_directions(model, data):
    batch = batch_of(data, 4)
    loss, _ = loss_and_gradients(model, batch, SelectionLossOptions(symmetric=True))
    contexts = [model.encode_context(part) for part in batch.contexts]
    personas = [model.encode_persona(part) for part in batch.personas]
    responses = stack([model.encode_response(part) for part in batch.responses])[batch.response_places]
    scores = torch.cat(
        [model.score(c, p, responses[None]) for c, p in zip(contexts, personas, strict=True)]
    ).detach()
    expected = 0.0
    for row in range(6):
        others = [c for c in range(6) if c == row or ANSWERS[c] != ANSWERS[row]]
        for choices in (scores[row, others], scores[others, row]):
            expected += float(choices.logsumexp(0) - scores[row, row]) / 12
    assert float(loss) == pytest.approx(expected, rel=1e-4)


def test_without_in_batch_negatives_only_the_rows_own_list_counts(model, data):
    batch = batch_of(data, 3, mined=True)
    alone, _ = loss_and_gradients(model, batch, SelectionLossOptions(in_batch=False))
    together, _ = loss_and_gradients(model, batch)
    assert 0 < float(alone) < float(together)  # fewer candidates are easier


def test_a_teacher_who_agrees_adds_nothing_and_one_who_does_not_adds_divergence(model, data):
    model.eval()
    batch = batch_of(data, 6, mined=True)
    plain, _ = loss_and_gradients(model, batch)
    context, persona = model.encode_context(batch.contexts[0]), model.encode_persona(batch.personas[0])
    own = model.encode_response(batch.responses[0])[batch.response_places]
    mined = stack([model.encode_response(part) for part in batch.mined])[batch.mined_places]
    agreeing = torch.cat(
        [model.score(context, persona, own.map(lambda t: t[:, None])), model.score(context, persona, mined)],
        1,
    ).detach()
    agreed, _ = loss_and_gradients(model, replace(batch, teacher=agreeing))
    assert float(agreed) == pytest.approx(float(plain), abs=1e-4)
    differing, _ = loss_and_gradients(model, replace(batch, teacher=-agreeing))
    assert float(differing) > float(plain) + 1e-3


def test_hiding_keeps_padding_hidden_and_the_first_token_seen(data):
    batch = batch_of(data, 2)
    hidden = batch.hiding(0.5)
    for before, after in zip(
        batch.contexts + batch.responses, hidden.contexts + hidden.responses, strict=True
    ):
        assert (after.mask <= before.mask).all()
        assert torch.equal(after.mask[..., 0], before.mask[..., 0])
        assert torch.equal(after.ids, before.ids)
    masks = [part.mask.sum() for part in batch.contexts]
    assert sum(masks) > sum(part.mask.sum() for part in hidden.contexts)


def test_teachers_who_agree_with_the_student_leave_only_their_doubt(data):
    model = BiEncoder(tiny_encoder()).eval()
    batch = replace(batch_of(data, 2), personas=None)
    workers = Workers(Accelerator(cpu=True))
    numbers = batch.numbers
    contexts = stack([model.encode_context(part) for part in batch.contexts])
    responses = stack([model.encode_response(part) for part in batch.responses])[batch.response_places]
    scores = model.score(contexts, None, responses[None])
    same = (numbers[:, None] == numbers[None]) & ~torch.eye(len(numbers), dtype=torch.bool)
    likely = scores.masked_fill(same, float("-inf")).softmax(1).detach()
    plain = step(model, batch, workers, lambda loss: None)
    taught = step(model, replace(batch, likely=likely), workers, lambda loss: None)
    entropy = -torch.special.xlogy(likely, likely).sum(1).mean()
    assert taught - plain == pytest.approx(entropy.item(), abs=1e-4)


def test_teachers_are_an_ensemble_of_bi_encoders_over_the_training_texts(data, tmp_path):
    from allears.models.selection import saved
    from allears.training.selection.teachers import likelihoods, read_teachers

    limits, runs = data.limits, []
    for number in range(2):
        torch.manual_seed(number)
        encoder = tiny_encoder()
        card = saved.ModelCard("bi_encoder", {}, limits, encoder=encoder.config)
        saved.save(tmp_path / str(number), BiEncoder(encoder), card, data.tokenizer)
        runs.append(str(tmp_path / str(number)))
    rows = torch.tensor([0, 2, 4])
    both = likelihoods(read_teachers(runs, data, "cpu"), rows, rows)
    apart = [likelihoods(read_teachers([run], data, "cpu"), rows, rows) for run in runs]
    joined = (apart[0].log() + apart[1].log()).div(2).softmax(1)
    assert torch.allclose(both, joined, atol=1e-4)
    assert torch.allclose(both.sum(1), torch.ones(3))
