"""Ways of decoding by name, as commands and tables ask for them: `beam-5`, or `beam-5,length_penalty=3`."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from allears.decoding.settings import PAL_SETTINGS, Settings
from allears.errors import AllearsError

DECODINGS = {
    "sample": PAL_SETTINGS,
    "greedy": Settings(method="greedy"),
    "beam": Settings(method="beam", no_repeated_ngrams=3),
    "beam-5": Settings(method="beam", width=5, longest=30),  # MoEL's and MIME's
}
NOTHING = "none"  # of top_k, top_p and no_repeated_ngrams: no limit
_READ = {"int": int, "float": float}


def decoding(text: str) -> Settings:
    """A name, and after it whatever is to be different: `sample,temperature=0.9,top_k=none`."""
    name, *changes = (part.strip() for part in text.split(","))
    if name not in DECODINGS:
        raise AllearsError(f"--decoding takes {', '.join(DECODINGS)}; got {name!r}")
    return replace(DECODINGS[name], **dict(_change(change) for change in changes))


def _change(text: str) -> tuple[str, Any]:
    kinds = {field.name: str(field.type) for field in fields(Settings) if field.name != "method"}
    key, _, value = (part.strip() for part in text.partition("="))
    if key not in kinds:
        raise AllearsError(f"--decoding: {key!r} cannot be set; {', '.join(kinds)} can")
    kind, optional = kinds[key].partition(" |")[0], "None" in kinds[key]
    if optional and value == NOTHING:
        return key, None
    try:
        return key, _READ[kind](value)
    except ValueError:
        number = "a whole number" if kind == "int" else "a number"
        raise AllearsError(
            f"--decoding: {key} is {number}{f' or {NOTHING}' if optional else ''}; got {value!r}"
        ) from None
