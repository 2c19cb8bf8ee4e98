"""The papers' figures, on small data whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.heads import head
from allears.errors import AllearsError
from allears.evaluation.analyses.emotion_map import (
    classifier_vectors,
    emotion_map,
    mean_vectors,
    save_map_picture,
)
from allears.evaluation.analyses.persona_empathy import relations, save_relations_picture
from allears.evaluation.analyses.strategy_curve import FrequencyModel, save_curve_picture, top_n_curve
from allears.evaluation.understanding import evaluate_understanding
from allears.labels import ED_EMOTIONS, POLARITY_OF, STRATEGIES
from allears.models.reader.loading import ClassifierModel
from allears.text.reading import Reading


def strategy_readings(*names: str) -> list[Reading]:
    return [
        Reading((Turn(Role.SEEKER, "Hm."),), (name,), conversation=str(number))
        for number, name in enumerate(names)
    ]


def test_the_curve_rises_to_all_as_more_strategies_are_allowed():
    often, seldom = STRATEGIES[2], STRATEGIES[5]
    model = FrequencyModel(head("strategy"), strategy_readings(often, often, often, seldom))
    report = evaluate_understanding(
        model, head("strategy"), strategy_readings(often, seldom, often, STRATEGIES[0])
    )
    curve = top_n_curve(report)
    assert len(curve) == len(STRATEGIES)
    assert curve[:2] == (50, 75)
    assert curve[-1] == 100
    assert list(curve) == sorted(curve)


def test_the_curves_are_drawn(tmp_path: Path):
    path = tmp_path / "curve.png"
    save_curve_picture({"one": (30, 50, 70, 100), "two": (20, 40, 60, 100)}, "curves", path)
    assert path.stat().st_size > 5000
    with pytest.raises(AllearsError, match="a picture ends in"):
        save_curve_picture({"one": (30, 100)}, "curves", tmp_path / "curve.txt")


class Planar:
    """Texts are angles in degrees; their vectors point there."""

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def support(
    angle: int, empathy: float | None, final: float = 2, persona: tuple[str, ...] = ("0",)
) -> Conversation:
    survey = {"seeker_initial_emotion_intensity": 5.0, "seeker_final_emotion_intensity": final}
    return Conversation(
        f"{angle}",
        (Turn(Role.SEEKER, "90"), Turn(Role.SUPPORTER, str(angle)), Turn(Role.SUPPORTER, str(-angle))),
        {"seeker": Persona(tuple(map(PersonaSentence, persona)))} if persona else {},
        survey=survey if empathy is None else survey | {"seeker_empathy": empathy, "seeker_relevance": 3.0},
    )


def test_similarity_is_the_mean_cosine_of_replies_and_persona_and_the_trend_goes_through_the_means():
    talks = [
        support(60, 1),
        support(60, 1),
        support(90, 1),
        support(0, 3),
        support(60, None),
        support(60, 2, persona=()),
    ]
    found = relations(talks, Planar())
    assert set(found) == {"empathy"}  # relevance and intensity are the same for all: no line
    empathy = found["empathy"]
    assert empathy.similarities == pytest.approx([0.5, 0.5, 0, 1])
    assert empathy.means[1.0] == pytest.approx((1 / 3, 1 / 6, 3))
    slope, intercept, r2 = empathy.trend
    assert (slope, intercept, r2) == pytest.approx((1 / 3, 0, 1))  # two means lie on their line
    assert empathy.r2 == pytest.approx(np.corrcoef(empathy.scores, empathy.similarities)[0, 1] ** 2)
    assert empathy.flat()["empathy_conversations"] == 4


def test_the_drop_of_intensity_is_from_before_to_after(tmp_path: Path):
    talks = [support(angle, 3, final) for angle, final in ((80, 5), (60, 4), (30, 2), (10, 1), (5, 1))]
    found = relations(talks, Planar())
    assert found["intensity_drop"].scores.tolist() == [0, 1, 3, 4, 4]
    assert found["intensity_drop"].flat()["intensity_drop_slope"] > 0
    save_relations_picture(found, "a title", tmp_path / "relations.svg")
    assert (tmp_path / "relations.svg").stat().st_size > 5000


def test_a_corpus_without_personas_or_survey_is_one_sentence():
    with pytest.raises(AllearsError, match="0 conversations have a seeker's persona and survey scores"):
        relations([support(10, 1, persona=())], Planar())


def polar_vectors() -> np.ndarray:
    """Positive emotions on one side, negative on the other, each a little apart."""
    chance = np.random.default_rng(0)
    side = np.array([1.0 if POLARITY_OF[emotion] == "positive" else -1.0 for emotion in ED_EMOTIONS])
    vectors = chance.normal(0, 0.05, (len(ED_EMOTIONS), 6))
    vectors[:, 3] += side
    return vectors


def test_the_map_finds_the_polarities_whichever_way_the_vectors_point(tmp_path: Path):
    found = emotion_map(polar_vectors())
    assert found.neighbours == found.neighbours_in_plane == 100
    assert found.explained > 90
    positive = [POLARITY_OF[emotion] == "positive" for emotion in ED_EMOTIONS]
    assert ((found.points[:, 0] > 0) == positive).all()
    assert np.allclose(emotion_map(-polar_vectors()).points, found.points)
    assert list(found.flat()["points"]) == list(ED_EMOTIONS)
    save_map_picture(found, "a title", tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_vectors_that_say_nothing_of_polarity_are_near_chance():
    found = emotion_map(np.random.default_rng(1).normal(size=(len(ED_EMOTIONS), 40)))
    assert 20 < found.neighbours < 80
    with pytest.raises(ValueError, match="a vector for each of 32 emotions"):
        emotion_map(np.zeros((5, 3)))


class OneHot:
    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        return np.eye(len(ED_EMOTIONS), dtype=np.float32)[[ED_EMOTIONS.index(text) for text in texts]]


def test_an_encoders_emotion_is_the_mean_of_its_descriptions():
    readings = [Reading((Turn(Role.SEEKER, emotion),), (emotion,)) for emotion in ED_EMOTIONS]
    readings.append(Reading((Turn(Role.SEEKER, ED_EMOTIONS[1]),), (ED_EMOTIONS[0],)))
    vectors = mean_vectors(OneHot(), readings)
    assert vectors[0, :2] == pytest.approx([0.5, 0.5])
    assert vectors[1, :2] == pytest.approx([0, 1])
    with pytest.raises(AllearsError, match=f"no description here has the emotion '{ED_EMOTIONS[0]}'"):
        mean_vectors(OneHot(), readings[1:-1])


def test_fasttexts_rows_are_in_the_order_of_the_emotions():
    pytest.importorskip("fasttext")
    from allears.models.reader.fasttext_classifier import FastTextClassifier

    # the later in the alphabet, the more often: fastText's own order is the reverse
    texts = [(f"word{n} word{n}", emotion) for n, emotion in enumerate(ED_EMOTIONS) for _ in range(n + 1)]
    classifier = FastTextClassifier(labels=ED_EMOTIONS, size=20, epochs=30)
    classifier.fit([text for text, _ in texts], [emotion for _, emotion in texts])
    rows = classifier_vectors(ClassifierModel(classifier), head("ed-emotion"))
    words = np.stack([classifier.model_.get_sentence_vector(f"word{n} word{n}") for n in range(20, 32)])
    assert (words @ rows.T).argmax(axis=1).tolist() == list(range(20, 32))


def test_a_model_without_vectors_of_its_labels_is_one_sentence():
    pytest.importorskip("vaderSentiment")
    from allears.models.reader.sentiment import VaderSentiment

    with pytest.raises(AllearsError, match="no vectors of its labels"):
        classifier_vectors(ClassifierModel(VaderSentiment()), head("ed-emotion"))


def test_a_readers_vectors_are_its_heads_weights(tmp_path: Path):
    from allears.models.reader import saved
    from allears.text.layout import Limits
    from tiny_models import tiny_encoder, tiny_tokenizer

    encoder = tiny_encoder()
    card = saved.ReaderCard({"ed-emotion": ED_EMOTIONS}, Limits(), encoder.config)
    model = saved.build(card, encoder)
    reader = saved.TorchReader(model, card, tiny_tokenizer(tmp_path))
    rows = classifier_vectors(reader, head("ed-emotion"))
    assert rows.shape == (32, 32)
    assert np.allclose(rows, model.heads["ed-emotion"][-1].weight.detach().numpy())
    with pytest.raises(AllearsError, match="not trained for the head ed-emotion-turns"):
        classifier_vectors(reader, head("ed-emotion-turns"))
