"""Short English sentences as they are compared: contractions written out, numbers as digits, inflection undone.

Nothing is learned and nothing is looked up elsewhere, so that a person can tell why two sentences were found alike
or opposed.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import zip_longest

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

_VERBS = (
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "have",
    "has",
    "had",
    "would",
    "could",
    "should",
    "need",
)
_WRITTEN_OUT = {
    "i'm": "i am", "im": "i am", "i've": "i have", "ive": "i have", "i'd": "i would", "i'll": "i will",
    "it's": "it is", "he's": "he is", "she's": "she is", "that's": "that is", "there's": "there is",
    "name's": "name is", "we're": "we are", "they're": "they are", "you're": "you are",
    "we've": "we have", "they've": "they have", "you've": "you have",
    "can't": "can not", "cant": "can not", "cannot": "can not", "won't": "will not", "ain't": "am not",
    "wanna": "want to", "gonna": "going to", "gotta": "got to",
    "favourite": "favorite", "favourites": "favorites", "colour": "color", "grey": "gray",
} | {f"{verb}n{mark}t": f"{verb} not" for verb in _VERBS for mark in ("'", "")}  # fmt: skip
# PESConv and PERSONA-CHAT write a space for the apostrophe: "don t". Only pairs that mean nothing else.
_TORN = {(f"{verb}n", "t"): f"{verb} not" for verb in _VERBS} | {
    ("can", "t"): "can not",
    ("won", "t"): "will not",
    ("i", "m"): "i am",
    ("i", "ve"): "i have",
    ("i", "ll"): "i will",
}

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {word: number for number, word in enumerate(_UNITS) if word != "one"} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}  # "one" is a pronoun more often than a number


# The forms that no ending explains, for the words of such sentences. Who lives somewhere is no matter of lives.
_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "am is are was were been being", "have": "has had having", "go": "goes went gone", "get": "got gotten",
        "make": "made", "take": "took taken", "come": "came", "become": "became", "see": "saw seen",
        "know": "knew known", "think": "thought", "say": "said", "tell": "told", "give": "gave given",
        "find": "found", "leave": "left", "feel": "felt", "keep": "kept", "lose": "lost", "win": "won",
        "buy": "bought", "bring": "brought", "teach": "taught", "catch": "caught", "fight": "fought", "sell": "sold",
        "hold": "held", "meet": "met", "run": "ran", "sing": "sang sung", "swim": "swam swum", "drink": "drank drunk",
        "drive": "drove driven", "ride": "rode ridden", "write": "wrote written", "speak": "spoke spoken",
        "break": "broke broken", "wear": "wore worn", "grow": "grew grown", "fly": "flew flown",
        "draw": "drew drawn", "eat": "ate eaten", "fall": "fell fallen", "sleep": "slept", "spend": "spent",
        "send": "sent", "build": "built", "pay": "paid", "hear": "heard", "stand": "stood", "sit": "sat",
        "understand": "understood", "choose": "chose chosen", "forget": "forgot forgotten", "agree": "agreed",
        "die": "dying", "lie": "lying", "child": "children", "man": "men", "woman": "women", "wife": "wives",
        "foot": "feet", "tooth": "teeth", "mouse": "mice", "person": "people", "mom": "mother mum", "dad": "father",
    }.items()
    for form in forms.split()
}  # fmt: skip


def plain_words(text: str) -> list[str]:
    """Lower-cased words without punctuation."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("‘", "'")
    found = _WORD.findall(plain)
    written: list[str] = []
    joined = False
    for word, following in zip_longest(found, found[1:]):
        if joined:  # the "t" of a torn "don t"
            joined = False
            continue
        pair = _TORN.get((word, following))
        joined = pair is not None
        written += (pair or _WRITTEN_OUT.get(word, word.removesuffix("'s").replace("'", ""))).split()
    return _with_digits(written)


def stem(word: str) -> str:
    """What a word's inflected forms share; not always a word itself: "studi" stands for study and studies."""
    if not word.isascii() or word.isdigit():
        return word
    word = _IRREGULAR.get(word, word)
    return _ending(_without_tense(_singular(word)) if len(word) > 3 else word)


def _with_digits(written: list[str]) -> list[str]:
    """Number words as digits; "thirty five" is 35."""
    found: list[str] = []
    for position, word in enumerate(written):
        before = written[position - 1] if position else ""
        if before in _TENS and word in _UNITS[1:10]:
            found[-1] = str(_NUMBERS[before] + _UNITS.index(word))
        else:
            found.append(str(_NUMBERS.get(word, word)))
    return found


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        start = word.removesuffix(ending)
        if start != word and len(start) > 1 and not word.endswith("eed") and re.search("[aeiouy]", start):
            # "running" has its n twice, "falling" its l by nature: ll, ss and zz stay
            return start[:-1] if start[-1] == start[-2] and start[-1] not in "lsz" else start
    return word


def _ending(word: str) -> str:
    """Final e and y, which come and go with the endings."""
    if word.endswith("e") and len(word) > 2:
        word = word[:-1]
    if word.endswith("y") and len(word) > 2 and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word
