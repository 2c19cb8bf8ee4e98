"""Words as MoEL and MIME cut them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.text.paper_words import CONTRACTIONS, paper_words, plain_text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't know, that's it.", "i do not know , that is it ."),
        ("She shouldn't have; he'll see!", "she should n't have ; he 'll see !"),
        ("It’s my brother's well-known song...", "it is my brother 's well-known song ..."),
        ("200,000 at 3:30 for $5", "200,000 at 3:30 for $ 5"),
        ("(really) :-)", "( really ) : - )"),
        ("", ""),
    ],
)
def test_a_text_is_cut_like_the_papers_do(text: str, words: str) -> None:
    assert paper_words(text) == words.split()


@pytest.mark.parametrize("short", CONTRACTIONS)
def test_contractions_are_written_out(short: str) -> None:
    assert paper_words(f"well {short} so") == ["well", *CONTRACTIONS[short].split(), "so"]


@given(st.text())
def test_no_letter_is_lost_and_no_word_holds_a_space(text: str) -> None:
    words = paper_words(text)
    assert all(word and not any(map(str.isspace, word)) for word in words)
    if "'" not in text and "’" not in text and "‘" not in text and "…" not in text:
        quotes = str.maketrans("“”", '""')
        assert "".join(words) == "".join(text.translate(quotes).lower().split())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("oh no ! i am sorry , are you ok ?", "Oh no! I am sorry, are you ok?"),
        ("it is john 's , is n't it ?", "It is john's, isn't it?"),
        ("i said ( twice ) no ...", "I said (twice) no..."),
    ],
)
def test_words_become_text_again(words: str, text: str) -> None:
    assert plain_text(words.split()) == text
