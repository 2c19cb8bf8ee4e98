"""Names, e-mail addresses and phone numbers in texts become `_name_`, `_email_` and `_phone_`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

NAME, EMAIL, PHONE = "_name_", "_email_", "_phone_"
# While a text is cleaned, the masks are single characters from the private area: cleaning lets them pass.
_HIDDEN = {"\ue000": NAME, "\ue001": EMAIL, "\ue002": PHONE}

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(
    r"(?<![\w.,$])(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}(?!\w)"
    r"|(?<!\w)\+\d[\d .-]{8,16}\d(?!\w)"
)
_DIGITS = re.compile(r"[0-9](?=[0-9]{2}[0-9 .)-])")  # cheap to look for; no phone number is without
_USER = re.compile(r"(?<![\w/])/?u/[\w-]+", re.I)
_AT = re.compile(r"(?<![\w.])@[A-Za-z_]\w{2,}")
_CAPITALISED = re.compile(r"[A-Z][a-z]+\b")  # in McAdam, Adam


@cache
def first_names() -> frozenset[str]:
    """Common first names that are no ordinary English words ("Will", "Grace" and "Mark" are not in it)."""
    text = files("allears.corpora.reddit").joinpath("first_names.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def mask(text: str) -> str:
    """Hide who is named. The masks are single characters until `unveil` writes them out."""
    if "@" in text:
        text = _AT.sub("\ue000", _EMAIL.sub("\ue001", text))
    if "u/" in text or "U/" in text:
        text = _USER.sub("\ue000", text)
    if _DIGITS.search(text):
        text = _PHONE.sub("\ue002", text)
    names = first_names()
    if names.isdisjoint(_CAPITALISED.findall(text)):
        return text
    return _CAPITALISED.sub(lambda found: "\ue000" if found[0] in names else found[0], text)


def unveil(text: str) -> str:
    """Write the masks out."""
    if text.isascii():
        return text
    for hidden, shown in _HIDDEN.items():
        text = text.replace(hidden, shown)
    return text
