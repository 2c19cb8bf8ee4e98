"""Which words carry content, and whether a text said them, in this or another inflection. No torch here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from allears.corpora.words import stop_words

# Auxiliaries that the statistics' stop words leave out, "also", and contractions as people type them.
_MORE_FUNCTION_WORDS = """
would could cannot also
im ive id ill dont cant didnt doesnt isnt wasnt wont wouldnt couldnt havent hasnt arent thats theyre youre
"""
# The verbs that turn "mostly latin music!" into something said of oneself. They are content words all the same.
FRAMING_WORDS = (
    "like",
    "enjoy",
    "love",
    "want",
    "live",
    "work",
    "favorite",
    "prefer",
    "used",
    "going",
    "plan",
)
# Forms that no rule leads back to their base; one word and its forms a line.
_IRREGULAR = """
be am is are was were been
go goes going went gone
have has had
do does doing did done
get got gotten
make made
take took taken
give gave given
come came
become became
see saw seen
know knew known
think thought
buy bought
bring brought
teach taught
catch caught
find found
feel felt
leave left
lose lost
keep kept
meet met
sell sold
tell told
say said
hear heard
hold held
stand stood
understand understood
win won
run ran
sing sang sung
swim swam swum
drink drank drunk
drive drove driven
ride rode ridden
write wrote written
eat ate eaten
fall fell fallen
grow grew grown
fly flew flown
draw drew drawn
speak spoke spoken
break broke broken
choose chose chosen
wear wore worn
begin began begun
build built
spend spent
send sent
sleep slept
sit sat
lead led
pay paid
fight fought
child children kid kids
man men
woman women
person people
wife wives
life lives
foot feet
tooth teeth
mouse mice
mom mother mum mama
dad father papa
one 1
two 2
three 3
four 4
five 5
six 6
seven 7
eight 8
nine 9
ten 10
"""
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 3  # letters of a base that a rule may leave over


def word_list(text: str) -> list[str]:
    """Lower-cased words; an apostrophe parts two ("don't" is "don" and "t"), as the tokenizer parts them."""
    return _WORD.findall(text.lower())


@cache
def function_words() -> frozenset[str]:
    every = (*stop_words(), *_MORE_FUNCTION_WORDS.split())
    return frozenset(part for word in every for part in word_list(word))


def content_words(text: str) -> list[str]:
    return [word for word in word_list(text) if word not in function_words()]


@cache
def _irregular() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _IRREGULAR.split("\n"):
        base, *forms = line.split() or [""]
        found |= dict.fromkeys(forms, base)
    return found


def irregular_forms(base: str) -> list[str]:
    """The forms of a word that no rule leads back to it."""
    return [form for form, known in _irregular().items() if known == base]


@cache
def bases(word: str) -> frozenset[str]:
    """The words a form may come from, itself among them: "hoped" may be "hope" or "hop"."""
    found = {word, _irregular().get(word, word)}
    for ending, replacements in (
        ("s", ("",)),
        ("es", ("",)),
        ("ies", ("y",)),
        ("ed", ("", "e")),
        ("ied", ("y",)),
        ("ing", ("", "e")),
        ("er", ("", "e")),
    ):
        rest = word.removesuffix(ending)
        if rest == word or len(rest) < _SHORTEST - (replacements[0] == "y"):
            continue
        if ending == "s" and rest.endswith("s"):  # "boss" is not some "bos"
            continue
        found.update(rest + end for end in replacements)
        if ending in ("ed", "ing", "er") and rest[-1] == rest[-2]:  # planned, plan
            found.add(rest[:-1])
    return frozenset(found)


def said_bases(source: str) -> frozenset[str]:
    return frozenset(base for word in word_list(source) for base in bases(word))


def supports(text: str, said: frozenset[str]) -> bool:
    """Whether at least one content word of a text is among the bases that were said."""
    return any(not said.isdisjoint(bases(word)) for word in content_words(text))


def unsupported_words(text: str, source: str) -> list[str]:
    """The content words of a text that its source never said, not even in another inflection."""
    said = said_bases(source)
    return [word for word in content_words(text) if said.isdisjoint(bases(word))]


def unsupported_share(pairs: Iterable[tuple[str, str]]) -> float:
    """Of all content words in (text, source) pairs, the percentage that the source never said."""
    never = total = 0
    for text, source in pairs:
        total += len(content_words(text))
        never += len(unsupported_words(text, source))
    return 100.0 * never / total if total else 0.0
