"""Learning from rewards: drawing, the gradient, what it brings, and runs that are resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from causal_models import LIMITS, fresh_adapter, save_language_model
from generator_models import talks, write_support_corpora

from allears.errors import AllearsError
from allears.models.generation.causal_dataset import CausalDataset
from allears.models.generation.causal_model import LoadedCausal
from allears.runtime.generator import STRATEGIES
from allears.training.generation import rewarded
from allears.training.generation.causal_task import CausalTask
from allears.training.generation.rewarded import Rewarded, merge
from allears.training.generation.rewards import RewardOptions
from allears.training.loop import train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task
from resuming import WEIGHTS, expect_the_same_end

RECIPE = Path(__file__).parents[2] / "recipes" / "esconv-smollm2-rewarded.toml"
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("language-model"))


@pytest.fixture
def found(base) -> LoadedCausal:
    return fresh_adapter(base)


def learner(found: LoadedCausal, **options: Any) -> Rewarded:
    wanted = RewardOptions(**{"draws": 3, "longest": 6, **options})
    found.model.eval()
    return Rewarded(found.model, found.layout, wanted, strategy_first=True)


def data_of(found: LoadedCausal, count: int = 4) -> CausalDataset:
    """The first is without a strategy: the model chooses."""
    first, *others = talks(count)
    first = replace(first, prompt=replace(first.prompt, strategy=None))
    return CausalDataset([first, *others], found.layout)


def log_likelihood(found: LoadedCausal, prompt: list[int], draw: list[int], temperature: float) -> Any:
    """Token by token, each after all before it."""
    barred = [*found.layout.unwritable, *found.layout.strategy_tokens.values()]
    total: Any = 0.0
    for place, token in enumerate(draw):
        ids = torch.tensor([[*prompt, *draw[:place]]])
        logits = found.model.logits(found.model.hidden(ids).last_hidden_state[0, -1]) / temperature
        logits = logits.index_fill(0, torch.tensor(barred), -torch.inf)
        total = total + logits.log_softmax(-1)[token]
    return total


def gradients(found: LoadedCausal) -> dict[str, torch.Tensor]:
    given = {name: value.grad for name, value in found.model.learned().items() if value.grad is not None}
    found.model.zero_grad()
    return {name: value for name, value in given.items() if value.abs().max() > 0}


@pytest.mark.parametrize("at_once", [256, 3])  # all prompts together, and one after another
def test_the_gradient_is_that_of_brute_force(found, monkeypatch, at_once):
    monkeypatch.setattr(rewarded, "LEARNED_AT_ONCE", at_once)
    data, tutor = data_of(found), learner(found, temperature=0.7)
    drawn: list[Any] = []
    gains = np.random.default_rng(0).normal(size=(4, 3))
    monkeypatch.setattr(rewarded, "advantages", lambda earned: gains)
    draw = tutor.draw
    monkeypatch.setattr(
        tutor, "draw", lambda *given, **named: drawn.append(draw(*given, **named)) or drawn[-1]
    )
    torch.manual_seed(3)
    loss = tutor.step(data, range(4), [False, True, False, False], CPU, lambda part: part.backward())
    mine = gradients(found)

    prompts, draws = drawn[0]
    tokens = sum(len(each) for own in draws for each in own)
    expected: Any = 0.0
    for prompt, own, weights in zip(prompts, draws, gains, strict=True):
        for each, weight in zip(own, weights, strict=True):
            expected = expected - weight * log_likelihood(found, prompt, each, 0.7) / tokens
    expected.backward()
    theirs = gradients(found)
    assert float(loss) == pytest.approx(float(expected.detach()), rel=1e-4)
    assert mine.keys() == theirs.keys()
    assert any("lora_A" in name for name in mine)
    for name, value in mine.items():
        assert torch.allclose(value, theirs[name], rtol=1e-3, atol=1e-5), name


def test_a_strategy_is_given_and_learns_nothing(found):
    tutor = learner(found)
    torch.manual_seed(0)
    tutor.step(data_of(found), range(4), [False] * 4, CPU, lambda part: part.backward())
    assert "strategy_head.weight" not in gradients(found)


def test_prompts_end_with_the_persons_strategy_or_the_models(found):
    data, tutor = data_of(found), learner(found)
    first = found.layout.first_strategy
    prompts, draws = tutor.draw(data, range(4), [False, True, False, False], CPU, count=2)
    assert [prompt[-1] - first for prompt in prompts[1:]] == [1, 2, 3]
    assert 0 <= prompts[0][-1] - first < len(STRATEGIES)
    assert prompts[1][:-1] == [*data.heads[1], *data.tails[1]]
    assert prompts[2][:-1] == [*data.heads[2], *data.personas[2], *data.tails[2]]
    barred = {*found.layout.unwritable, *found.layout.strategy_tokens.values()}
    end = found.layout.tokenizer.end
    for draw in (draw for own in draws for draw in own):
        assert 1 <= len(draw) <= 6
        assert not barred & set(draw)
        assert end not in draw[:-1]


def test_draws_are_as_frequent_as_they_are_likely(found):
    """The first token of a reply, and the second after the likeliest first, behind a prompt with padding."""
    data, tutor = data_of(found, 2), learner(found, longest=2, temperature=0.5)
    prompts, draws = tutor.draw(data, [0, 1, 1], [False, False, True], CPU, count=4000)
    with torch.inference_mode():
        for prompt, own in zip(prompts, draws, strict=True):
            starts = np.bincount([draw[0] for draw in own], minlength=found.layout.words)
            likely = int(starts.argmax())
            chance = float(log_likelihood(found, prompt, [likely], 0.5).exp())
            assert starts[likely] / len(own) == pytest.approx(chance, abs=0.04)
            then = [draw[1] for draw in own if draw[0] == likely and len(draw) > 1]
            if len(then) > 200:
                second = int(np.bincount(then).argmax())
                pair = float(log_likelihood(found, prompt, [likely, second], 0.5).exp())
                assert then.count(second) / len(own) == pytest.approx(pair, abs=0.04)


def test_the_merged_copy_says_the_same_and_follows_the_weights(found):
    ids = torch.tensor([[5, 9, 20, found.layout.first_strategy + 1, 40]])
    with torch.inference_mode():
        copied = merge(found.model.eval(), None, CPU)
        for value in found.model.learned().values():
            value.add_(0.01)
        assert merge(found.model, copied, CPU) is copied
        mine, theirs = (model.logits(model.hidden(ids).last_hidden_state) for model in (copied, found.model))
    assert torch.allclose(mine, theirs, atol=1e-3)


def test_what_is_rewarded_is_said_more_often(found, monkeypatch):
    """A reward for one word, whatever the person wrote."""
    data, tutor = data_of(found, 8), learner(found, draws=8, longest=4)
    wanted = found.layout.tokenizer.encode_many([" lost"])[0][0]

    def share(texts: Any) -> Any:
        return np.array([[text.count("lost") for text in own] for own in texts], float)

    monkeypatch.setattr(rewarded, "rewards", lambda texts, gold, options: share(texts))
    optimizer = torch.optim.AdamW(list(found.model.learned().values()), lr=1e-2)

    def said() -> float:
        torch.manual_seed(99)
        _, draws = tutor.draw(data, range(8), [False] * 8, CPU, count=32)
        return float(np.mean([token == wanted for own in draws for draw in own for token in draw]))

    before = said()
    for step in range(40):
        torch.manual_seed(step)
        tutor.step(data, range(8), [False] * 8, CPU, lambda part: part.backward())
        optimizer.step()
        optimizer.zero_grad()
    assert before < 0.1
    assert said() > before + 0.3


@pytest.fixture
def recipe(tmp_path: Path, base: Path) -> Callable[..., Recipe]:
    write_support_corpora(tmp_path / "data")
    small = (
        f'data.root="{tmp_path / "data"}"', "data.sample=0", "model.start=", f'model.pretrained="{base}"',
        "model.rank=8", "model.alpha=16", "limits.context_tokens=200", "limits.response_tokens=24",
        "limits.persona_sentences=2", "reward.draws=2", "reward.longest=8", "training.batch=8", "training.max_steps=4",
        "training.evaluate_every=2",
    )  # fmt: skip

    def read(*changes: str) -> Recipe:
        return read_recipe(RECIPE, [*small, *changes])

    return read


def make(recipe: Recipe, folder: Path) -> CausalTask:
    task = make_task(recipe, folder)
    assert isinstance(task, CausalTask)
    return task


def test_training_measures_the_reward_and_changes_the_adapter_alone(recipe, tmp_path):
    wanted = recipe()
    task = make(wanted, tmp_path)
    before = {name: value.clone() for name, value in task.model.state_dict().items()}
    metrics = train(task, wanted, tmp_path / "run")
    assert 0 <= metrics["reward"] <= 1.5
    assert 0 < metrics["drawn_distinct_2"] <= 100
    changed = {
        name for name, value in task.model.state_dict().items() if not torch.equal(value, before[name])
    }
    assert changed == set(task.causal.learned())


def test_the_same_seed_gives_the_same_weights(recipe, tmp_path):
    weights = []
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        wanted = recipe(f"training.seed={seed}")
        train(make(wanted, tmp_path / name), wanted, tmp_path / name)
        weights.append((tmp_path / name / WEIGHTS).read_bytes())
    assert weights[0] == weights[1] != weights[2]


def test_a_resumed_run_ends_with_the_same_weights(recipe, tmp_path):
    wanted = recipe("training.save_every=2", "model.dropout=0.2")
    expect_the_same_end(make, wanted, tmp_path, stop_after=3)


def test_a_measure_does_not_depend_on_when_it_is_taken(recipe, tmp_path):
    task = make(recipe(), tmp_path)
    first = task.evaluate(CPU)
    torch.manual_seed(77)
    assert task.evaluate(CPU) == first


def test_without_draws_nothing_is_rewarded(recipe, tmp_path):
    found = make(recipe("reward.draws=0"), tmp_path).evaluate(CPU)
    assert "reward" not in found


def test_a_draw_is_no_longer_than_a_reply_may_be(found):
    assert learner(found, longest=500).longest == LIMITS.response_tokens


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("reward.draws=1", r"recipe: reward.draws must be 0 \(no rewards\) or at least 2 .*, got 1"),
        ("reward.draw=4", "recipe: unknown key reward.draw; did you mean 'draws'"),
        ("reward.temperature=0", "recipe: reward.temperature must be above 0, got 0.0"),
    ],
)
def test_a_wrong_recipe_is_one_sentence(recipe, tmp_path, change, sentence):
    with pytest.raises(AllearsError, match=sentence):
        make(recipe(change), tmp_path)


def test_a_recipe_that_draws_nothing_cannot_be_chosen_by_its_reward(recipe, tmp_path):
    wanted = recipe("reward.draws=0", "training.max_steps=1")
    with pytest.raises(AllearsError, match=r"training.metric 'reward' is not measured by this task"):
        train(make(wanted, tmp_path), wanted, tmp_path / "run")
