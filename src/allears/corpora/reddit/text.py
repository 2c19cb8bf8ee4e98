"""What is left of a Reddit text: cleaning, sentences, language (PEC section 3, "Data Processing").

Everything here is plain Python on one text. The engines run these functions as scalar functions of their own
(see `records.py`): the regular expressions of DuckDB and of Spark differ in what a letter or a space is, so
this way both give the same rows.
"""

from __future__ import annotations

import html
import re

from allears.corpora.reddit.masks import mask, unveil

# An edit is a remark on the text, not part of it: from its line to the end.
_EDIT = re.compile(r"^[\W_]*(?:edit|edited|update|eta)\b[ \t]*\d*[ \t]*[:\-–—=(].*", re.I | re.M | re.S)
_QUOTE = re.compile(r"^[ \t]*>(?!!).*$", re.M)  # `>!spoiler!<` is not a quotation
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
# ![caption](picture), ![gif](giphy|...), and [caption](a link to a picture): the caption goes with the picture.
_CAPTION = re.compile(
    r"!\[[^\]]*\]\([^)]*\)"
    r"|\[[^\]]*\]\([^)\s]*(?:\.(?:jpe?g|png|gifv?|webp|mp4)|imgur\.com|i\.redd\.it|giphy)[^)]*\)",
    re.I,
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")  # any other link keeps its words
_URL = re.compile(r"(?:https?://|www\.)\S+", re.I)
_DOMAIN = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|gov|edu|co\.uk)\b(?:/\S*)?", re.I)
_SUBREDDIT = re.compile(r"(?<!\w)/?r/(\w+)", re.I)
_SPECIAL = re.compile("[^\\w\\s.,!?'\\-:;()\ue000-\ue002]+|_+")
# The same for texts in ASCII (most of them) as a table, which is five times as fast.
_SPECIAL_ASCII = {code: " " for code in range(128) if _SPECIAL.fullmatch(chr(code))}
# A dash or a smiley that stands alone is no word. (The look behind comes second: a regular expression that
# begins with a set of characters is found much faster.)
_NO_WORD = re.compile(r"[.,!?'\-:;()](?<!\S.)[.,!?'\-:;()]*(?!\S)", re.S)
# Written out, because this is found twice as fast as a set of characters and a reference back to it.
_REPEATED = re.compile(r"\.\.+|!!+|\?\?+|,,+|--+|::+|;;+|''+|\(\(+|\)\)+")
_QUOTATION_MARKS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "…": ".", "\u200b": " ", "\ufeff": " "})


def clean(text: str | None, *, masked: bool = True) -> str:
    """Lower case; no quotes, edits, code, captions, links or special symbols; words parted by single spaces.

    Each sentence is a line of its own. `one_line` makes a turn of it, of which every sentence is a piece, letter by
    letter: a sentence that was also said in a response is found there.
    """
    if not text:
        return ""
    if "&" in text:
        text = html.unescape(text)
    if "\r" in text:
        text = text.replace("\r", "\n")
    lower = text.lower()
    if "edit" in lower or "update" in lower or "eta" in lower:
        text = _EDIT.sub(" ", text)
    if ">" in text:
        text = _QUOTE.sub(" ", text)
    if "`" in text:
        text = _CODE.sub(" ", text)
    if "](" in text:
        text = _LINK.sub(r"\1", _CAPTION.sub(" ", text))
    # Masks come before links: an e-mail address looks like one.
    if not text.isascii():
        text = text.translate(_QUOTATION_MARKS)
    if masked:
        text = mask(text)
    text = _without_links(text).lower()
    text = text.translate(_SPECIAL_ASCII) if text.isascii() else _SPECIAL.sub(" ", text)
    text = _NO_WORD.sub(" ", _REPEATED.sub(lambda found: found[0][0], text))
    if "\n" in text:
        lines = [" ".join(line.split()) for line in text.split("\n")]
        text = "\n".join([line for line in lines if line])
    else:
        text = " ".join(text.split())
    # Only single spaces are left, so a sentence ends in one of these.
    return unveil(text.replace(". ", ".\n").replace("! ", "!\n").replace("? ", "?\n"))


def _without_links(text: str) -> str:
    """Looking for a few letters first is many times cheaper than the regular expressions."""
    if "://" in text or "www." in text:
        text = _URL.sub(" ", text)
    # Written out, because a generator would cost more than all six of these.
    if (
        ".com" in text
        or ".org" in text
        or ".net" in text
        or ".gov" in text
        or ".edu" in text
        or ".co." in text
    ):
        text = _DOMAIN.sub(" ", text)
    return _SUBREDDIT.sub(r"\1", text) if "r/" in text else text


def one_line(text: str) -> str:
    """A cleaned text as a turn of a conversation."""
    return text.replace("\n", " ")


def sentences(text: str) -> list[str]:
    """The sentences of a cleaned text."""
    return text.split("\n") if text else []


# --- language -------------------------------------------------------------------------------------------


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ENGLISH = _set(
    "the and you that was for are with his they this have from not but what all were when your can said "
    "there use an each which she do how their if will up other about out many then them these so some her "
    "would make like him into time has look two more go see no way could people my than been who its now "
    "did get made may i it is to of in a be on at as or by we he me am i'm it's don't that's just good "
    "really too very thanks thank yes yeah know think lol oh why because never always had only one also "
    "much love well hope"
)
# German, French, Spanish, Portuguese, Italian, Dutch, Scandinavian, Polish, Turkish, Indonesian: frequent words
# that are not English words as well
_OTHER = _set(
    "der und ist das nicht ich ein eine auch auf mit sich wir sind aber wie dass für wenn noch nur les "
    "des est une dans que qui pas pour sur avec ce cette sont mais nous vous elle je ne c'est j'ai el los "
    "las una por con para como pero más esta este muy todo porque cuando eso hay qué también não uma você "
    "isso muito mas meu minha ele ela são isto il che è non di per sono questo anche della più gli nel "
    "het een van niet dat zijn voor maar naar ook wat heeft deze och att det som på är inte jag har till "
    "av med den og ikke jeg er til nie jest się na że tak jak ale czy bir bu ve için çok yang dan itu aku "
    "tidak ini"
)
_LETTERS = re.compile(r"[^\W\d_]+")


ENOUGH = 4  # frequent English words, with no foreign one among them: the rest need not be looked at


def english(text: str | None) -> bool:
    """Is this English, or at least not plainly another language? Short texts get the benefit of the doubt.

    Not English are texts with more than a third of letters outside a to z, texts with more frequent words of
    other languages than of English, and texts of 12 words or more with no frequent English word at all.
    """
    if not text:
        return True
    words = text.split()
    known = foreign = 0
    for word in words:
        bare = word.strip(".,!?:;()-'")
        known += bare in _ENGLISH
        foreign += bare in _OTHER
        if known >= ENOUGH and not foreign:
            break
    if foreign > known and foreign >= 2:
        return False
    if known == 0 and len(words) >= 12:
        return False
    if text.isascii():
        return True
    letters = "".join(_LETTERS.findall(text))
    return 3 * sum(letter > "z" for letter in letters) <= len(letters)
