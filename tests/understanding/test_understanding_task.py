"""Training a reader: batches, resuming, what is measured, what is saved, and every sentence of a wrong recipe."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from torch import nn

from allears.conversation import Role, Turn
from allears.corpora.heads import strategy_reading
from allears.errors import AllearsError
from allears.models.reader import saved
from allears.nn.low_rank import low_rank
from allears.nn.stored_matrices import stored_matrices
from allears.text.reading import Reading
from allears.training.export.ranker import export
from allears.training.loop import train
from allears.training.recipe import Recipe, read_recipe
from allears.training.safety.harmless import embedded
from allears.training.tasks import make_task
from allears.training.understanding.task import UnderstandingTask, batches_per_head, some_bare
from allears.training.workers import Workers
from made_up_corpora import EPITOME_HEADER, csv_text
from resuming import expect_the_same_end
from tiny_models import tiny_selector

HEADS = '["ed-emotion", "ed-emotion-turns", "epitome-explorations"]'


def write_epitome(root: Path) -> None:
    """60 pairs; whoever asks explores."""
    for mechanism in ("emotional-reactions", "interpretations", "explorations"):
        rows = []
        for number in range(60):
            asks = number % 2 == 0
            response = f"why did it fall on day {number}?" if asks else f"i see, day {number}."
            level = "2" if asks and mechanism == "explorations" else "0"
            rows.append(
                [f"p{number}", f"r{number}", f"it fell {number}.", response, level, "why|" if asks else ""]
            )
        (root / "epitome").mkdir(exist_ok=True)
        (root / "epitome" / f"{mechanism}-reddit.csv").write_text(csv_text(EPITOME_HEADER, *rows))


@pytest.fixture
def recipe_file(tmp_path: Path, corpus_root: Path, tiny_encoder: Path) -> Path:
    write_epitome(corpus_root)
    path = tmp_path / "recipe.toml"
    path.write_text(f"""task = "understanding"
[data]
root = "{corpus_root}"
[heads]
names = {HEADS}
[model]
encoder = "{tiny_encoder}"
[training]
epochs = 3
batch = 8
learning_rate = 2e-3
metric = "accuracy"
""")
    return path


@pytest.fixture
def recipe(recipe_file: Path) -> Callable[..., Recipe]:
    return lambda *changes: read_recipe(recipe_file, changes)


def make(recipe: Recipe, folder: Path) -> UnderstandingTask:
    task = make_task(recipe, folder)
    assert isinstance(task, UnderstandingTask)
    return task


def test_a_head_has_batches_by_the_root_of_its_size():
    assert batches_per_head([400, 100], 10, 0.5) == [33, 17]  # twice as many for four times the readings
    assert batches_per_head([400, 100], 10, 1.0) == [40, 10]
    assert batches_per_head([400, 100], 10, 0.0) == [25, 25]
    assert batches_per_head([1_000_000, 1], 10, 1.0)[1] == 1  # nobody is left out


def test_batches_stay_within_a_head_and_follow_from_seed_and_epoch(recipe, tmp_path):
    task, again = make(recipe(), tmp_path), make(recipe(), tmp_path)
    for epoch in range(3):
        assert task.batches(epoch) == again.batches(epoch)
        for batch in task.batches(epoch):
            assert len(batch) == 8
            assert len(set(np.searchsorted(task.firsts, batch, side="right"))) == 1
    assert task.batches(0) != task.batches(1)
    assert make(recipe("training.seed=2"), tmp_path).batches(0) != task.batches(0)


def test_the_danger_head_alone_learns_cases_and_ordinary_talk_beside_its_own(recipe, tmp_path, monkeypatch):
    asked = {}

    def everyday(split, count, seed, *, root):
        asked.update(split=split, count=count)
        return ["the bus was late"] * count

    monkeypatch.setattr("allears.training.safety.harmless.everyday_messages", everyday)
    names = ('heads.names=["danger", "whose", "ed-emotion"]', "data.train_limit=20", "data.single=4")
    plain = make(recipe(*names), tmp_path)
    task = make(recipe(*names, "data.embedded=6", "data.talk=8", "data.ordinary=3"), tmp_path)
    assert asked == {"split": "train", "count": 3}
    assert [len(data) for data in plain.train] == [24, 20, 20]
    assert [len(data) for data in task.train] == [24 + 6 + 8 + 3, 20, 20]
    added = task.train[0].readings[24:]
    assert [reading.label == "none" for reading in added[:6]] == [True, False] * 3
    assert {reading.label for reading in added[6:]} == {"none"}
    assert [reading.text for reading in added[14:]] == ["the bus was late"] * 3
    assert [len(data) for data in task.valid] == [len(data) for data in plain.valid]


def test_a_case_in_a_long_message_stands_among_ordinary_sentences():
    def case(text: str, label: str) -> Reading:
        return Reading((Turn(Role.SEEKER, text),), (label,))

    cases = [case("I have the rope.", "suicide"), case("A skipping rope.", "none")]
    cases.append(Reading((Turn(Role.SEEKER, "So."), Turn(Role.SEEKER, "Never one of several.")), ("none",)))
    sentences = ["We had soup.", "The dog barked.", "It rained all day."]
    found = embedded(cases, sentences, 40, seed=3)
    assert Counter(reading.label for reading in found) == {"none": 20, "suicide": 20}
    for reading in found:
        (turn,) = reading.turns
        said = "I have the rope." if reading.label == "suicide" else "A skipping rope."
        beside = [sentence for sentence in sentences if sentence in turn.text]
        assert said in turn.text
        assert 1 <= len(beside) <= 3
        assert len(turn.text) == len(said) + sum(len(sentence) + 1 for sentence in beside)
    assert len({reading.text for reading in found}) > 10
    assert embedded(cases, sentences, 40, seed=3) == found
    assert embedded(cases, [], 5, seed=3) == []


def test_hidden_tokens_change_what_a_step_sees_and_nothing_that_is_measured(recipe, tmp_path):
    task, hiding = make(recipe(), tmp_path), make(recipe("data.hidden=0.5"), tmp_path)
    shown = []
    for each in (task, hiding):
        each.model.register_forward_pre_hook(lambda _, inputs: shown.append(int(inputs[0].mask.sum())))
        each.step(each.batches(0)[0], 0, Workers(Accelerator(cpu=True)), lambda loss: None)
    assert 0 < shown[1] < shown[0]
    assert task.evaluate(torch.device("cpu")) == hiding.evaluate(torch.device("cpu"))


def test_every_reading_is_seen_about_equally_often_over_the_epochs(recipe, tmp_path):
    task = make(recipe(), tmp_path)
    seen = Counter(row for epoch in range(6) for batch in task.batches(epoch) for row in batch)
    for number, first in enumerate(task.firsts[:-1]):
        counts = [seen[row] for row in range(first, task.firsts[number + 1])]
        assert max(counts) - min(counts) <= 1


def test_training_learns_and_saves_a_calibrated_reader(recipe, tmp_path):
    wanted = recipe("training.epochs=30", 'heads.names=["ed-emotion"]')
    metrics = train(make(wanted, tmp_path / "run"), wanted, tmp_path / "run")
    assert metrics["accuracy"] == metrics["accuracy_ed-emotion"] > 60  # of 4 emotions
    reader = saved.load(tmp_path / "run")
    assert list(reader.card.heads) == ["ed-emotion"]
    assert 0.05 < reader.card.temperatures["ed-emotion"] < 20


def test_every_head_is_measured_and_the_metric_is_their_mean(recipe, tmp_path):
    task = make(recipe(), tmp_path)
    with torch.inference_mode():
        found = task.evaluate(torch.device("cpu"))
    own = [value for name, value in found.items() if name != "accuracy"]
    assert set(found) == {"accuracy", *(f"accuracy_{each.name}" for each in task.heads)}
    assert found["accuracy"] == pytest.approx(np.mean(own))


def test_a_resumed_run_ends_with_the_same_weights(recipe, tmp_path):
    wanted = recipe("training.save_every=5")
    expect_the_same_end(make, wanted, tmp_path, stop_after=12)


def learned_at_rank(recipe, tmp_path: Path, *changes: str) -> tuple[UnderstandingTask, Path]:
    wanted = recipe("model.rank=2", "training.epochs=4", "training.learning_rate=1e-2", *changes)
    task = make(wanted, tmp_path / "run")
    train(task, wanted, tmp_path / "run")
    return task, tmp_path / "run"


def test_at_a_rank_every_matrix_learns_a_change_of_it_and_vectors_learn_whole(recipe, tmp_path):
    before = make(recipe(), tmp_path / "plain").model.encoder.state_dict()
    _, run = learned_at_rank(recipe, tmp_path)
    after = saved.load(run).model.encoder.state_dict()
    assert after.keys() == before.keys()
    for name, weight in after.items():
        change = weight - before[name]
        if "embeddings" in name and weight.dim() > 1:
            assert torch.equal(weight, before[name]), name
        elif weight.dim() > 1:
            cut = low_rank(change, 2)
            assert change.norm() > 1e-3 * before[name].norm(), name
            assert (change - cut.up @ cut.down).norm() < 1e-4 * change.norm(), name
    biases = [name for name in after if name.endswith("dense.bias")]
    assert all(not torch.equal(after[name], before[name]) for name in biases)


def test_a_run_at_a_rank_is_saved_as_the_reader_it_became(recipe, tmp_path):
    task, run = learned_at_rank(
        recipe, tmp_path, "training.evaluate_every=1000"
    )  # the last step's is the best
    reader = saved.load(run)
    trained = saved.TorchReader(task.model, task.card, task.tokenizer)
    for head, data in zip(task.heads, task.valid, strict=True):
        expected = trained.logits(head.name, data.readings)
        np.testing.assert_allclose(reader.logits(head.name, data.readings), expected, atol=1e-5)


def test_a_run_at_a_rank_resumes_to_the_same_weights(recipe, tmp_path):
    wanted = recipe("model.rank=2", "training.save_every=5", "training.average=0.9")
    expect_the_same_end(make, wanted, tmp_path, stop_after=12)
    whole, parts = (tmp_path / name / "best" / "model.safetensors" for name in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


def test_a_change_upon_a_bundle_begins_with_the_matrices_it_stores(recipe, tmp_path):
    ranker = tiny_selector(tmp_path / "ranker", similarity="cosine", pooled=True)
    export(ranker, tmp_path / "bundle")
    changes = (f'model.start="{tmp_path / "ranker"}"', f'model.read_with="{tmp_path / "bundle"}"')
    task = make(recipe("model.rank=2", "model.layers=1", *changes), tmp_path)
    stored = stored_matrices(tmp_path / "bundle")
    layers = {name: each for name, each in task.model.encoder.named_modules() if isinstance(each, nn.Linear)}
    assert len(layers) == 6
    for name, layer in layers.items():
        own = ranker.model.encoder.get_submodule(name).weight
        found = layer.weight.detach()
        np.testing.assert_array_equal(found, stored[name][:, : layer.in_features])
        assert 0 < (found - own).abs().max() < 0.02 * own.abs().max()  # rounded, and nothing else


def test_a_change_upon_a_bundle_goes_on(recipe, tmp_path):
    ranker = tiny_selector(tmp_path / "ranker", similarity="cosine", pooled=True)
    export(ranker, tmp_path / "bundle")
    upon = ("model.rank=2", "model.layers=1", f'model.read_with="{tmp_path / "bundle"}"')
    first = recipe(*upon, f'model.start="{tmp_path / "ranker"}"', "training.learning_rate=1e-2")
    train(make(first, tmp_path / "first"), first, tmp_path / "first")
    learned = saved.load(tmp_path / "first").model.encoder.state_dict()
    start = f'model.start="{tmp_path / "first"}"'
    again = make(recipe(*upon, start), tmp_path / "again").model.encoder.state_dict()
    goes_on = make(recipe(*upon, start, "model.go_on=true"), tmp_path / "on").model.encoder
    stored = stored_matrices(tmp_path / "bundle")
    layers = {name: each for name, each in goes_on.named_modules() if isinstance(each, nn.Linear)}
    for name, layer in layers.items():
        torch.testing.assert_close(layer.weight, learned[f"{name}.weight"], atol=1e-5, rtol=1e-4)
        # without it, it begins as stored
        first_weight = again[f"{name}.parametrizations.weight.original"]
        np.testing.assert_array_equal(first_weight, stored[name][:, : layer.in_features])
    for wrong in ("model.rank=0", "model.read_with="):
        with pytest.raises(AllearsError, match=r"model\.go_on needs model\.rank"):
            make(recipe(*upon, start, "model.go_on=true", wrong), tmp_path / "wrong")


def test_uncertainty_learns_the_weights_of_the_heads(recipe, tmp_path):
    wanted = recipe("heads.weighting=uncertainty", "training.epochs=1")
    task = make(wanted, tmp_path / "run")
    train(task, wanted, tmp_path / "run")
    assert task.model.log_variance is not None
    assert task.model.log_variance.abs().min() > 0
    assert saved.load(tmp_path / "run").card.options["uncertainty"] is True


def test_a_reader_can_share_a_rankers_encoder(recipe, recipe_file, tmp_path):
    ranker = tiny_selector(tmp_path / "ranker")
    text = recipe_file.read_text()
    encoder = next(line for line in text.splitlines() if line.startswith("encoder"))
    recipe_file.write_text(text.replace(encoder, f'start = "{tmp_path / "ranker"}"'))
    task = make(recipe(), tmp_path)
    for mine, theirs in zip(task.model.encoder.parameters(), ranker.model.encoder.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_a_reader_goes_on_from_a_reader_with_its_heads(recipe, recipe_file, tmp_path):
    first = make(recipe('heads.names=["ed-emotion"]'), tmp_path)
    first.save(tmp_path / "first")
    text = recipe_file.read_text()
    encoder = next(line for line in text.splitlines() if line.startswith("encoder"))
    recipe_file.write_text(text.replace(encoder, f'start = "{tmp_path / "first"}"'))
    second = make(recipe("training.seed=5"), tmp_path)
    assert torch.equal(
        first.model.heads["ed-emotion"][-1].weight, second.model.heads["ed-emotion"][-1].weight
    )


def test_the_fingerprint_follows_the_labels(recipe, corpus_root, tmp_path):
    before = make(recipe(), tmp_path).data_fingerprint
    path = corpus_root / "empatheticdialogues" / "train.csv"
    path.write_text(path.read_text().replace(",sad,", ",lonely,"))
    assert make(recipe(), tmp_path).data_fingerprint != before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("heads.names=[]", "needs at least one"),
        ('heads.names=["ed-emotoin"]', "unknown head 'ed-emotoin'; did you mean 'ed-emotion'"),
        ('heads.names=["topic", "topic"]', "a head twice"),
        ("heads.weighting=loud", "'size' or 'uncertainty', got 'loud'"),
        ("heads.naems=[]", "unknown key heads.naems; did you mean 'names'"),
        ("candidates.x=1", "unknown key candidates; the tables are data, heads, limits, model"),
        ("model.encoder=", r"\[model\] needs `encoder`"),
        ('heads.names=["strategy"]', "esconv"),
        ("model.rank=-1", "1 or more .* got -1"),
    ],
)
def test_a_wrong_recipe_is_one_sentence(recipe, tmp_path, change, sentence):
    with pytest.raises(AllearsError, match=sentence):
        make(recipe(change), tmp_path)


def test_a_frozen_encoder_has_no_rank_to_learn_at(recipe, tmp_path):
    with pytest.raises(AllearsError, match=r"leave model\.rank out"):
        make(recipe("model.rank=2", "model.frozen=true"), tmp_path)


def test_a_change_upon_what_is_no_bundle_of_that_encoder_is_refused(recipe, tmp_path):
    with pytest.raises(AllearsError, match="no such bundle"):
        make(recipe("model.rank=2", f'model.read_with="{tmp_path / "nowhere"}"'), tmp_path)
    export(tiny_selector(tmp_path / "ranker"), tmp_path / "bundle", precision="float32")
    changes = (f'model.start="{tmp_path / "ranker"}"', f'model.read_with="{tmp_path / "bundle"}"')
    with pytest.raises(AllearsError, match=r"no int8 matrix for model\.encoder\.layer\.0"):
        make(recipe("model.rank=2", *changes), tmp_path)


def test_a_start_without_an_encoder_is_refused(recipe, tmp_path):
    folder = tmp_path / "bow"
    from allears.models.selection import saved as selection
    from allears.text.layout import Limits
    from allears.text.tokenizer import WordVocabulary

    vocabulary = WordVocabulary(minimum_count=1).fit(["a b c"])
    card = selection.ModelCard("bow", {}, Limits(), vocabulary_size=vocabulary.size)
    selection.save(folder, selection.build(card), card, vocabulary)
    with pytest.raises(AllearsError, match="has no encoder to go on from"):
        make(recipe(f'model.start="{folder}"'), tmp_path)


def test_the_card_says_which_heads_give_several_labels_or_point(recipe, tmp_path):
    task = make(recipe(), tmp_path)
    task.save(tmp_path / "run")
    card = json.loads((tmp_path / "run" / "model.json").read_text())
    assert card["options"]["rationales"] == ["epitome-explorations"]
    assert card["options"]["multi_label"] == []
    shutil.rmtree(tmp_path / "run")


def test_a_frozen_encoder_reads_everything_once_and_stays_as_it_is(recipe, tmp_path, monkeypatch):
    wanted = recipe(
        "model.frozen=true", "model.hidden=16", "training.epochs=30", "training.learning_rate=1e-2"
    )
    task = make(wanted, tmp_path / "run")
    before = {name: value.clone() for name, value in task.model.encoder.state_dict().items()}
    direct = saved.TorchReader(task.model, task.card, task.tokenizer)
    monkeypatch.setattr(task.model.encoder, "forward", lambda *_: pytest.fail("the encoder was asked again"))
    metrics = train(task, wanted, tmp_path / "run")
    monkeypatch.undo()
    assert metrics["accuracy"] > 60
    for name, value in task.model.encoder.state_dict().items():
        assert torch.equal(value, before[name])
    first = task.heads[0]
    logits = direct.logits(first.name, task.valid[0].readings)  # through the encoder, the same answers
    assert task.model.answer(task.read[len(task.heads)].texts, [first.name]).logits[
        first.name
    ].detach().numpy() == (pytest.approx(logits, abs=2e-2))
    assert not task.model.pointers
    again = make(wanted, tmp_path / "run")  # what was read is kept
    assert torch.equal(again.read[0].texts, task.read[0].texts)


def test_some_strategy_readings_are_learned_as_the_listener_reads_them():
    told = strategy_reading([Turn(Role.SUPPORTER, "why?", strategy="Question"), Turn(Role.SEEKER, "so")] * 5)
    readings = [told] * 400
    mixed = some_bare(readings, 0.3, seed=1)
    bare = [reading for reading in mixed if reading is not told]
    assert 80 < len(bare) < 160
    assert {reading.text for reading in bare} == {"why? so why? so why? so"}
    assert some_bare(readings, 0.3, seed=1) == mixed
    assert some_bare(readings, 0.0, seed=1) == readings


def test_readings_of_other_heads_keep_what_they_show():
    pair = Reading((Turn(Role.SUPPORTER, "why?", strategy="Question"),), ("1",))
    assert some_bare([pair] * 50, 0.9, seed=1) == [pair] * 50
