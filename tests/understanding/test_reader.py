"""The reader: one pass for all heads, rationales where they stand, a folder that is loaded again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from allears.conversation import Role, Turn
from allears.corpora.heads import head, strategy_reading
from allears.errors import AllearsError
from allears.evaluation.understanding import evaluate_understanding
from allears.models.reader import saved
from allears.models.reader.reader import Reader
from allears.text.layout import Limits
from allears.text.reading import Reading
from allears.text.reading_layout import NOT_ASKED, ReadingTokens, rationale_marks, token_spans
from allears.training.understanding.dataset import ReadingDataset
from allears.training.understanding.encoder_classifier import EncoderClassifier
from allears.training.understanding.losses import label_loss, rationale_loss
from tiny_models import tiny_encoder, tiny_selector, tiny_tokenizer

NAMES = ("ed-emotion", "goemotions", "epitome-explorations")
LIMITS = Limits(context_tokens=24, first_turn_tokens=10, turn_tokens=10)
SEEKER, SUPPORTER = Role.SEEKER, Role.SUPPORTER
PAIR = Reading((Turn(SEEKER, "my cat is lost"), Turn(SUPPORTER, "so sorry. tell me")), ("1",), ("so sorry",))


def reader(folder: Path, **options) -> saved.TorchReader:
    torch.manual_seed(0)
    encoder = tiny_encoder()
    card = saved.ReaderCard(
        {name: head(name).labels for name in NAMES},
        LIMITS,
        encoder.config,
        {"multi_label": ["goemotions"], "rationales": ["epitome-explorations"], **options},
        {"ed-emotion": 2.0},
    )
    return saved.TorchReader(saved.build(card, encoder), card, tiny_tokenizer(folder))


def test_all_heads_come_from_one_pass_of_the_encoder(tmp_path: Path):
    read = reader(tmp_path)
    passes = []
    read.model.encoder.register_forward_hook(lambda *_: passes.append(1))
    answers = read.read([Turn(SEEKER, "my cat is lost")], k=2)
    assert len(passes) == 1
    assert list(answers) == list(NAMES)
    for name, likely in answers.items():
        assert {label for label, _ in likely} <= set(head(name).labels)
        assert [p for _, p in likely] == sorted((p for _, p in likely), reverse=True)


def test_reading_all_heads_agrees_with_asking_one(tmp_path: Path):
    read = reader(tmp_path)
    turns = (Turn(SEEKER, "my cat is lost"),)
    asked = read.probabilities(head("ed-emotion"), [Reading(turns)])[0]
    label, likely = read.read(turns, k=1)["ed-emotion"][0]
    assert likely == pytest.approx(asked.max(), abs=1e-6)
    assert label == head("ed-emotion").labels[asked.argmax()]


def test_answers_do_not_depend_on_the_company(tmp_path: Path):
    read = reader(tmp_path)
    readings = [Reading((Turn(SEEKER, "my " * count + "cat"),)) for count in range(1, 9)]
    together = read.logits("ed-emotion", readings, batch=3)
    alone = np.concatenate([read.logits("ed-emotion", [reading]) for reading in readings])
    assert together == pytest.approx(alone, abs=1e-5)


def test_the_temperature_cools_the_probabilities(tmp_path: Path):
    read = reader(tmp_path)
    logits = read.logits("ed-emotion", [PAIR])
    expected = np.exp(logits / 2) / np.exp(logits / 2).sum()
    assert read.probabilities(head("ed-emotion"), [PAIR]) == pytest.approx(expected, abs=1e-6)


def test_a_head_that_was_not_trained_is_answered_by_its_base_or_refused(tmp_path: Path):
    read = reader(tmp_path)
    whole = read.probabilities(head("ed-emotion"), [PAIR])
    assert read.probabilities(head("ed-polarity"), [PAIR]).sum() == pytest.approx(1)
    assert read.probabilities(head("ed-emotion-cut"), [PAIR]).tolist() == whole.tolist()
    with pytest.raises(AllearsError, match="was not trained for the head strategy; it has ed-emotion, "):
        read.probabilities(head("strategy"), [PAIR])


def test_labels_in_another_order_are_refused(tmp_path: Path):
    read = reader(tmp_path)
    read.card = replace(read.card, heads={**read.card.heads, "ed-emotion": head("ed-emotion").labels[::-1]})
    with pytest.raises(AllearsError, match="gives other labels"):
        read.probabilities(head("ed-emotion"), [PAIR])


@pytest.mark.parametrize("text", ["", " ", "😀😀", "我很难过", "cat " * 25_000, "\x00"])
def test_odd_texts_are_read(tmp_path: Path, text: str):
    answers = reader(tmp_path).read([Turn(SEEKER, text)])
    assert all(np.isfinite(likely) for labels in answers.values() for _, likely in labels)


def test_nothing_said_at_all_is_read(tmp_path: Path):
    assert len(reader(tmp_path).read([])) == len(NAMES)


def test_a_shown_strategy_changes_what_is_read(tmp_path: Path):
    read = reader(tmp_path)
    plain = Reading((Turn(SUPPORTER, "tell me"),))
    shown = Reading((Turn(SUPPORTER, "tell me", strategy="Question"),))
    assert not np.allclose(read.logits("ed-emotion", [plain]), read.logits("ed-emotion", [shown]))


def test_what_was_done_so_far_stands_first_and_is_never_dropped_for_turns(tmp_path: Path):
    tokenizer = tiny_tokenizer(tmp_path)
    told = strategy_reading(
        [Turn(SEEKER, "my cat is lost"), Turn(SUPPORTER, "tell me", strategy="Question")] * 20
    )
    summary = tokenizer.encode_many([told.so_far or ""])[0]
    for room in (8, 12, 60):
        kept = summary[: min(LIMITS.turn_tokens, room // 2 - 1)]
        ((ids, segments),) = ReadingTokens([told], tokenizer, replace(LIMITS, context_tokens=room)).rows
        assert ids[: len(kept) + 2] == [tokenizer.start, *kept, tokenizer.end]
        assert set(segments[: len(kept) + 2]) == {1}
        assert len(kept) + 3 < len(ids) <= room


@pytest.mark.parametrize("room", [3, 4])
def test_a_context_too_small_for_both_reads_the_turn(tmp_path: Path, room: int):
    tokenizer = tiny_tokenizer(tmp_path)
    limits = replace(LIMITS, context_tokens=room)
    turns = (Turn(SEEKER, "my cat is lost"),)
    asked = (strategy_reading(turns), Reading(turns))
    first, second = ReadingTokens(asked, tokenizer, limits).rows
    assert first == second


def test_rationales_are_marked_on_the_tokens_of_the_response_alone(tmp_path: Path):
    data = ReadingDataset(
        [PAIR], head("epitome-explorations").labels, tiny_tokenizer(tmp_path), LIMITS, rationales=True
    )
    # [CLS] my cat is lost [SEP] so sorry . tell me [SEP]
    assert data.marks_of([0])[0].tolist() == [NOT_ASKED] * 6 + [1, 1, 0, 0, 0] + [NOT_ASKED]
    assert data.inputs([0]).ids.shape == data.marks_of([0]).shape


def test_a_cut_response_keeps_its_own_marks(tmp_path: Path):
    limits = Limits(context_tokens=24, first_turn_tokens=10, turn_tokens=2)
    data = ReadingDataset([PAIR], ("0", "1", "2"), tiny_tokenizer(tmp_path), limits, rationales=True)
    assert data.marks_of([0])[0].tolist() == [NOT_ASKED] * 6 + [1, 1] + [NOT_ASKED]
    short = Limits(context_tokens=5, first_turn_tokens=10, turn_tokens=10)  # the end of the response alone
    data = ReadingDataset([PAIR], ("0", "1", "2"), tiny_tokenizer(tmp_path), short, rationales=True)
    assert data.marks_of([0])[0].tolist() == [NOT_ASKED, 0, 0, 0, NOT_ASKED]


def test_a_rationale_that_is_not_in_the_response_marks_nothing(tmp_path: Path):
    spans = token_spans(tiny_tokenizer(tmp_path), "so sorry")
    assert rationale_marks(spans, "so sorry", ["never said"]) == [0, 0]
    assert rationale_marks([], "", ["never said"]) == []


def test_pointed_tokens_come_back_as_written(tmp_path: Path):
    read = reader(tmp_path)
    tokens = read.tokenizer.encode_many(["sorry . me"])[0]

    def point(module, inputs, output):  # at the tokens "sorry", "." and "me", wherever they stand
        ids = data.inputs([0]).ids[0]
        return torch.where(torch.isin(ids, torch.tensor(tokens)), 5.0, -5.0)[None, :, None]

    pair = replace(PAIR, turns=(PAIR.turns[0], Turn(SUPPORTER, "So Sorry. Tell me")))
    data = ReadingDataset([Reading(pair.turns)], (), read.tokenizer, LIMITS)
    read.model.pointers["epitome-explorations"].register_forward_hook(point)
    assert read.rationales("epitome-explorations", pair) == ["Sorry.", "me"]


def test_pointing_is_scored_by_the_tokens_of_the_response(tmp_path: Path):
    read = reader(tmp_path)
    pointer = read.model.pointers["epitome-explorations"]
    with torch.no_grad():
        pointer.weight.zero_()
        pointer.bias.fill_(1.0)  # at everything: 2 of 5 tokens are the rationale, F1 = 4 / 7
    exploring = head("epitome-explorations")
    assert read.rationale_scores(exploring, [PAIR]) == pytest.approx([400 / 7])
    report = evaluate_understanding(read, exploring, [PAIR, PAIR])
    assert report.flat()["rationale_f1"] == pytest.approx(400 / 7)
    assert (
        "rationale_f1"
        not in evaluate_understanding(read, head("ed-emotion"), [replace(PAIR, labels=("sad",))]).flat()
    )
    with pytest.raises(
        AllearsError, match="not trained to point at the rationales of epitome-interpretations"
    ):
        read.rationale_scores(head("epitome-interpretations"), [PAIR])


def test_losses_by_hand():
    logits = torch.tensor([[0.0, 0.0]])
    gold = torch.tensor([[1.0, 0.0]])
    half = float(np.log(2))
    assert float(label_loss(logits, gold, multi_label=False)) == pytest.approx(half)
    assert float(label_loss(logits, gold, multi_label=True)) == pytest.approx(2 * half)
    sure = torch.tensor([[20.0, -20.0]])
    assert float(label_loss(sure, gold, multi_label=False)) == pytest.approx(0, abs=1e-4)
    assert float(label_loss(sure, gold, multi_label=False, smoothing=0.2)) == pytest.approx(4.0, abs=1e-3)
    marks = torch.tensor([[NOT_ASKED, 1, 0]])
    assert float(rationale_loss(torch.tensor([[50.0, 20.0, 0.0]]), marks)) == pytest.approx(
        half / 2, abs=1e-4
    )
    assert float(rationale_loss(torch.zeros(1, 2), torch.tensor([[NOT_ASKED, NOT_ASKED]]))) == 0


def test_uncertainty_weighs_each_heads_loss():
    model = Reader(tiny_encoder(), {"a": 2, "b": 2}, uncertainty=True)
    loss = torch.tensor(3.0)
    assert model.weighted(loss, "a").item() == pytest.approx(3.0)
    with torch.no_grad():
        model.log_variance[1] = 2.0
    assert model.weighted(loss, "b").item() == pytest.approx(3 * np.exp(-2) + 1)
    assert Reader(tiny_encoder(), {"a": 2}).weighted(loss, "a") is loss


def test_a_saved_reader_answers_the_same(tmp_path: Path):
    read = reader(tmp_path / "tokenizer", hidden=8, uncertainty=True)
    saved.save(tmp_path / "run" / "best", read.model, read.card, read.tokenizer)
    again = saved.load(tmp_path / "run")
    assert again.card.temperatures == {"ed-emotion": 2.0}
    turns = [Turn(SEEKER, "my cat is lost")]
    assert again.read(turns) == read.read(turns)
    assert saved.is_reader(tmp_path / "run")


def test_a_heads_classifier_gives_what_the_reader_gives(tmp_path: Path):
    read = reader(tmp_path)
    classifier = EncoderClassifier.of(read, "ed-emotion")
    expected = read.probabilities(head("ed-emotion"), [Reading((Turn(SEEKER, "my cat"),))])
    assert classifier.predict_proba(["my cat"]) == pytest.approx(expected)
    with pytest.raises(AllearsError, match="not trained for the head strategy"):
        EncoderClassifier.of(read, "strategy")


def test_what_is_wrong_with_a_folder_is_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match=r"no model\.json here"):
        saved.load(tmp_path)
    tiny_selector(tmp_path / "ranker")
    assert not saved.is_reader(tmp_path / "ranker")
    with pytest.raises(AllearsError, match="this is no reader"):
        saved.load(tmp_path / "ranker")
    read = reader(tmp_path / "tokenizer")
    folder = tmp_path / "run"
    saved.save(folder, read.model, read.card, read.tokenizer)
    (folder / "model.safetensors").write_bytes(b"half a file")
    with pytest.raises(AllearsError, match="the checkpoint is corrupt"):
        saved.load(folder)
    card = json.loads((folder / "model.json").read_text())
    for broken in ("{", "[]", json.dumps({"kind": "reader"}), json.dumps(card | {"colour": "red"})):
        (folder / "model.json").write_text(broken)
        with pytest.raises(AllearsError, match=r"model\.json: not a reader's card"):
            saved.load(folder)
