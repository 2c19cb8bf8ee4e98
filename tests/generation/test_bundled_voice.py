"""A generator in a bundle: on the ranker's encoder and its word table, as good as the torch one, no torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from generator_models import dataset_for, learn, small_generator, talk_tokenizer, talks

from allears.conversation import Role, Turn
from allears.decoding import PAL_ALPHAS, PAL_SETTINGS, Settings
from allears.errors import AllearsError
from allears.models.generation.loading import load_generator
from allears.models.generation.torch_generator import TorchGenerator
from allears.models.selection.saved import ModelCard, TorchSelector
from allears.models.selection.saved import build as build_ranker
from allears.runtime import onnx_weights
from allears.runtime.bundle import BundleCard, BundleFile
from allears.runtime.generator import STRATEGIES, ChoosesStrategy, Prompt
from allears.runtime.onnx_generator import OnnxGenerator, SourceStates
from allears.runtime.onnx_selector import OnnxSelector
from allears.text.layout import Limits
from allears.training.export.bundle import export_together
from allears.training.export.ranker import export
from allears.training.export.voice import add_voice

EXAMPLES = talks(16)
GREEDY = Settings(method="greedy")
STEP, MEMORY, MIX = "voice_step.onnx", "voice_memory.onnx", "voice_mix.onnx"
NAMES = ["pal", "joint", "hard_prompt"]
PROMPTS = [
    *(replace(example.prompt, strategy=None) for example in EXAMPLES[:5]),
    EXAMPLES[5].prompt,  # prescribes a strategy
    Prompt((Turn(Role.SEEKER, "hello"),)),  # of whom nothing is known
    replace(EXAMPLES[7].prompt, persona=("i have a boat.",)),
]


def ranker_beside(voice: TorchGenerator) -> TorchSelector:
    """A ranker on the generator's very encoder."""
    encoder = voice.model.encoder
    card = ModelCard("cobert", {}, Limits(context_tokens=48, persona_sentences=3), encoder=encoder.config)
    return TorchSelector(build_ranker(card, encoder), card, voice.tokenizer)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> TorchGenerator:
    return learn(small_generator(tmp_path_factory.mktemp("learned")), EXAMPLES)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, learned: TorchGenerator) -> Path:
    """Bundles in every precision, one whose files are small, and one without the voice."""
    folder = tmp_path_factory.mktemp("bundles")
    ranker = ranker_beside(learned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            onnx_weights, "SMALLEST_TABLE", 0
        )  # so that this small table is rounded as a large one is
        for precision in ("float32", "float16", "int8"):
            export_together(ranker, folder / precision, voice=learned, precision=precision)
        export_together(ranker, folder / "in pieces", voice=learned, largest_file=4096)
        export(ranker, folder / "ranker only")
    return folder


def bundled(voice: TorchGenerator, folder: Path, precision: str = "float32") -> OnnxGenerator:
    export_together(ranker_beside(voice), folder, voice=voice, precision=precision)
    return OnnxGenerator.from_bundle(folder, verify=True)


# --- the same replies


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("settings", [GREEDY, PAL_SETTINGS, Settings(method="beam", width=3)])
def test_float32_writes_what_torch_writes(tmp_path: Path, name: str, settings: Settings):
    # fresh weights: nothing here is likely, so that rounding would show
    voice = small_generator(tmp_path / "tokenizer", name, seed=3)
    bundle = bundled(voice, tmp_path / "bundle")
    seeds = list(range(len(PROMPTS)))
    expected, found = (each.generate(PROMPTS, settings, seeds) for each in (voice, bundle))
    assert [[one.text for one in each] for each in found] == [[one.text for one in each] for each in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine[0].strategy == theirs[0].strategy
        assert mine[0].log_probability == pytest.approx(theirs[0].log_probability, abs=1e-2)
    assert len({each[0].text for each in found}) > 3


def test_several_samples_and_groups_of_beams_are_those_of_torch(tmp_path: Path):
    voice = small_generator(tmp_path / "tokenizer", seed=4)
    bundle = bundled(voice, tmp_path / "bundle")
    for settings in (Settings(temperature=1.5), Settings(method="diverse", width=2)):
        expected, found = (each.generate(PROMPTS[:4], settings, 7, count=3) for each in (voice, bundle))
        assert [[one.text for one in each] for each in found] == [
            [one.text for one in each] for each in expected
        ]


@pytest.mark.parametrize("mixture", ["joined", "aligned"])
def test_both_mixtures_are_read_as_torch_reads_them(tmp_path: Path, mixture: str):
    voice = small_generator(tmp_path / "tokenizer", mixture=mixture, seed=5)
    bundle = bundled(voice, tmp_path / "bundle")
    data = dataset_for(voice, EXAMPLES[:1])
    context, persona, _, _ = data.batch([0])
    with torch.inference_mode():
        expected = voice.branches(context, persona)
    read = bundle._read([EXAMPLES[0].prompt])[0]
    found = bundle.mixed(read.context, read.persona, without=True)
    for row, memory in enumerate(expected):
        real = memory.mask[0].bool().numpy()
        assert (found.mask[row] == memory.mask[0].numpy()).all()
        assert (found.ids[row] * found.mask[row] == (memory.ids * memory.mask)[0].numpy()).all()
        np.testing.assert_allclose(found.states[row][real], memory.states[0].numpy()[real], atol=1e-4)


def test_every_step_has_the_models_probabilities(made: Path, learned: TorchGenerator):
    bundle = OnnxGenerator.from_bundle(made / "float32")
    decoder = learned.model.decoder
    context, persona, targets, _ = dataset_for(learned, EXAMPLES[:3]).batch([0, 1, 2])
    with torch.inference_mode():
        table = decoder.table(learned.model.encoder)
        memory = learned.model.read(context, persona)
        assert 0 in memory.mask  # there is padding
        expected: Any = tuple(decoder.begin(memory, table))
        given: Any = bundle.begin(SourceStates(*(part.numpy() for part in memory)))
        tokens = np.full(3, bundle.card.start)
        for column in targets.unbind(1):
            wanted, expected = decoder.step(torch.from_numpy(tokens), expected, table)
            found, given = bundle.step(tokens, given)
            np.testing.assert_allclose(found, wanted.numpy(), atol=2e-3)
            tokens = column.numpy()


def test_rows_that_share_a_source_write_what_they_write_alone(made: Path):
    bundle = OnnxGenerator.from_bundle(made / "float32")
    read = bundle._read([EXAMPLES[0].prompt])[0]
    both = bundle.begin(bundle.mixed(read.context, read.persona, without=True))
    shared = both.rows([0, 1, 0, 1, 0, 1])
    assert shared.source is both.source  # nothing was copied
    apart = both.rows([0, 0, 1])
    assert len(apart.ids) == 3
    first = np.array([5, 5, 9, 9, 11, 11])
    wanted, shared = bundle.step(first, shared)
    found, apart = bundle.step(first[[0, 2, 1]], apart)
    np.testing.assert_allclose(found, wanted[[0, 2, 1]], atol=1e-4)
    # and when some of them have ended
    left = shared.rows([2, 3])
    assert left.source is both.source
    wanted, _ = bundle.step(np.array([4, 4, 7, 7, 4, 4]), shared)
    found, _ = bundle.step(np.array([7, 7]), left)
    np.testing.assert_allclose(found, wanted[2:4], atol=1e-4)


@pytest.mark.parametrize("precision", ["int8", "float16", "float32"])
def test_two_branches_have_the_logits_of_equation_6(made: Path, precision: str):
    """By brute force: each branch in a search of its own. The weights' rounding is no excuse: the graph mixes what is
    computed behind it, so that only the last bits of float32 may differ."""
    bundle = OnnxGenerator.from_bundle(made / precision)
    read = bundle._read([EXAMPLES[0].prompt])[0]
    both = bundle.mixed(read.context, read.persona, without=True)
    alphas = PAL_ALPHAS.changed({"Information": 2.5})
    leanings = {0: 0.75, 1: 2.5, 2: 0.0}  # of the rows below
    names = ("Providing Suggestions", "Information", "Question")
    step, state, reorder = bundle._begin(read, alphas)
    state = reorder(state, [0, 0, 0])
    apart = [
        [bundle.begin(SourceStates(*(part[[branch]] for part in (both.states, both.ids, both.mask))))] * 3
        for branch in (0, 1)
    ]
    tokens = np.full(3, bundle.card.start)
    for place in range(5):
        found, state = step(tokens, state)
        for row in range(3):
            likely = []
            for branch in (0, 1):
                logits, apart[branch][row] = bundle.step(tokens[[row]], apart[branch][row])
                likely.append(logits[0].astype(np.float64))
            alpha = leanings[row] if place else 0.0  # until a strategy is written
            wanted = (1 + alpha) * likely[0] - alpha * likely[1]
            np.testing.assert_allclose(found[row], wanted, atol=1e-3)
            if alpha:  # copied words, too, are no longer those of the branch with the persona
                assert np.abs(wanted - likely[0]).max() > 0.05
        tokens = found.argmax(-1)
        if not place:
            tokens = np.array([bundle.vocabulary.strategies[name] for name in names])


def test_a_bundle_whose_graph_cannot_mix_branches_writes_the_same(made: Path, tmp_path: Path):
    folder = Path(shutil.copytree(made / "int8", tmp_path / "bundle"))
    graph = onnx.load(folder / STEP, load_external_data=False)
    mixing = next(node for node in graph.graph.node if "logits" in node.output)
    weighed = next(node for node in graph.graph.node if mixing.input[2] in node.output)
    graph.graph.node.append(onnx.helper.make_node("Add", [mixing.input[1], weighed.input[1]], ["logits"]))
    for node in (mixing, weighed):
        graph.graph.node.remove(node)
    graph.graph.input.remove(next(item for item in graph.graph.input if item.name == "mix"))
    onnx.save(graph, folder / STEP)
    whole = BundleCard.read(folder)
    replace(whole, files={**whole.files, STEP: BundleFile.of(folder / STEP)}).write(folder)
    old, new = OnnxGenerator.from_bundle(folder, verify=True), OnnxGenerator.from_bundle(made / "int8")
    for settings in (GREEDY, PAL_SETTINGS):
        found, expected = (each.generate(PROMPTS, settings, 3) for each in (old, new))
        assert [each[0].text for each in found] == [each[0].text for each in expected]


@pytest.mark.parametrize("precision", ["int8", "float16", "in pieces"])
def test_rounded_weights_still_say_what_was_learned_by_heart(made: Path, precision: str):
    bundle = OnnxGenerator.from_bundle(made / precision, verify=True)
    free = [replace(example.prompt, strategy=None) for example in EXAMPLES]
    found = bundle.generate(free, GREEDY, alphas=PAL_ALPHAS.all(0))
    assert [each[0].text.lower() for each in found] == [example.response.lower() for example in EXAMPLES]
    assert [each[0].strategy for each in found] == [example.prompt.strategy for example in EXAMPLES]


def test_likelihoods_and_strategies_are_those_of_torch(made: Path, learned: TorchGenerator):
    bundle = OnnxGenerator.from_bundle(made / "float32")
    assert isinstance(bundle, ChoosesStrategy)
    responses = ["so sorry about your cat.", "", "tell me. " * 30, *["what happened?"] * (len(PROMPTS) - 3)]
    for mine, theirs in zip(
        bundle.log_likelihood(PROMPTS, responses), learned.log_likelihood(PROMPTS, responses), strict=True
    ):
        assert (mine.tokens, mine.cut) == (theirs.tokens, theirs.cut)
        assert mine.log_probability == pytest.approx(theirs.log_probability, rel=1e-3, abs=1e-2)
    for own, their in zip(bundle.strategies(PROMPTS), learned.strategies(PROMPTS), strict=True):
        assert dict(own) == pytest.approx(dict(their), abs=1e-4)
        assert own[0][0] == their[0][0]


def test_no_prompts_have_no_replies(made: Path):
    bundle = OnnxGenerator.from_bundle(made / "int8")
    assert bundle.generate([]) == []
    assert bundle.log_likelihood([], []) == []
    assert bundle.strategies([]) == []


@pytest.mark.parametrize("sentences", [0, 1, 100])
def test_any_number_of_persona_sentences_and_any_length_is_fine(made: Path, sentences: int):
    bundle = OnnxGenerator.from_bundle(made / "int8")
    persona = tuple(f"i have a cat {number}." for number in range(sentences))
    said = Turn(Role.SEEKER, "i lost my boat in oslo. " * 300)
    (found,) = bundle.generate([Prompt((said,) * 30, persona)], GREEDY)
    assert found[0].strategy in STRATEGIES


def test_what_cannot_be_asked_for_is_one_sentence(made: Path, tmp_path: Path):
    with pytest.raises(AllearsError, match="there is no strategy 'Hugging'"):
        Prompt((Turn(Role.SEEKER, "hello"),), strategy="Hugging")
    with pytest.raises(AllearsError, match="must lie between 0 and 5"):
        PAL_ALPHAS.all(7)
    joint = bundled(small_generator(tmp_path / "tokenizer", "joint"), tmp_path / "bundle")
    assert not joint.has_branches
    with pytest.raises(AllearsError, match="has no branch without persona, so alpha can only be 0"):
        joint.generate(PROMPTS[:1], alphas=PAL_ALPHAS)


# --- one reading


def test_prompts_for_one_moment_are_read_once_and_written_together(
    made: Path, monkeypatch: pytest.MonkeyPatch
):
    bundle = OnnxGenerator.from_bundle(made / "int8")
    read: list[int] = []
    run = bundle.encoder.run
    monkeypatch.setattr(
        bundle.encoder, "run", lambda ids, *a, **k: read.append(len(ids)) or run(ids, *a, **k)
    )
    batches: list[int] = []
    step = bundle.step
    monkeypatch.setattr(
        bundle, "step", lambda tokens, *rest: batches.append(len(tokens)) or step(tokens, *rest)
    )
    moment = EXAMPLES[0].prompt
    prompts = [replace(moment, strategy=name) for name in ("Question", "Information", "Others")]
    found = bundle.generate(prompts, PAL_SETTINGS, [1, 2, 3])
    assert sum(read) == 2  # the dialogue and the persona
    assert batches[:2] == [6, 6]  # three proposals, both branches of each
    assert [texts[0].strategy for texts in found] == ["Question", "Information", "Others"]


def test_strategies_that_do_not_lean_on_the_persona_need_one_branch(
    made: Path, monkeypatch: pytest.MonkeyPatch
):
    bundle = OnnxGenerator.from_bundle(made / "float32")
    prompts = [replace(EXAMPLES[0].prompt, strategy=name) for name in ("Question", "Reflection of feelings")]
    assert not any(PAL_ALPHAS.of(str(prompt.strategy)) for prompt in prompts)
    with_information = [*prompts, replace(EXAMPLES[0].prompt, strategy="Information")]
    expected = bundle.generate(with_information, PAL_SETTINGS, [1, 2, 3])[:2]
    batches: list[int] = []
    step = bundle.step
    monkeypatch.setattr(
        bundle, "step", lambda tokens, *rest: batches.append(len(tokens)) or step(tokens, *rest)
    )
    assert [each[0].text for each in bundle.generate(prompts, PAL_SETTINGS, [1, 2])] == [
        each[0].text for each in expected
    ]
    assert max(batches) == 2


@pytest.mark.parametrize("settings", [GREEDY, PAL_SETTINGS])
def test_other_people_change_nothing(made: Path, settings: Settings):
    bundle = OnnxGenerator.from_bundle(made / "int8")
    seeds = list(range(len(PROMPTS)))
    together = bundle.generate(PROMPTS, settings, seeds, count=1)
    for place, prompt in enumerate(PROMPTS):
        assert bundle.generate([prompt], settings, [seeds[place]]) == [together[place]]


# --- one bundle


@pytest.mark.parametrize("precision", ["int8", "float16", "float32", "in pieces"])
def test_the_word_table_lies_in_the_encoders_files_only(made: Path, learned: TorchGenerator, precision: str):
    folder = made / precision
    rows = learned.model.decoder.words  # type: ignore[attr-defined]
    for name in (STEP, MEMORY):
        weights = onnx.load(folder / name, load_external_data=False).graph.initializer
        places = {
            entry.value for tensor in weights for entry in tensor.external_data if entry.key == "location"
        }
        assert any(place.startswith("encoder.onnx.data.") for place in places)
        own = [
            tensor
            for tensor in weights
            if not any(e.value.startswith("encoder") for e in tensor.external_data)
        ]
        assert not any(rows in tensor.dims and 32 in tensor.dims for tensor in own)


def test_no_file_of_weights_is_larger_than_asked_for(made: Path):
    files = BundleCard.read(made / "in pieces").files
    weights = {name: facts.bytes for name, facts in files.items() if ".data." in name}
    assert max(weights.values()) <= 4096
    assert sum(name.startswith(STEP) for name in weights) > 1


def test_adding_a_voice_leaves_the_rest_and_its_indexes_good(
    made: Path, learned: TorchGenerator, tmp_path: Path
):
    before = BundleCard.read(made / "ranker only")
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    after = add_voice(bundle, learned, largest_file=4096)
    assert after == BundleCard.read(bundle)
    assert after.fingerprint == before.fingerprint == OnnxSelector.from_bundle(bundle).fingerprint
    assert replace(after, files=before.files) == before
    assert all(BundleFile.of(bundle / name) == facts for name, facts in after.files.items())
    # another takes its place, and leaves nothing of the old one
    other = TorchGenerator(learned.module, replace(learned.card, context_turns=3), learned.tokenizer)
    again = add_voice(bundle, other)
    assert len(again.files) < len(after.files)
    assert {path.name for path in bundle.iterdir()} == {"bundle.json", *again.files}
    assert OnnxGenerator.from_bundle(bundle, verify=True).card.context_turns == 3
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]  # nothing is left lying about


def test_a_voice_that_comes_out_wrong_never_reaches_the_bundle(
    made: Path, learned: TorchGenerator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    step = OnnxGenerator.step
    monkeypatch.setattr(OnnxGenerator, "step", lambda self, tokens, state: step(self, tokens * 0, state))
    with pytest.raises(AllearsError, match="does not write as the model does"):
        add_voice(bundle, learned)
    assert not list(bundle.glob("voice*"))


def test_exporting_leaves_the_generator_as_it_was(learned: TorchGenerator, tmp_path: Path):
    before = {name: value.clone() for name, value in learned.module.state_dict().items()}
    export_together(ranker_beside(learned), tmp_path / "bundle", voice=learned)
    assert all(torch.equal(value, before[name]) for name, value in learned.module.state_dict().items())


def test_what_the_voice_is_stands_beside_it(made: Path, learned: TorchGenerator):
    said = json.loads((made / "int8" / "voice.json").read_text())
    assert said["name"] == "pal"
    assert said["limits"]["response_tokens"] == learned.card.limits.response_tokens
    assert (said["size"], said["layers"], said["heads"], said["context_turns"]) == (32, 2, 4, 4)
    assert said["words"] + len(STRATEGIES) + 1 == said["start"]  # behind the words and the strategies


# --- what does not belong together


def test_a_voice_on_another_encoder_is_refused(made: Path, learned: TorchGenerator, tmp_path: Path):
    other = small_generator(tmp_path / "other", seed=9)
    with pytest.raises(AllearsError, match="the voice's encoder has other weights than that of the ranker"):
        export_together(ranker_beside(learned), tmp_path / "new", voice=other)
    assert not (tmp_path / "new").exists()
    with pytest.raises(AllearsError, match=r"training.learning_rate = 0\.0"):
        add_voice(made / "ranker only", other)


def test_a_voice_with_another_tokenizer_is_refused(made: Path, learned: TorchGenerator, tmp_path: Path):
    tokenizer = talk_tokenizer(tmp_path / "tokenizer")
    tokenizer.backend.add_tokens(["kayak"])
    with pytest.raises(AllearsError, match="the voice cuts text into other tokens than"):
        add_voice(made / "ranker only", TorchGenerator(learned.module, learned.card, tokenizer))


def test_a_voice_with_words_of_its_own_is_refused(tmp_path: Path):
    voice = small_generator(tmp_path / "tokenizer", own_words=True)
    with pytest.raises(AllearsError, match=r"train it with model\.own_words = false"):
        export_together(ranker_beside(voice), tmp_path / "bundle", voice=voice)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"heads": 3}, "not a generator's card"),
        ({"layers": 3}, "of another decoder than voice.json says"),
        ({"words": 5}, "of another decoder than voice.json says"),
        ({"size": 64}, "for states of 64 numbers, its encoder makes 32"),
        ({"name": "oracle"}, "there is no generator 'oracle'"),
        ({"format": 7}, "format 7, but this version of allears reads format 1"),
    ],
)
def test_a_card_that_does_not_fit_is_one_sentence(made: Path, tmp_path: Path, change: dict, sentence: str):
    bundle = Path(shutil.copytree(made / "float32", tmp_path / "bundle"))
    card = json.loads((bundle / "voice.json").read_text()) | change
    text = json.dumps(card)
    (bundle / "voice.json").write_text(text)
    whole = BundleCard.read(bundle)
    replace(whole, files={**whole.files, "voice.json": BundleFile.of(bundle / "voice.json")}).write(bundle)
    with pytest.raises(AllearsError, match=sentence) as found:
        OnnxGenerator.from_bundle(bundle)
    assert "\n" not in str(found.value)


def test_a_bundle_is_opened_by_its_folder(made: Path):
    assert isinstance(load_generator(made / "int8"), OnnxGenerator)
    with pytest.raises(AllearsError, match="this bundle carries no generator"):
        load_generator(made / "ranker only")
    with pytest.raises(AllearsError, match="export RUN --voice GENERATOR_RUN"):
        OnnxGenerator.from_bundle(made / "ranker only")
    with pytest.raises(AllearsError, match="an ONNX bundle runs on the CPU"):
        load_generator(made / "int8", "cuda")


def test_the_bundled_voice_needs_no_torch(made: Path):
    code = (
        "import sys\n"
        "from allears.conversation import Role, Turn\n"
        "from allears.runtime.generator import Prompt\n"
        "from allears.models.generation.loading import load_generator\n"
        f"voice = load_generator({str(made / 'int8')!r})\n"
        "print(voice.generate([Prompt((Turn(Role.SEEKER, 'i lost my boat'),), ('i have a cat.',))])[0][0].strategy)\n"
        "assert not {'torch', 'transformers', 'pandas', 'onnx'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in STRATEGIES
