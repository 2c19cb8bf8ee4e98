"""What generators write, how likely they find what others wrote, and what changes neither."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from generator_models import LIMITS, dataset_for, learn, small_generator, talks

from allears.conversation import Role, Turn
from allears.decoding import PAL_ALPHAS, PAL_SETTINGS, Settings
from allears.errors import AllearsError
from allears.models.generation import saved
from allears.models.generation.loading import load_generator
from allears.models.generation.torch_generator import TorchGenerator
from allears.runtime.generator import STRATEGIES, ChoosesStrategy, Prompt

GREEDY = Settings(method="greedy")
NAMES = ["pal", "joint", "hard_prompt", "misc"]


@pytest.fixture(params=NAMES)
def generator(request, tmp_path) -> TorchGenerator:
    return small_generator(tmp_path, request.param)


def free(examples) -> list[Prompt]:
    return [replace(example.prompt, strategy=None) for example in examples]


@pytest.mark.parametrize(
    ("name", "own_words"), [("pal", False), ("pal", True), ("joint", False), ("hard_prompt", False)]
)
def test_what_was_learned_by_heart_is_written(tmp_path, name, own_words):
    examples = talks(16)
    generator = learn(small_generator(tmp_path, name, own_words=own_words), examples)
    found = generator.generate(free(examples), GREEDY, alphas=PAL_ALPHAS.all(0))
    assert [each[0].text.lower() for each in found] == [example.response.lower() for example in examples]
    assert [each[0].strategy for each in found] == [example.prompt.strategy for example in examples]
    likely = generator.log_likelihood(
        [example.prompt for example in examples], [example.response for example in examples]
    )
    assert sum(each.log_probability for each in likely) / sum(each.tokens for each in likely) > -0.1


def test_sentences_begin_with_a_capital_and_the_person_is_i(tmp_path):
    example = replace(talks(1)[0], response="so sorry. i am near. what happened?")
    generator = learn(small_generator(tmp_path, "joint"), [example], steps=60)
    assert generator.generate(free([example]), GREEDY)[0][0].text == "So sorry. I am near. What happened?"


def test_mates_and_their_padding_change_nothing(generator):
    prompts = [*free(talks(6)), Prompt((Turn(Role.SEEKER, "hello"),)), talks(1)[0].prompt]
    seeds = list(range(len(prompts)))
    together = generator.generate(prompts, PAL_SETTINGS, seeds, count=2)
    likely = generator.log_likelihood(prompts, ["so sorry about your cat."] * len(prompts))
    chosen = generator.strategies(prompts)
    for place, prompt in enumerate(prompts):
        alone = generator.generate([prompt], PAL_SETTINGS, [seeds[place]], count=2)[0]
        assert [each.text for each in alone] == [each.text for each in together[place]]
        assert [each.log_probability for each in alone] == pytest.approx(
            [each.log_probability for each in together[place]], abs=1e-3
        )
        again = generator.log_likelihood([prompt], ["so sorry about your cat."])[0]
        assert again.log_probability == pytest.approx(likely[place].log_probability, abs=1e-4)
        assert dict(generator.strategies([prompt])[0]) == pytest.approx(dict(chosen[place]), abs=1e-5)


def test_the_same_seed_writes_the_same_and_another_something_else(generator):
    prompts, settings = free(talks(4)), Settings(temperature=2.0)
    first, again = generator.generate(prompts, settings, 3), generator.generate(prompts, settings, 3)
    assert first == again
    assert first != generator.generate(prompts, settings, 4)


def test_a_prescribed_strategy_is_kept_and_decides_what_follows(generator):
    prompts = [replace(talks(1)[0].prompt, strategy=strategy) for strategy in STRATEGIES]
    found = generator.generate(prompts, PAL_SETTINGS, count=3)
    assert [{each.strategy for each in texts} for texts in found] == [{strategy} for strategy in STRATEGIES]
    likely = generator.log_likelihood(prompts, ["so sorry."] * len(prompts))
    assert {each.tokens for each in likely} == {4}  # three and the end: the strategy is given
    assert len({round(each.log_probability, 3) for each in likely}) > 1


def test_chosen_strategies_are_the_models_own(generator):
    assert isinstance(generator, ChoosesStrategy)
    prompts = free(talks(5))
    found = generator.generate(prompts, GREEDY, alphas=PAL_ALPHAS.all(0))
    for written, ranked in zip(found, generator.strategies(prompts), strict=True):
        assert written[0].strategy == ranked[0][0]
        assert sum(share for _, share in ranked) == pytest.approx(1)
        assert sorted(name for name, _ in ranked) == sorted(STRATEGIES)


def test_cached_steps_are_the_whole_at_once(generator):
    examples = talks(4)
    batch = dataset_for(generator, examples).batch(range(4))
    model, decoder = generator.module.eval(), generator.model.decoder
    with torch.inference_mode():
        table = decoder.table(model.encoder)
        memory = model.read(batch.context, batch.persona)
        whole, _ = decoder.likelihood(batch.targets, memory, table)
        state, tokens = tuple(decoder.begin(memory, table)), torch.full((4,), decoder.start)
        for place, column in enumerate(batch.targets.unbind(1)):
            likely, state = decoder.step(tokens, state, table)
            expected = likely.gather(1, column[:, None])[:, 0]
            torch.testing.assert_close(whole[:, place], expected, atol=1e-4, rtol=1e-4)
            tokens = column


@pytest.mark.parametrize("sentences", [0, 1, 100])
def test_any_number_of_persona_sentences_is_fine(generator, sentences):
    prompt = replace(
        free(talks(1))[0], persona=tuple(f"i have a cat {number}." for number in range(sentences))
    )
    assert generator.generate([prompt], GREEDY)[0][0].strategy in STRATEGIES


def test_of_a_long_persona_the_latest_is_read(generator):
    talk = free(talks(1))[0]
    old, new = tuple(["i am from oslo."] * 50), tuple(["i love my cat."] * 4)
    read = [replace(talk, persona=(*old, *new)), replace(talk, persona=new)]
    first, second = generator.log_likelihood(read, ["so sorry."] * 2)
    assert first.log_probability == pytest.approx(second.log_probability, abs=1e-5)


def test_a_prompt_longer_than_the_model_is_shortened(generator):
    long = tuple(
        Turn(Role.SEEKER if number % 2 else Role.SUPPORTER, "i lost my cat in oslo " * 40)
        for number in range(30)
    )
    found = generator.generate([Prompt(long, ("i have a very long story " * 50,) * 20), Prompt(())], GREEDY)
    assert all(each[0].strategy in STRATEGIES for each in found)


def test_a_response_longer_than_the_model_says_so(generator):
    prompt = talks(1)[0].prompt
    short, long = generator.log_likelihood([prompt] * 2, ["so sorry.", "so sorry. " * 20])
    assert (short.tokens, short.cut) == (4, False)
    assert (long.tokens, long.cut) == (LIMITS.response_tokens, True)


def test_replies_are_no_longer_than_the_model_can_write(generator):
    found = generator.generate(free(talks(3)), Settings(method="greedy", longest=500, shortest=400))
    assert all(each[0].text for each in found)


def test_alpha_moves_a_reply_towards_the_persona(tmp_path):
    generator = small_generator(tmp_path)
    prompts = [example.prompt for example in talks(8) if PAL_ALPHAS.of(str(example.prompt.strategy))]
    plain = generator.generate(prompts, GREEDY, alphas=PAL_ALPHAS.all(0))
    table, strong = (
        generator.generate(prompts, GREEDY, alphas=alphas) for alphas in (None, PAL_ALPHAS.all(3))
    )
    assert plain != table
    assert table != strong


def test_alpha_without_a_second_branch_is_one_sentence(tmp_path):
    generator = small_generator(tmp_path, "joint")
    with pytest.raises(AllearsError, match="has no branch without persona, so alpha can only be 0; use pal"):
        generator.generate(free(talks(1)), alphas=PAL_ALPHAS)


def test_alpha_out_of_range_is_one_sentence():
    with pytest.raises(AllearsError, match="must lie between 0 and 5"):
        PAL_ALPHAS.all(-0.5)


def test_an_unknown_strategy_is_one_sentence():
    with pytest.raises(AllearsError, match="there is no strategy 'Singing'; there are: Question, "):
        Prompt((), strategy="Singing")


def test_the_persona_matters_to_those_who_read_it(generator):
    talk = talks(1)[0].prompt
    other = replace(talk, persona=("i sold my house in cairo.",))
    first, second = generator.log_likelihood([talk, other], ["so sorry."] * 2)
    assert (first.log_probability == pytest.approx(second.log_probability, abs=1e-6)) is (
        generator.card.name in ("joint", "misc")
    )


def test_a_saved_generator_writes_the_same(generator, tmp_path):
    saved.save(tmp_path / "run", generator.module, generator.card, generator.tokenizer)
    again = load_generator(tmp_path / "run")
    assert again.generate(free(talks(4)), PAL_SETTINGS, 1) == generator.generate(
        free(talks(4)), PAL_SETTINGS, 1
    )


def test_what_cannot_be_opened_is_one_sentence(tmp_path):
    for name, sentence in (
        (tmp_path / "nowhere", "no such generator"),
        (tmp_path, "no model.json here"),
    ):
        with pytest.raises(AllearsError, match=sentence):
            load_generator(name)
    (tmp_path / "bundle.json").write_text("{}")
    with pytest.raises(AllearsError, match="format None, but this version of allears reads format 1"):
        load_generator(tmp_path)


def test_the_contract_needs_no_torch():
    import subprocess
    import sys

    code = (
        "import sys; import allears.runtime.generator, allears.runtime.prompt_layout, "
        "allears.models.generation.examples, "
        "allears.runtime.spelling, allears.evaluation.generation, allears.models.generation.loading; "
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_run_opens_in_an_install_without_a_bundle(tmp_path, monkeypatch):
    def none_here() -> None:
        raise AllearsError("this install carries no default bundle")

    monkeypatch.setattr("allears.runtime.bundle.default_bundle", none_here)
    generator = small_generator(tmp_path, "joint")
    saved.save(tmp_path / "run", generator.module, generator.card, generator.tokenizer)
    assert load_generator(tmp_path / "run").card.name == "joint"
    with pytest.raises(AllearsError, match="carries no default bundle"):
        load_generator("default")
