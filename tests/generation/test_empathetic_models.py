"""The empathetic generators: they learn, see no padding and no future, and write the same with and without a cache."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from empathetic_models import MODELS, batch_of, felt_talks, learn_by_heart, small_empathetic

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.models.generation.empathetic import (
    NOT_KNOWN,
    Learning,
    before,
    label_loss,
    parameter_count,
    response_loss,
)
from allears.models.generation.moel import mixture, with_gold
from allears.nn.weights import load_alike

every_model = pytest.mark.parametrize("name", MODELS)
close = {"rtol": 1e-4, "atol": 1e-5}


@every_model
def test_it_learns_a_handful_of_examples_by_heart(name):
    generator, examples = small_empathetic(name), felt_talks(6)
    losses = learn_by_heart(generator, examples)
    assert losses["response"] < 0.1
    assert losses.get("emotion", 0.0) < 0.1
    found = generator.generate([each.prompt for each in examples], Settings(method="greedy", longest=16))
    said = [texts[0].text.lower().replace(" ", "") for texts in found]
    assert said == [each.response.replace(" ", "") for each in examples]


@every_model
def test_what_is_written_does_not_depend_on_its_neighbours_in_the_batch(name):
    generator, examples = small_empathetic(name), felt_talks(5)
    generator.module.eval()
    with torch.inference_mode():
        together, emotions = generator.understood(batch_of(generator, examples))
        for row, example in enumerate(examples):
            alone, own = generator.understood(batch_of(generator, [example]))
            torch.testing.assert_close(alone[0], together[row, : alone.shape[1]], **close)
            if emotions is not None and own is not None:
                torch.testing.assert_close(own[0], emotions[row], **close)


@every_model
def test_a_word_does_not_see_those_after_it(name):
    generator, examples = small_empathetic(name), felt_talks(3)
    generator.module.eval()
    batch = batch_of(generator, examples)
    changed = batch.targets.clone()
    changed[:, 4:] = generator.tokenizer.unknown
    with torch.inference_mode():
        plain = generator.measured(batch)
        other = generator.measured(replace(batch, targets=changed))
    torch.testing.assert_close(plain[:, :4], other[:, :4], **close)
    assert not torch.allclose(plain[:, 5:], other[:, 5:])


@every_model
def test_writing_with_a_cache_says_what_reading_all_at_once_says(name):
    generator, examples = small_empathetic(name), felt_talks(4)
    generator.module.eval()
    batch = batch_of(generator, examples)
    with torch.inference_mode():
        state = generator.model.begin(generator.model.read(batch))
        whole, _ = generator.model.write(before(batch), state)
        for place, tokens in enumerate(before(batch).unbind(1)):
            logits, state = generator.step(tokens, state)
            torch.testing.assert_close(logits, whole[:, place], **close)


@every_model
def test_beam_search_with_a_cache_finds_what_it_finds_without(name):
    from allears.decoding import beam_search

    generator, examples = small_empathetic(name), felt_talks(4)
    learn_by_heart(generator, examples, steps=15)  # so that hypotheses differ
    generator.module.eval()
    batch = batch_of(generator, examples)

    def recompute(tokens, state):
        """All tokens so far, from the beginning: the state is the prefix and what was read."""
        rows, prefix = state
        prefix = torch.cat([prefix, tokens[:, None]], 1)
        chosen = batch[rows]
        logits, _ = generator.model.write(prefix, generator.model.begin(generator.model.read(chosen)))
        return logits[:, -1], (rows, prefix)

    start = torch.full((len(examples),), generator.tokenizer.start)
    settings = {"end": generator.tokenizer.end, "limit": 10, "width": 3}
    with torch.inference_mode():
        cached = beam_search(
            generator.step, generator.model.begin(generator.model.read(batch)), start, **settings
        )
        nothing = start.new_zeros(len(examples), 0)
        slow = beam_search(recompute, (torch.arange(len(examples)), nothing), start, **settings)
    assert [each.tokens for each in cached] == [each.tokens for each in slow]
    assert [each.score for each in cached] == pytest.approx([each.score for each in slow], rel=1e-4)


@every_model
def test_every_weight_gets_a_gradient(name):
    generator, examples = small_empathetic(name), felt_talks(6)
    losses = generator.model.losses(batch_of(generator, examples), Learning(gold=0.5))
    torch.stack(list(losses.values())).sum().backward()
    without = [key for key, value in generator.module.named_parameters() if value.grad is None]
    assert without == []


def test_a_label_that_is_not_known_costs_nothing():
    logits = torch.randn(4, 3)
    labels = torch.tensor([NOT_KNOWN, 2, NOT_KNOWN, 0])
    assert label_loss(logits, labels) == pytest.approx(float(F.cross_entropy(logits[[1, 3]], labels[[1, 3]])))
    assert label_loss(logits, torch.full((4,), NOT_KNOWN)) == 0


def test_only_the_likeliest_listeners_speak():
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]])
    weights = mixture(logits, 2)
    torch.testing.assert_close(weights, torch.cat([logits[:, :2].softmax(-1), torch.zeros(1, 2)], -1))


def test_the_gold_emotion_speaks_alone_where_it_is_shown():
    weights, labels = torch.full((3, 4), 0.25), torch.tensor([1, NOT_KNOWN, 3])
    shown = with_gold(weights, labels, 1.0)
    assert shown[0].tolist() == [0, 1, 0, 0]
    assert shown[1].tolist() == [0.25] * 4
    assert with_gold(weights, labels, 0.0) is weights


def test_listeners_of_other_emotions_answer_differently():
    generator, examples = small_empathetic("moel"), felt_talks(1)
    generator.module.eval()
    read = generator.model.read(batch_of(generator, examples))
    tokens = before(batch_of(generator, examples))
    said = []
    for emotion in (0, 1):
        weights = F.one_hot(torch.tensor([emotion]), 32).float()
        said.append(generator.model.write(tokens, generator.model.begin(read._replace(more=(weights,))))[0])
    assert not torch.allclose(*said)


@pytest.mark.parametrize("place", ["last", "primary"])
def test_a_persona_changes_what_is_written(place):
    generator = small_empathetic(f"modmoel {place}")
    example = felt_talks(2)[1]
    other = replace(example, prompt=replace(example.prompt, own_persona=("i like tea",)))
    nobody = replace(example, prompt=replace(example.prompt, own_persona=()))
    found = [
        each.log_probability
        for each in generator.log_likelihood(
            [each.prompt for each in (example, other, nobody)], [example.response] * 3
        )
    ]
    assert len({round(value, 5) for value in found}) == 3


def test_without_the_persona_attention_nobodys_persona_is_read():
    generator = small_empathetic("modmoel last", persona="none")
    example = felt_talks(2)[1]
    other = replace(example.prompt, own_persona=("i like tea",))
    found = generator.log_likelihood([example.prompt, other], [example.response] * 2)
    assert found[0] == found[1]


def test_persona_last_and_persona_primary_are_two_models():
    last, primary = (small_empathetic(f"modmoel {place}") for place in ("last", "primary"))
    primary.module.load_state_dict(last.module.state_dict())
    example = felt_talks(2)[1]
    found = [each.log_likelihood([example.prompt], [example.response])[0] for each in (last, primary)]
    assert found[0].log_probability != pytest.approx(found[1].log_probability, rel=1e-6)


@pytest.mark.parametrize("condition", ["act", "intent", "mechanisms"])
def test_each_condition_is_learned_and_changes_what_is_written(condition):
    generator = small_empathetic("modmoel last", conditions=[condition])
    batch = batch_of(generator, felt_talks(6))
    losses = generator.model.losses(batch, Learning(gold=1.0))
    assert set(losses) == {"response", "emotion", condition}
    other = replace(batch, **{condition: torch.zeros_like(getattr(batch, condition))})
    changed = generator.model.losses(other, Learning(gold=1.0))  # shown, so other labels are other replies
    assert changed["response"].item() != pytest.approx(losses["response"].item(), rel=1e-6)


def test_a_condition_that_is_off_has_no_loss():
    generator = small_empathetic("modmoel last")
    losses = generator.model.losses(batch_of(generator, felt_talks(2)), Learning())
    assert set(losses) == {"response", "emotion"}


def test_every_listener_begins_as_the_one_that_stood_for_all_emotions():
    start, moel = small_empathetic("moel", apart=False), small_empathetic("moel", seed=1)
    load_alike(moel.module, start.module)
    for example in felt_talks(3):
        said = [each.log_likelihood([example.prompt], [example.response])[0] for each in (start, moel)]
        assert said[0].log_probability == pytest.approx(said[1].log_probability, rel=1e-5)


@pytest.mark.parametrize("place", ["last", "primary"])
def test_a_persona_begins_without_a_say_and_is_learned(place):
    start, generator = small_empathetic("moel"), small_empathetic(f"modmoel {place}", seed=1)
    load_alike(generator.module, start.module)
    example = felt_talks(2)[1]
    said = [each.log_likelihood([example.prompt], [example.response])[0] for each in (start, generator)]
    assert said[0].log_probability == pytest.approx(said[1].log_probability, rel=1e-5)
    encoder = start.module.encoder.state_dict()
    assert all(
        torch.equal(value, encoder[name])
        for name, value in generator.module.persona_encoder.state_dict().items()
    )
    learn_by_heart(generator, felt_talks(6), steps=3)
    other = replace(example.prompt, own_persona=("i like tea",))
    found = generator.log_likelihood([example.prompt, other], [example.response] * 2)
    assert found[0] != found[1]


def test_a_start_that_knows_personas_is_taken_as_it_is():
    start, generator = small_empathetic("modmoel last"), small_empathetic("modmoel last", seed=1)
    load_alike(generator.module, start.module)
    assert all(
        torch.equal(value, start.module.state_dict()[name])
        for name, value in generator.module.state_dict().items()
    )


def test_an_unknown_switch_is_named():
    with pytest.raises(AllearsError, match="conditions are some of act, intent, mechanisms, not 'mood'"):
        small_empathetic("modmoel last", conditions=["mood"])
    with pytest.raises(AllearsError, match="persona is one of last, primary, none, not 'first'"):
        small_empathetic("modmoel last", persona="first")


def test_what_the_frozen_encoder_says_changes_what_is_written():
    generator = small_empathetic("ensemble")
    batch = batch_of(generator, felt_talks(2))
    with torch.inference_mode():
        plain = generator.measured(batch)
        other = generator.measured(replace(batch, beside=batch.beside + 1))
    assert not torch.allclose(plain, other)


def test_sixteen_groups_have_their_own_numbers():
    generator = small_empathetic("moel", emotions=16)
    batch = batch_of(generator, felt_talks(6))
    assert int(batch.emotion.max()) < 16
    names = [name for name, _ in generator.emotions([felt_talks(1)[0].prompt])[0]]
    assert "proud+impressed" in names
    assert len(names) == 16


def test_parameters_are_counted_at_any_vocabulary():
    generator = small_empathetic("multitask")
    words = generator.tokenizer.size
    size = parameter_count(generator.module)
    assert size == sum(parameter.numel() for parameter in generator.module.parameters())
    assert parameter_count(generator.module, vocabulary=words + 10) == size + 10 * (24 + 24 + 1)


def test_padding_costs_nothing_and_smoothing_something():
    logits, targets = torch.randn(2, 3, 5), torch.tensor([[1, 2, 3], [4, 0, 0]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    for smoothing in (0.0, 0.1):
        expected = F.cross_entropy(logits[mask], targets[mask], label_smoothing=smoothing)
        torch.testing.assert_close(response_loss(logits, targets, mask, smoothing), expected)
