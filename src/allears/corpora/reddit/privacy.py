"""Who wrote what is nobody's business: people's names become ids, and a person can be taken out again.

The id is a keyed hash (HMAC-SHA256) of the name. The key, the *salt*, comes from `ALLEARS_SALT`, or is made
once and kept in the user's own data folder, never in a corpus: whoever has only the corpus cannot find out
whether a name is in it, and whoever has the salt can find a person's id and take that person out.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from platformdirs import user_data_dir

from allears.errors import AllearsError

SALT_VARIABLE = "ALLEARS_SALT"
LEAST_SALT = 8  # characters
ID_LENGTH = 16  # hexadecimal digits: two of a billion people share an id with a chance of one in forty


def salt_file() -> Path:
    return Path(user_data_dir("allears")) / "reddit.salt"


def salt() -> bytes:
    """The secret: from the environment, or from the user's data folder, where it is made at first use."""
    given = os.environ.get(SALT_VARIABLE)
    if given is not None:
        if len(given) < LEAST_SALT:
            raise AllearsError(
                f"{SALT_VARIABLE} is too short to be a secret; use {LEAST_SALT} characters or more"
            )
        return given.encode()
    file = salt_file()
    try:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            new = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(new, "w", encoding="ascii") as handle:
                handle.write(secrets.token_hex(32))
        return file.read_bytes().strip()
    except OSError as error:
        raise AllearsError(
            f"{file}: the secret salt cannot be kept there ({error.strerror or error}); "
            f"set {SALT_VARIABLE} to a secret of your own"
        ) from error


def author_ids(key: bytes | None) -> Callable[[str], str]:
    """From a name to its id; without a key, names stay as they are."""
    if key is None:
        return lambda name: name
    return lru_cache(maxsize=1 << 17)(lambda name: hashed(key, name))


def hashed(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode(), "sha256").hex()[:ID_LENGTH]
