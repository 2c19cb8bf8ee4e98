"""Making `lexicon.txt`, the word list of the built-in tagger, from spaCy's tags on the sentences of a dump.

People are parted in two by a hash of their names. The list is learned from one half's sentences, so agreement
on the other half (`allears reddit tagger-agreement`) is measured on sentences, and people, it has never seen.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable

from allears.corpora.reddit.tagger import (
    NOUN_TAGS,
    VERB_TAGS,
    left_kind,
    spacy_stop_words,
    spacy_tags,
    unknown_pattern,
)

LEAST_PEOPLE = 5  # who used a word: a rarer one may be somebody's own
LEAST_TIMES = 3  # that a word was seen after a kind of neighbour, to say what it is there
LEAST_VERB = 0.1  # of its uses: a word that is a verb now and then counts as one that may be
WIDTH = 110

_HEAD = """\
# Words for the built-in tagger (tagger.py), written by `allears reddit learn-lexicon`. A heading of three signs
# says whether its words are nouns or adjectives (n) or not (-) after a determiner, after anything else, and after
# a pronoun or auxiliary. Words that are what an unknown word is taken for are not listed.
"""


def learned_from(author: str) -> bool:
    """Is this person one of the half whose sentences the lexicon is learned from?"""
    return hashlib.sha256(author.encode("utf-8", "replace")).digest()[0] % 2 == 0


def learn(sentences: Iterable[tuple[str, str]]) -> str:
    """The text of `lexicon.txt`, from pairs of an author and a sentence; other authors are passed over."""
    people: dict[str, set[str]] = defaultdict(set)  # of each sentence
    for author, sentence in sentences:
        if learned_from(author):
            people[sentence].add(author)
    users: dict[str, set[str]] = defaultdict(set)
    seen: Counter[tuple[str, int, bool]] = Counter()  # word, what is to its left, is it a noun or adjective?
    verbs: Counter[str] = Counter()
    in_order = sorted(people)
    for sentence, tags in zip(in_order, spacy_tags(in_order), strict=True):
        before = ""
        for word, tag in tags:
            users[word] |= people[sentence]
            seen[word, left_kind(before), tag in NOUN_TAGS] += 1
            verbs[word] += tag in VERB_TAGS
            before = word
    return _written(users, seen, verbs)


def _written(users: dict[str, set[str]], seen: Counter[tuple[str, int, bool]], verbs: Counter[str]) -> str:
    stop = spacy_stop_words()
    sections: dict[str, list[str]] = defaultdict(list)
    for word in sorted(users):
        if len(users[word]) < LEAST_PEOPLE or not re.fullmatch(r"[^\W\d_]*'?[^\W\d_]+", word):
            continue
        times = [(seen[word, left, False], seen[word, left, True]) for left in range(3)]
        every = (sum(no for no, _ in times), sum(yes for _, yes in times))
        pattern = "".join(
            "n" if yes > no else "-"
            for no, yes in (pair if sum(pair) >= LEAST_TIMES else every for pair in times)
        )
        verb = verbs[word] > LEAST_VERB * sum(every)
        if verb:
            sections["verbs"].append(word)
        if verb or word in stop or pattern != unknown_pattern(word):
            sections[pattern].append(word)
    sections["stop"] = sorted(stop)
    order = [*sorted(name for name in sections if name not in ("verbs", "stop")), "verbs", "stop"]
    filled = (
        textwrap.fill(" ".join(sections[name]), WIDTH, break_long_words=False, break_on_hyphens=False)
        for name in order
    )
    return _HEAD + "".join(f"[{name}]\n{words}\n" for name, words in zip(order, filled, strict=True))
