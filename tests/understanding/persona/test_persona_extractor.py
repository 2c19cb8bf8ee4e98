"""The extractor: it learns to say what was told, alone or in company, saved or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from persona_models import learned_extractor, tellings

from allears.errors import AllearsError
from allears.models.extractor import saved
from allears.models.extractor.saved import TorchExtractor
from allears.personas.wording import persona_sentences

EXAMPLES = tellings(32)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> TorchExtractor:
    """An extractor that has learned 32 tellings by heart."""
    return learned_extractor(tmp_path_factory.mktemp("learned"), EXAMPLES)


def own_words(text: str) -> list[str]:
    return [sentence.lower() for sentence in persona_sentences(text)]


@pytest.mark.parametrize("beam", [1, 3])
def test_what_was_learned_by_heart_is_said_again(learned: TorchExtractor, beam: int) -> None:
    extractor = TorchExtractor(learned.model, learned.card, learned.tokenizer, beam=beam)
    found = extractor.extract([each.utterance for each in EXAMPLES])
    for each, sentences in zip(EXAMPLES, found, strict=True):
        assert [sentence.lower() for sentence in sentences] == own_words(each.persona)


def test_padding_and_batch_mates_change_nothing(learned: TorchExtractor) -> None:
    texts = [each.utterance for each in EXAMPLES]
    alone = [learned.extract([text])[0] for text in texts[:8]]
    assert learned.extract(texts)[:8] == alone
    one_by_one = [float(learned.tells([text])[0]) for text in texts[:8]]
    assert learned.tells(texts)[:8].tolist() == pytest.approx(one_by_one, abs=1e-5)


def test_the_gate_keeps_questions_out(learned: TorchExtractor) -> None:
    likely = learned.tells([each.utterance for each in EXAMPLES])
    assert all((value > 0.5) == bool(each.persona) for value, each in zip(likely, EXAMPLES, strict=True))


def test_nothing_is_told_without_words(learned: TorchExtractor) -> None:
    assert learned.extract(["", "   ", "🙂🙂", "?!"]) == [(), (), (), ()]
    assert learned.extract([]) == []


def test_any_text_has_an_answer(learned: TorchExtractor) -> None:
    texts = ["猫が好きです。", "i have a boat. " * 3000, "\x00\ufffd", "a" * 5000]
    found = learned.extract(texts)
    assert len(found) == 4
    assert all(isinstance(sentence, str) for sentences in found for sentence in sentences)


def test_a_saved_extractor_says_the_same(learned: TorchExtractor, tmp_path: Path) -> None:
    saved.save(tmp_path / "best", learned.model, learned.card, learned.tokenizer)
    again = saved.load(tmp_path)
    texts = [each.utterance for each in EXAMPLES[:8]]
    assert again.extract(texts) == learned.extract(texts)
    assert again.card == learned.card
    assert saved.is_extractor(tmp_path)


def test_other_folders_are_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AllearsError, match=r"no model\.json here"):
        saved.load(tmp_path)
    (tmp_path / "model.json").write_text('{"kind": "reader"}')
    assert not saved.is_extractor(tmp_path)
    with pytest.raises(AllearsError, match="no persona extractor"):
        saved.load(tmp_path)
    (tmp_path / "model.json").write_text('{"kind": "persona-extractor", "lengths": {"x": 1}}')
    with pytest.raises(AllearsError, match="not a persona extractor's card"):
        saved.load(tmp_path)
