"""The label sets are those of the papers."""

from __future__ import annotations

from allears import labels


def test_the_sets_have_the_papers_sizes():
    assert len(labels.ED_EMOTIONS) == 32
    assert len(labels.ED_GROUPS) == 16
    assert len(labels.GO_EMOTIONS) == 28
    assert (len(labels.DAILY_ACTS), len(labels.DAILY_EMOTIONS)) == (4, 7)
    assert len(labels.INTENTS) == 9
    assert "neutral" in labels.INTENTS
    assert len(labels.STRATEGIES) == 8
    assert len(labels.TOPICS) == 20
    assert (len(labels.MECHANISMS), labels.LEVELS) == (3, ("0", "1", "2"))


def test_no_set_has_a_label_twice():
    for name in labels.__all__:
        found = getattr(labels, name)
        if isinstance(found, tuple):
            assert len(set(found)) == len(found), name


def test_every_emotion_is_in_one_group_and_on_one_side():
    assert set(labels.ED_GROUP_OF) == set(labels.ED_EMOTIONS) == set(labels.POLARITY_OF)
    assert set(labels.ED_GROUP_OF.values()) == set(labels.ED_GROUPS)
    assert labels.ED_GROUP_OF["terrified"] == labels.ED_GROUP_OF["afraid"]


def test_mime_has_13_positive_and_19_negative_emotions():
    assert (len(labels.POSITIVE), len(labels.NEGATIVE)) == (13, 19)
    assert set(labels.POSITIVE) <= set(labels.ED_EMOTIONS)
    assert labels.POLARITY_OF["surprised"] == "positive"
    assert labels.POLARITY_OF["nostalgic"] == "negative"
