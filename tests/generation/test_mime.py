"""MIME: its equations, what chance does and when, its ablations, and that it learns and writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from allears.conversation import Role, Turn
from allears.decoding import Settings, beam_search
from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS, NEGATIVE, POSITIVE
from allears.models.generation.empathetic import (
    NOT_KNOWN,
    EmpatheticBatch,
    Learning,
    before,
    likelihoods,
    parameter_count,
)
from allears.models.generation.empathetic_data import EmpatheticDataset
from allears.models.generation.empathetic_generator import EmpatheticGenerator
from allears.models.generation.empathetic_saved import EmpatheticCard, word_vocabulary
from allears.models.generation.examples import GenerationExample, ResponseLabels
from allears.models.generation.mime import MIME, Normal, divergence
from allears.nn.inputs import Inputs
from allears.runtime.generator import Prompt
from allears.text.layout import Limits
from allears.training.recipe import read_recipe

WORDS, WIDTH, START, END = 60, 24, 1, 2
JOYFUL, SAD = ED_EMOTIONS.index("joyful"), ED_EMOTIONS.index("sad")
ABLATIONS: dict[str, dict[str, Any]] = {
    "whole": {},
    "no mimicry": {"mimicry": False},
    "no grouping": {"grouping": False},
    "no stochasticity": {"stochastic": False},
    "posterior of the prior's draw": {"posterior": "prior"},
    "tied": {"tied": True},
}


def small(seed: int = 0, **options: Any) -> MIME:
    torch.manual_seed(seed)
    model = MIME(WORDS, **{"size": WIDTH, "heads": 2, "inner": 32, "dropout": 0.0, **options})
    with torch.no_grad():  # far enough from the start that every part says something
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def a_batch(
    contexts: list[int],
    responses: list[int],
    emotions: list[int],
    *,
    longest: int = 0,
    seed: int = 0,
    noise: int = 0,
) -> EmpatheticBatch:
    """Random words, of these lengths, padded to at least `longest`."""
    size, across = len(contexts), max(*contexts, longest)
    along = max(*responses, longest)
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(4, WORDS, (size, 80), generator=generator)
    ids, targets = torch.zeros(size, across, dtype=torch.int64), torch.zeros(size, along, dtype=torch.int64)
    segments = torch.zeros_like(ids)
    for row, (said, answered) in enumerate(zip(contexts, responses, strict=True)):
        ids[row, :said] = torch.cat([torch.tensor([START]), words[row, : said - 1]])
        segments[row, said // 2 : said] = 1
        targets[row, :answered] = torch.cat([words[row, 40 : 39 + answered], torch.tensor([END])])
    mask = (torch.arange(across) < torch.tensor(contexts)[:, None]).long()
    nothing = torch.zeros(size, 0, dtype=torch.int64)
    unknown = torch.full((size,), NOT_KNOWN)
    return EmpatheticBatch(
        Inputs(ids, mask, segments),
        Inputs(nothing, nothing, nothing),
        targets,
        torch.arange(along) < torch.tensor(responses)[:, None],
        torch.tensor(emotions),
        unknown,
        unknown,
        unknown[:, None].expand(-1, 3),
        torch.zeros(size, 0),
        torch.randn(size, noise, generator=generator),
    )


def usual(model: MIME | None = None, **changes: Any) -> EmpatheticBatch:
    return a_batch([7, 4, 9], [5, 6, 3], [JOYFUL, SAD, JOYFUL], noise=model.noise if model else 0, **changes)


def total(model: MIME, batch: EmpatheticBatch, seed: int = 5) -> Tensor:
    torch.manual_seed(seed)
    return torch.stack(list(model.losses(batch, Learning()).values())).sum()


@pytest.mark.parametrize("name", ABLATIONS)
def test_what_it_reads_and_writes_has_the_shapes_of_the_contract(name: str) -> None:
    model = small(**ABLATIONS[name]).eval()
    batch = usual(model)
    read = model.read(batch)
    assert read.states.shape == (3, 8, WIDTH)  # H_1 ... H_k: CTX is not among what the decoder reads
    assert read.mask.tolist() == batch.context.mask[:, 1:].tolist()
    assert read.emotions is not None
    assert read.emotions.shape == (3, 32)
    logits, state = model.write(before(batch), model.begin(read))
    assert logits.shape == (3, 6, WORDS)
    assert all(part.shape[0] == 3 for part in state)


@pytest.mark.parametrize("name", ABLATIONS)
def test_padding_and_batch_mates_change_nothing(name: str) -> None:
    model = small(**ABLATIONS[name]).eval()
    together = usual(model, longest=14)
    read = model.read(together)
    logits, _ = model.write(before(together), model.begin(read))
    for row, (said, answered) in enumerate([(7, 5), (4, 6), (9, 3)]):
        alone = together[row : row + 1]
        alone = replace(
            alone,
            context=alone.context[:, :said],
            targets=alone.targets[:, :answered],
            mask=alone.mask[:, :answered],
        )
        own = model.read(alone)
        torch.testing.assert_close(own.emotions[0], read.emotions[row], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(own.states[0], read.states[row, : said - 1], atol=1e-5, rtol=1e-5)
        words, _ = model.write(before(alone), model.begin(own))
        torch.testing.assert_close(words[0], logits[row, :answered], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("posterior", ["response", "prior"])
def test_padding_changes_no_loss(posterior: str) -> None:
    model = small(posterior=posterior)
    narrow, wide = (model_losses(model, usual(longest=longest)) for longest in (0, 20))
    assert narrow == pytest.approx(wide, abs=1e-5)


def model_losses(model: MIME, batch: EmpatheticBatch) -> dict[str, float]:
    torch.manual_seed(5)
    return {name: float(loss.detach()) for name, loss in model.losses(batch, Learning()).items()}


def test_equations_7_to_15_are_those_of_a_slow_transcription() -> None:
    model = small().eval()
    batch = usual(model)
    states, _ = model.understand(batch.context)
    felt, priors = model.response_emotions.foreseen(states[:, 0], model.emotions.weight, batch.noise)
    inside = model.response_emotions
    for row in range(3):
        c = states[row, 0]
        shared = torch.clamp(inside.sampled.weight @ c + inside.sampled.bias, min=0)
        for number, names in enumerate((POSITIVE, NEGATIVE)):
            group = inside.groups[number]
            mu = group.mean.weight @ shared + group.mean.bias
            sigma = torch.exp(0.5 * (group.log_variance.weight @ shared + group.log_variance.bias))
            z = mu + batch.noise[row, number * WIDTH : (number + 1) * WIDTH] * sigma
            scores = torch.exp(group.shares.weight @ z + group.shares.bias)
            shares = scores / scores.sum()
            expected = sum(
                share * model.emotions.weight[ED_EMOTIONS.index(name)]
                for share, name in zip(shares, names, strict=True)
            )
            torch.testing.assert_close(felt[number][row], expected, atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(priors[number].mean[row], mu, atol=1e-5, rtol=1e-4)


def test_equations_18_to_27_are_those_of_a_slow_transcription() -> None:
    model = small().eval()
    batch = usual(model)
    states, scores = model.understand(batch.context)
    felt = [torch.randn(3, WIDTH), torch.randn(3, WIDTH)]  # e_pos, e_neg
    positive = torch.tensor([True, False, True])
    read = model.fuse(states, batch.context, scores, felt, positive)
    for row, length in enumerate([6, 3, 8]):
        same, other = (felt[0][row], felt[1][row]) if positive[row] else (felt[1][row], felt[0][row])
        said = states[row, 1 : 1 + length]
        whole = torch.ones(1, length)
        mimicking, not_mimicking = (
            model.response_encoder(torch.stack([torch.cat([state, each]) for state in said])[None], whole)[0]
            for each in (same, other)
        )
        for place in range(length):
            joined = torch.cat([mimicking[place], not_mimicking[place]])
            gate = 1 / (1 + torch.exp(-(model.contribution.weight @ joined + model.contribution.bias)))
            fused = model.fused.weight @ (gate * joined) + model.fused.bias
            torch.testing.assert_close(read.states[row, place], fused, atol=1e-5, rtol=1e-4)


def test_the_groups_are_those_of_table_1() -> None:
    positive, negative = small().response_emotions.groups
    assert [ED_EMOTIONS[number] for number in positive.members.tolist()] == list(POSITIVE)
    assert len(positive.members) == 13
    assert len(negative.members) == 19
    assert sorted([*positive.members.tolist(), *negative.members.tolist()]) == list(range(32))


def test_the_divergence_is_zero_when_prior_equals_posterior() -> None:
    mean, spread = torch.randn(4, 6), torch.randn(4, 6)
    assert divergence(Normal(mean, spread), Normal(mean, spread)).abs().max() < 1e-6
    theirs = torch.distributions.kl_divergence(
        torch.distributions.Normal(mean, (spread / 2).exp()),
        torch.distributions.Normal(mean.flip(0), (spread.flip(0) / 2).exp()),
    ).sum(-1)
    found = divergence(Normal(mean, spread), Normal(mean.flip(0), spread.flip(0)))
    torch.testing.assert_close(found, theirs, rtol=1e-4, atol=1e-4)
    assert found.min() > 0


def test_a_model_whose_posterior_is_its_prior_has_no_divergence_to_learn() -> None:
    model = small()
    with torch.no_grad():
        model.response_emotions.sampled.weight.zero_()
        model.response_emotions.sampled.bias.zero_()
        for group in model.response_emotions.groups:
            group.posterior_sampled.weight.zero_()
            group.posterior_sampled.bias.zero_()
            group.posterior_mean.load_state_dict(group.mean.state_dict())
            group.posterior_log_variance.load_state_dict(group.log_variance.state_dict())
    assert model_losses(model, usual())["divergence"] == pytest.approx(0, abs=1e-6)
    with torch.no_grad():
        model.response_emotions.groups[1].posterior_mean.bias.add_(1)
    assert model_losses(model, usual())["divergence"] > 0.1


def test_the_posterior_is_drawn_from_in_training_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from allears.models.generation import mime

    asked: list[int] = []
    original = mime.EmotionGroup.posterior

    def watched(self: Any, context: Tensor, felt: Tensor) -> Normal:
        asked.append(len(context))
        return original(self, context, felt)

    monkeypatch.setattr(mime.EmotionGroup, "posterior", watched)
    model = small()
    model.losses(usual(), Learning())
    assert asked == [3, 3]
    model.eval()
    batch = usual(model)
    model.begin(model.read(batch))
    assert asked == [3, 3]


def test_what_is_written_depends_on_its_own_noise_and_on_no_other_chance() -> None:
    model = small().eval()
    batch = usual(model)
    first = model.read(batch).states
    torch.manual_seed(99)
    assert torch.equal(model.read(batch).states, first)
    changed = batch.noise.clone()
    changed[1] = -changed[1]
    second = model.read(replace(batch, noise=changed)).states
    assert torch.equal(second[[0, 2]], first[[0, 2]])
    assert not torch.allclose(second[1], first[1])


def test_without_noise_the_prior_stands_at_its_mean() -> None:
    model = small().eval()
    still = replace(usual(model), noise=torch.zeros(3, model.noise))
    states, scores = model.understand(still.context)
    _, priors = model.response_emotions.foreseen(
        states[:, 0], model.emotions.weight, torch.randn(3, model.noise)
    )
    felt = [
        group.mixture(prior.mean, model.emotions.weight)[1]
        for group, prior in zip(model.response_emotions.groups, priors, strict=True)
    ]
    expected = model.fuse(states, still.context, scores, felt, model._sounds_positive(scores))
    torch.testing.assert_close(model.read(still).states, expected.states)


def test_the_response_tells_the_posterior_something_unless_it_is_the_priors() -> None:
    batch = usual()
    other = replace(batch, targets=torch.where(batch.mask, (batch.targets + 11) % (WORDS - 4) + 4, 0))
    told = small(posterior="response")
    assert model_losses(told, batch)["divergence"] != pytest.approx(
        model_losses(told, other)["divergence"], abs=1e-6
    )
    untold = small(posterior="prior")
    assert model_losses(untold, batch)["divergence"] == pytest.approx(
        model_losses(untold, other)["divergence"], abs=1e-6
    )
    assert "reconstruction" not in model_losses(untold, batch)


def test_gradients_reach_the_emotions_from_the_classifier_and_from_the_decoder() -> None:
    model = small()
    for name in ("emotion", "response"):
        model.zero_grad()
        torch.manual_seed(5)
        model.losses(usual(), Learning())[name].backward()
        rows = model.emotions.weight.grad.abs().sum(-1)
        assert (rows > 0).all(), name


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_parameter_learns(name: str) -> None:
    model = small(**ABLATIONS[name])
    total(model, usual()).backward()
    still = [
        key
        for key, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ]
    assert still == []


@pytest.mark.parametrize("name", ABLATIONS)
def test_half_precision_learns_and_writes_nearly_the_same(name: str) -> None:
    model = small(**ABLATIONS[name])
    exact = model_losses(model, usual())
    with torch.autocast("cpu", torch.bfloat16):
        coarse = model_losses(model, usual())
        model.eval()
        logits, _ = model.write(before(usual(model)), model.begin(model.read(usual(model))))
    assert coarse == pytest.approx(exact, rel=0.1, abs=0.05)
    assert logits.isfinite().all()


def test_mimicry_swaps_the_two_sides_for_negative_emotions_and_its_ablation_never_does() -> None:
    states, felt = torch.randn(2, 5, WIDTH), [torch.randn(2, WIDTH), torch.randn(2, WIDTH)]
    context = Inputs(
        torch.ones(2, 5, dtype=torch.int64), torch.ones(2, 5, dtype=torch.int64), torch.zeros(2, 5)
    )
    scores = torch.zeros(2, 32)
    bright, dark = torch.tensor([True, True]), torch.tensor([True, False])
    mimic, plain = small().eval(), small(mimicry=False).eval()
    one, two = (mimic.fuse(states, context, scores, felt, each).states for each in (bright, dark))
    torch.testing.assert_close(one[0], two[0])
    assert not torch.allclose(one[1], two[1])
    turned = mimic.fuse(states, context, scores, felt[::-1], bright).states
    torch.testing.assert_close(turned[1], two[1])
    torch.testing.assert_close(
        plain.fuse(states, context, scores, felt, bright).states,
        plain.fuse(states, context, scores, felt, dark).states,
    )


def test_in_training_the_label_decides_whether_to_swap_and_in_writing_the_classifier() -> None:
    model = small()
    batch = usual()
    flipped = replace(batch, emotion=torch.tensor([SAD, JOYFUL, SAD]))
    assert model_losses(model, batch)["response"] != pytest.approx(model_losses(model, flipped)["response"])
    model.eval()
    asked = usual(model)
    torch.testing.assert_close(
        model.read(asked).states, model.read(replace(asked, emotion=flipped.emotion)).states
    )
    heard = model._sounds_positive(torch.stack([torch.eye(32)[JOYFUL], torch.eye(32)[SAD]]) * 9)
    assert heard.tolist() == [True, False]


def test_an_example_without_an_emotion_is_learned_from_by_what_the_classifier_hears() -> None:
    model = small()
    batch = replace(usual(), emotion=torch.full((3,), NOT_KNOWN))
    found = model_losses(model, batch)
    assert found["emotion"] == 0
    heard = model._sounds_positive(model.understand(batch.context)[1])
    named = torch.where(heard, JOYFUL, SAD)
    assert found["response"] == pytest.approx(model_losses(model, replace(batch, emotion=named))["response"])


def test_without_grouping_there_is_one_mixture_of_all_emotions() -> None:
    model = small(grouping=False)
    (group,) = model.response_emotions.groups
    assert group.members.tolist() == list(range(32))
    assert model.noise == WIDTH
    assert not model.mimicry


def test_without_stochasticity_two_readings_are_equal_even_in_training() -> None:
    model = small(stochastic=False).train()
    assert model.noise == 0
    batch = usual(model)
    assert torch.equal(model.read(batch).states, model.read(batch).states)
    assert set(model.losses(batch, Learning())) == {"response", "emotion"}
    chancy = small().train()
    assert not torch.equal(chancy.read(usual(chancy)).states, chancy.read(usual(chancy)).states)


def test_annealing_lets_the_divergence_in_by_and_by() -> None:
    model = small(anneal=0.5)

    def at(done: float) -> float:
        torch.manual_seed(5)
        return float(model.losses(usual(), Learning(done=done))["divergence"].detach())

    assert at(0.0) == 0
    assert at(0.25) == pytest.approx(at(0.5) / 2, rel=1e-5)
    assert at(1.0) == pytest.approx(at(0.5), rel=1e-6)


@pytest.mark.parametrize("name", ABLATIONS)
def test_cached_writing_equals_reading_the_prefix_anew(name: str) -> None:
    model = small(**ABLATIONS[name]).eval()
    batch = usual(model)
    with torch.inference_mode():
        read = model.read(batch)
        whole, _ = model.write(before(batch), model.begin(read))
        state = model.begin(read)
        for place in range(before(batch).shape[1]):
            logits, state = model.write(before(batch)[:, place : place + 1], state)
            torch.testing.assert_close(logits[:, 0], whole[:, place], atol=1e-5, rtol=1e-5)


def test_a_beam_with_a_cache_finds_what_one_without_finds() -> None:
    model = small().eval()
    batch = usual(model)
    with torch.inference_mode():
        read = model.read(batch)

        def cached(tokens: Tensor, state: Any) -> Any:
            logits, state = model.write(tokens[:, None], state)
            return logits[:, 0], state

        def anew(tokens: Tensor, state: Any) -> Any:
            past, *source = state
            past = torch.cat([past, tokens[:, None]], 1)
            logits, _ = model.write(past, tuple(source))
            return logits[:, -1], (past, *source)

        start = torch.full((3,), START)
        none = torch.zeros(3, 0, dtype=torch.int64)
        options: dict[str, Any] = {"end": END, "limit": 12, "width": 5}
        quick = beam_search(cached, model.begin(read), start, **options)
        slow = beam_search(anew, (none, *model.begin(read)), start, **options)
    assert [each.tokens for each in quick] == [each.tokens for each in slow]
    assert max(len(each.tokens) for each in quick) > 3


@pytest.mark.parametrize("shape", ["its own", "the recipe's"])
def test_at_the_papers_vocabulary_it_is_as_large_as_the_papers_within_a_tenth(shape: str) -> None:
    recipe = Path(__file__).parent.parent.parent / "recipes" / "ed-mime.toml"
    options = {} if shape == "its own" else read_recipe(recipe).tables["model"]["options"]
    count = parameter_count(MIME(500, **options), vocabulary=24_647)
    print(f"MIME, {shape} shape: {count / 1e6:.2f}M parameters, paper 17.80M")
    assert count == pytest.approx(17.80e6, rel=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"emotions": 16}, "groups the 32 emotions of its Table 1; it cannot learn 16"),
        ({"posterior": "guess"}, "one of response, prior; got 'guess'"),
    ],
)
def test_what_it_cannot_be_is_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AllearsError, match=message):
        MIME(WORDS, **options)


def test_a_pretrained_encoder_takes_the_place_of_the_words_and_gives_its_own() -> None:
    from generator_models import talk_config

    from allears.nn.encoder import Encoder

    torch.manual_seed(0)
    encoder = Encoder.from_config(talk_config(WORDS, hidden_size=WIDTH))
    model = MIME(WORDS, encoder=encoder, size=WIDTH, heads=2, inner=32, tied=True)
    theirs = encoder.model.get_input_embeddings().weight
    torch.testing.assert_close(
        torch.nn.functional.normalize(model.words.weight), torch.nn.functional.normalize(theirs)
    )
    total(model, usual()).backward()
    assert theirs.grad is not None
    assert theirs.grad.any()


EXAMPLES = (
    ("joyful", "my sister had her baby on sunday", "congratulations to the whole family !"),
    ("sad", "our old cat did not come home", "i am so sorry about your cat ."),
    ("afraid", "the lift stopped between two floors", "how long were you in there ?"),
    ("proud", "my son built a boat all by himself", "what a clever boy you have !"),
    ("lonely", "nobody has called me for weeks", "i am here and i am listening ."),
    ("angry", "they towed my car again", "that would make me mad too ."),
)  # fmt: skip


def test_it_learns_a_handful_of_examples_by_heart_and_writes_them() -> None:
    examples = [
        GenerationExample(Prompt((Turn(Role.SEEKER, said),)), answer, labels=ResponseLabels(emotion=emotion))
        for emotion, said, answer in EXAMPLES
    ]
    vocabulary = word_vocabulary().fit(text for _, *texts in EXAMPLES for text in texts)
    options = {"size": 32, "heads": 2, "inner": 64, "dropout": 0.0}
    limits = Limits(context_tokens=24, first_turn_tokens=20, turn_tokens=20, response_tokens=12)
    card = EmpatheticCard("mime", limits, vocabulary.size, options=options)
    torch.manual_seed(1)
    generator = EmpatheticGenerator(MIME(vocabulary.size, **options), card, vocabulary)
    model: Any = generator.module
    noise = torch.zeros(len(examples), model.noise).numpy()
    data = EmpatheticDataset(examples, vocabulary, generator.layout, noise=noise)
    batch = data.batch(list(range(len(examples))))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(200):
        optimizer.zero_grad()
        torch.stack(list(model.losses(batch, Learning()).values())).sum().backward()
        optimizer.step()
    prompts = [example.prompt for example in examples]
    for seed in (0, 1):
        written = generator.generate(prompts, Settings(method="beam", width=5, longest=12), seed)
        assert [texts[0].text.lower().replace(" ", "") for texts in written] == [
            answer.replace(" ", "") for *_, answer in EXAMPLES
        ]
    assert [ranked[0][0] for ranked in generator.emotions(prompts)] == [emotion for emotion, *_ in EXAMPLES]
    with torch.inference_mode():
        logits, _ = model.write(before(batch), model.begin(model.read(batch)))
    assert float(likelihoods(logits, batch.targets)[batch.mask].mean()) > -0.1
