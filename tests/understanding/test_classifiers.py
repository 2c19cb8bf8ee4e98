"""fastText, VADER and the encoder behind one interface: what they learn, and what they do with odd texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from allears.errors import AllearsError
from allears.models.reader.fasttext_classifier import FastTextClassifier
from allears.models.reader.sentiment import VaderSentiment
from allears.runtime.classifier import Classifier
from allears.training.understanding.encoder_classifier import EncoderClassifier

TEXTS = [f"i lost my {thing} today" for thing in ("cat", "dog", "job", "home")] * 6
TEXTS += [f"i won a {thing} today" for thing in ("cup", "game", "race", "prize")] * 6
LABELS = ["sad"] * 24 + ["very proud"] * 24  # a label may have a space
ODD = [
    "",
    "   ",
    "😀😀😀",
    "我很难过。",
    "мне грустно",
    "sad " * 25_000,
    "__label__1 __label__0",
    "a\nb\r\nc\x00",
]


@pytest.fixture(scope="module")
def fasttext() -> FastTextClassifier:
    pytest.importorskip("fasttext")
    return FastTextClassifier(epochs=20, size=16).fit(TEXTS, LABELS)


@pytest.fixture
def encoder(tiny_encoder: Path) -> EncoderClassifier:
    classifier = EncoderClassifier(str(tiny_encoder), epochs=6, batch=8, rate=5e-3, tokens=32)
    return classifier.fit(TEXTS, LABELS)


@pytest.fixture(params=["fasttext", "encoder", "vader"])
def classifier(request: pytest.FixtureRequest) -> Classifier:
    if request.param == "vader":
        pytest.importorskip("vaderSentiment")
        return VaderSentiment()
    return request.getfixturevalue(request.param)


def test_odd_texts_have_probabilities_too(classifier: Classifier):
    found = classifier.predict_proba(ODD)
    assert found.shape == (len(ODD), len(classifier.labels_))
    assert np.isfinite(found).all()
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert len(classifier.predict(ODD)) == len(ODD)


def test_no_texts_have_no_labels(classifier: Classifier):
    assert classifier.predict([]) == []
    assert classifier.predict_proba([]).shape == (0, len(classifier.labels_))


def test_top_k_gives_labels_and_probabilities_likeliest_first(classifier: Classifier):
    ((first, second),) = classifier.top_k(["i lost my cat"], 5)  # there are only two labels
    assert {first[0], second[0]} == set(classifier.labels_)
    assert first[1] >= second[1]
    assert first[1] + second[1] == pytest.approx(1.0)
    assert classifier.predict(["i lost my cat"]) == [first[0]]
    with pytest.raises(AllearsError, match="at least 1"):
        classifier.top_k(["i lost my cat"], 0)


@pytest.mark.parametrize("name", ["fasttext", "encoder"])
def test_what_was_learned_is_told_apart(name: str, request: pytest.FixtureRequest):
    learned = request.getfixturevalue(name)
    assert learned.labels_ == ("sad", "very proud")
    assert learned.predict(["i lost my dog", "i won a race"]) == ["sad", "very proud"]


def test_texts_and_labels_must_belong_together(classifier: Classifier):
    with pytest.raises(AllearsError, match="got 2 texts and 1 labels"):
        classifier.fit(["a", "b"], ["sad"])
    with pytest.raises(AllearsError, match="nothing to learn from"):
        classifier.fit([], [])


def test_fasttext_gives_the_same_model_for_the_same_seed(fasttext: FastTextClassifier):
    expected = fasttext.predict_proba(TEXTS).tolist()
    for _ in range(3):  # a small table would be whatever lay in memory before
        again = FastTextClassifier(epochs=20, size=16, buckets=10).fit(TEXTS, LABELS)
        assert again.predict_proba(TEXTS).tolist() == expected
    with pytest.raises(AllearsError, match="at least 2"):
        FastTextClassifier(word_ngrams=1)


def test_fasttext_does_not_care_how_the_texts_are_sorted():
    """By itself it reads from top to bottom and would remember the last label best."""
    pytest.importorskip("fasttext")
    labels = [str(number) for number in range(10) for _ in range(40)]
    texts = [f"well w{label} and so on and on" for label in labels]
    learned = FastTextClassifier(epochs=5, size=16).fit(texts, labels)
    assert learned.predict(texts[::40]) == labels[::40]


def test_fasttext_answers_with_the_labels_shares_where_it_knows_no_word():
    pytest.importorskip("fasttext")
    learned = FastTextClassifier(epochs=2, size=4).fit([*TEXTS[:24], "we won"], [*LABELS[:24], "glad"])
    assert learned.predict_proba(["", "我很难过", "😀"]) == pytest.approx(np.tile([1 / 25, 24 / 25], (3, 1)))


def test_fasttext_learns_several_labels_at_once():
    pytest.importorskip("fasttext")
    both = [("sad", "tired") if "cat" in text else ("sad",) for text in TEXTS[:24]]
    learned = FastTextClassifier(multi_label=True, epochs=60, size=8, learning_rate=0.5)
    tired = learned.fit(TEXTS[:24], both).predict_proba(["my cat", "my job"])[:, 1]
    assert learned.labels_ == ("sad", "tired")
    assert tired[0] > tired[1]


def test_fasttext_is_saved_and_loaded_with_its_labels(fasttext: FastTextClassifier, tmp_path: Path):
    fasttext.save(tmp_path / "kept")
    loaded = FastTextClassifier.load(tmp_path / "kept")
    assert loaded.labels_ == fasttext.labels_
    texts = [*TEXTS, ""]
    assert loaded.predict_proba(texts).tolist() == fasttext.predict_proba(texts).tolist()


def test_fasttext_says_what_is_wrong_with_a_folder(fasttext: FastTextClassifier, tmp_path: Path):
    with pytest.raises(AllearsError, match=r"no fasttext\.json here"):
        FastTextClassifier.load(tmp_path)
    fasttext.save(tmp_path)
    (tmp_path / "model.bin").write_bytes(b"not a model")
    with pytest.raises(AllearsError, match=r"model\.bin: fastText cannot read the model"):
        FastTextClassifier.load(tmp_path)
    (tmp_path / "fasttext.json").write_text("[1]")
    with pytest.raises(AllearsError, match="not a classifier's card"):
        FastTextClassifier.load(tmp_path)


def test_a_label_outside_the_given_ones_is_refused():
    pytest.importorskip("fasttext")
    with pytest.raises(AllearsError, match="unknown label 'very proud'; known are sad, glad"):
        FastTextClassifier(labels=["sad", "glad"]).fit(TEXTS, LABELS)


def test_an_unfitted_classifier_says_so(tmp_path: Path):
    with pytest.raises(AllearsError, match="call fit first"):
        FastTextClassifier().predict(["hello"])
    with pytest.raises(AllearsError, match="call fit first"):
        FastTextClassifier().save(tmp_path)
    with pytest.raises(AllearsError, match="call fit first"):
        EncoderClassifier().predict(["hello"])


def test_vader_tells_good_news_from_bad():
    pytest.importorskip("vaderSentiment")
    vader = VaderSentiment()
    assert vader.predict(["I love this, it is great!", "I hate this, it is awful."]) == [
        "positive",
        "negative",
    ]
    good, bad, nothing = vader.compound(["I love this!", "I hate this.", ""])
    assert good > 0 > bad
    assert nothing == 0
    with pytest.raises(AllearsError, match="unknown label 'sad'"):
        vader.fit(["a"], ["sad"])
