"""Cutting text into tokens, the same in training and at run time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from allears.errors import AllearsError
from allears.text.tokenizer import WordPiece, WordVocabulary, words


def saved_tokenizer(folder: Path, *names: str) -> Path:
    backend = Tokenizer(WordLevel({name: i for i, name in enumerate(names)}, unk_token=names[-1]))
    backend.pre_tokenizer = Whitespace()
    backend.enable_padding(length=10)
    backend.enable_truncation(2)
    backend.save(str(folder / "tokenizer.json"))
    return folder


def test_words_are_lower_cased_and_punctuation_stands_alone() -> None:
    assert words("I'm SO glad!! Ünder_score 42") == [
        "i",
        "'",
        "m",
        "so",
        "glad",
        "!",
        "!",
        "ünder_score",
        "42",
    ]


def test_the_vocabulary_keeps_frequent_words_in_a_stable_order() -> None:
    texts = ["b a b c", "a b d d"]
    vocabulary = WordVocabulary(minimum_count=2).fit(texts)
    assert vocabulary.words_ == [*WordVocabulary.SPECIAL, "b", "a", "d"]
    assert WordVocabulary(minimum_count=2).fit(reversed(texts)).words_ == vocabulary.words_
    assert WordVocabulary(minimum_count=1, maximum_size=1).fit(texts).words_[4:] == ["b"]
    assert vocabulary.size == 7


def test_unknown_words_share_one_id_and_no_special_tokens_are_added() -> None:
    vocabulary = WordVocabulary(minimum_count=1).fit(["so glad"])
    assert vocabulary.encode_many(["so sad", ""]) == [[5, vocabulary.unknown], []]


@given(st.lists(st.text()))
def test_a_restored_vocabulary_reads_any_text_alike(texts: list[str]) -> None:
    vocabulary = WordVocabulary(minimum_count=1).fit(texts)
    assert WordVocabulary().restore(vocabulary.words_).encode_many(texts) == vocabulary.encode_many(texts)
    assert all(4 <= token < vocabulary.size for row in vocabulary.encode_many(texts) for token in row)


def test_a_pretrained_tokenizer_neither_pads_nor_cuts_nor_adds_anything(tmp_path: Path) -> None:
    tokenizer = WordPiece(saved_tokenizer(tmp_path, "[PAD]", "[CLS]", "[SEP]", "sun", "[UNK]"))
    assert (tokenizer.pad, tokenizer.start, tokenizer.end, tokenizer.size) == (0, 1, 2, 5)
    assert tokenizer.encode_many(["sun sun moon sun", ""]) == [[3, 3, 4, 3], []]


def test_robertas_names_for_the_special_tokens_are_known_too(tmp_path: Path) -> None:
    tokenizer = WordPiece(saved_tokenizer(tmp_path, "<s>", "<pad>", "</s>", "[UNK]") / "tokenizer.json")
    assert (tokenizer.start, tokenizer.pad, tokenizer.end) == (0, 1, 2)


def test_a_folder_without_a_usable_tokenizer_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AllearsError, match=r"tokenizer.json: no tokenizer.json here; give the folder"):
        WordPiece(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(AllearsError, match=r"not a tokenizer.json"):
        WordPiece(tmp_path)
    with pytest.raises(AllearsError, match=r"none of the special tokens \[PAD\], <pad>"):
        WordPiece(saved_tokenizer(tmp_path, "[CLS]", "[SEP]", "[UNK]"))


def test_half_a_character_is_an_unknown_one_and_moves_no_other(tmp_path: Path) -> None:
    tokenizer = WordPiece(saved_tokenizer(tmp_path, "[PAD]", "[CLS]", "[SEP]", "so", "glad", "[UNK]"))
    assert tokenizer.encode_many(["so \ud83d glad"]) == [[3, 5, 4]]
    assert tokenizer.offsets("so \ud83d glad") == [(0, 2), (3, 4), (5, 9)]
