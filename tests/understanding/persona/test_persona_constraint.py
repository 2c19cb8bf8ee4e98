"""No content word comes out that the source never said, whatever the model would like to write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from persona_models import small_talk_tokenizer

from allears.decoding import beam_search, greedy
from allears.errors import AllearsError
from allears.personas.constraint import Lexicon, SourceConstraint
from allears.personas.support import FRAMING_WORDS, unsupported_words
from allears.personas.wording import spell

SOURCES = [
    "oh, i went with my dogs to oslo-lima!",
    "working on two zyx boats",
    "nice 🙂 猫 don't",
    "we own a bakery; it's old",
]


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    return Lexicon(small_talk_tokenizer(Path(tmp_path_factory.mktemp("tokenizer"))))


def text_of(lexicon: Lexicon, tokens: tuple[int, ...], source: str) -> str:
    return spell([lexicon.tokenizer.backend.id_to_token(token) or "" for token in tokens], source)


def finite(lexicon: Lexicon, source: str, written: str) -> set[str]:
    """The tokens that may follow `written`."""
    ids = lexicon.tokenizer.encode_many([written])[0]
    row = SourceConstraint(lexicon, [source]).bias([0], [ids])[0]
    return {str(lexicon.tokenizer.backend.id_to_token(token)) for token in np.flatnonzero(row > -np.inf)}


@given(seed=st.integers(0, 10_000), wide=st.booleans())
@settings(max_examples=30, deadline=None)
def test_no_unseen_content_word_ever_comes_out(lexicon: Lexicon, seed: int, wide: bool) -> None:
    chance = np.random.default_rng(seed)
    constraint = SourceConstraint(lexicon, SOURCES, framing_price=0.0)

    def babble(
        tokens: np.ndarray, state: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        return chance.normal(size=(len(tokens), lexicon.size)) * 5, state

    start = np.zeros(len(SOURCES), np.int64)
    state = (np.zeros((len(SOURCES), 1)),)
    search = beam_search if wide else greedy
    found = search(babble, state, start, end=lexicon.tokenizer.end, limit=12, constraint=constraint)
    for source, written in zip(SOURCES, found, strict=True):
        assert written.tokens
        text = text_of(lexicon, written.tokens, source)
        # a word that the limit cut off is no word yet
        whole = text.rsplit(" ", 1)[0] if len(written.tokens) == 12 else text
        assert set(unsupported_words(whole, source)) <= set(FRAMING_WORDS)


def test_the_sources_words_and_their_inflections_may_be_written(lexicon: Lexicon) -> None:
    free = finite(lexicon, "i liked going home, my dogs live here", "i")
    assert {"like", "likes", "liked", "go", "going", "went", "dog", "lives", "living", "."} <= free
    assert {"cat", "oslo", "piano", "##er"}.isdisjoint(free)


def test_a_word_of_several_pieces_is_finished_as_it_was_said(lexicon: Lexicon) -> None:
    assert lexicon.tokenizer.backend.encode("zyx").tokens == ["z", "##y", "##x"]
    assert finite(lexicon, "a zyx", "a z") == {"##y"}
    assert "##x" in finite(lexicon, "a zyx", "a zy")
    assert "." not in finite(lexicon, "a zyx", "a zy")
    assert "." in finite(lexicon, "a zyx", "a zyx")


def test_framing_words_have_a_price_unless_they_were_said(lexicon: Lexicon) -> None:
    like = lexicon.tokenizer.backend.token_to_id("like")
    rows = SourceConstraint(lexicon, ["the boat", "i like the boat"], framing_price=3.0).bias(
        [0, 1], [[], []]
    )
    assert rows[:, like].tolist() == [-3.0, 0.0]


def test_something_is_written_before_the_end(lexicon: Lexicon) -> None:
    constraint, end = SourceConstraint(lexicon, ["the boat"]), lexicon.tokenizer.end
    boat = lexicon.tokenizer.encode_many(["boat"])[0]
    assert constraint.bias([0], [[]])[0, end] == -np.inf
    assert constraint.bias([0], [boat])[0, end] == 0


def test_a_vocabulary_without_word_pieces_is_refused(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models

    from allears.text.tokenizer import WordPiece

    words = {word: i for i, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "a"])}
    Tokenizer(models.WordLevel(words, unk_token="[PAD]")).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(AllearsError, match="WordPiece vocabulary"):
        Lexicon(WordPiece(tmp_path))
