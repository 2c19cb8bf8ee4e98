"""Ways of decoding by name, and with changes."""

from __future__ import annotations

import pytest

from allears.decoding import DECODINGS, PAL_SETTINGS, Settings, decoding
from allears.errors import AllearsError


@pytest.mark.parametrize("name", DECODINGS)
def test_a_name_is_its_settings(name: str):
    assert decoding(name) == DECODINGS[name]


def test_sample_is_pals():
    assert decoding("sample") == PAL_SETTINGS


def test_changes_follow_the_name():
    assert decoding("beam-5, length_penalty=3") == Settings(
        method="beam", width=5, longest=30, length_penalty=3.0
    )
    hot = decoding("sample,temperature=0.9,top_k=none")
    assert (hot.temperature, hot.top_k, hot.top_p) == (0.9, None, PAL_SETTINGS.top_p)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hope", "takes sample, greedy, beam, beam-5; got 'hope'"),
        ("beam-5,size=3", "'size' cannot be set"),
        ("beam-5,method=greedy", "'method' cannot be set"),
        ("beam-5,width=many", "width is a whole number; got 'many'"),
        ("sample,top_p=often", "top_p is a number or none; got 'often'"),
        ("sample,temperature=none", "temperature is a number; got 'none'"),
        ("beam,width=0", "width of at least 1"),
        ("beam,", "'' cannot be set"),
    ],
)
def test_what_cannot_be_is_one_sentence(text: str, said: str):
    with pytest.raises(AllearsError, match=said):
        decoding(text)
