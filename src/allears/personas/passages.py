"""A long utterance in parts that can be read whole. No torch here."""

from __future__ import annotations

from allears.text.tokenizer import WordPiece

MOST = 16  # parts of one utterance; beyond that it is no utterance any more, and the rest is not read


def passages(text: str, tokenizer: WordPiece, tokens: int) -> list[str]:
    """Parts of at most so many tokens, cut at the end of a sentence where there is one."""
    places = tokenizer.offsets(text)[: MOST * tokens]
    found, first = [], 0
    while first < len(places):
        stop = min(first + tokens, len(places))
        if stop < len(places):
            ends = [
                place + 1
                for place in range(first, stop)
                if text[places[place][0] : places[place][1]] in ".!?"
            ]
            stop = ends[-1] if ends else stop
        found.append(text[places[first][0] : places[stop - 1][1]])
        first = stop
    return found
