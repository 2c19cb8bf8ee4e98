"""METEOR by hand, and as NLTK computes it, with WordNet and without."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from allears.errors import AllearsError
from allears.metrics import meteor as module
from allears.metrics.meteor import has_synonyms, meteor


@pytest.fixture
def without_wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that has never heard of NLTK's data, whatever this one has."""
    monkeypatch.setattr(module, "_synonyms", module._NoSynonyms)


@pytest.mark.usefixtures("without_wordnet")
def test_by_hand() -> None:
    # 2 of 3 words match, of 4 there: P = 2/3, R = 1/2; in one piece: penalty 0.5 (1/2)^3
    precision, recall = 2 / 3, 2 / 4
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert meteor(["the cat ran"], ["the cat is here"]) == pytest.approx(100 * mean * (1 - 0.5 / 8))


@pytest.mark.usefixtures("without_wordnet")
def test_stems_match_and_case_does_not_matter() -> None:
    exact = meteor(["i was walking home"], ["i was walking home"])
    assert meteor(["I was walks home"], ["i was walking home"]) == pytest.approx(exact)
    assert meteor(["i was happy home"], ["i was walking home"]) < exact


@pytest.mark.usefixtures("without_wordnet")
def test_it_is_the_mean_over_replies_and_nothing_in_common_is_0() -> None:
    same = meteor(["good luck"], ["good luck"])
    assert meteor(["good luck", "yes"], ["good luck", "no"]) == pytest.approx(same / 2)
    assert meteor(["", "yes"], ["no", ""]) == 0
    assert not has_synonyms()


def test_synonyms_match_where_wordnet_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    class WordNet:
        """The two words that matter. (NLTK asks for stems, so they are their own.)"""

        def synsets(self, word: str) -> list[Any]:
            lemma = SimpleNamespace(name=lambda: "auto")
            return [SimpleNamespace(lemmas=lambda: [lemma])] if word == "car" else []

    monkeypatch.setattr(module, "_synonyms", module._NoSynonyms)
    plain = meteor(["i sold my car"], ["i sold my auto"])
    monkeypatch.setattr(module, "_synonyms", WordNet)
    assert has_synonyms()
    same = meteor(["i sold my auto"], ["i sold my auto"])
    assert meteor(["i sold my car"], ["i sold my auto"]) == pytest.approx(same)
    assert plain < same


def test_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: Any, **options: Any) -> Any:
        raise AssertionError("METEOR opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    module._synonyms.cache_clear()
    assert meteor(["i am glad"], ["i am happy"]) > 0


def test_without_nltk_the_error_names_the_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk.translate", None)
    with pytest.raises(AllearsError, match=r'pip install "allears\[train\]"'):
        meteor(["a"], ["a"])


def test_every_hypothesis_needs_a_reference() -> None:
    with pytest.raises(ValueError, match="got 2 and 1"):
        meteor(["a", "b"], ["a"])
