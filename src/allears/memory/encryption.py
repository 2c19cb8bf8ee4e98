"""How texts become bytes in the database: as they are, or encrypted with a key of the person who runs it.

AES-256 in GCM mode with a random key of the database's own. That key lies in the database, wrapped by one derived
from `ALLEARS_KEY` with scrypt, so a key can be changed without touching the texts. Names of people and requests
have to be looked up, so they are digests: keyed ones if there is a key.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING, Protocol

from allears.errors import AllearsError

if TYPE_CHECKING:  # loaded only where there is a key
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SHORTEST_KEY = 12  # characters
_NONCE = 12  # bytes, as GCM wants
_KEY = 32  # bytes
_SALT = 16  # bytes
# 32 MiB and a fraction of a second for every guess
_SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26}


class WrongKeyError(AllearsError):
    """The key does not open this database."""


class Cipher(Protocol):
    """Texts to bytes and back."""

    def seal(self, text: str) -> bytes: ...

    def unseal(self, sealed: bytes) -> str: ...

    def digest(self, kind: str, name: str) -> str:
        """A name that can be compared and not read: 64 letters and digits."""
        ...


class Plain:
    """No encryption."""

    def seal(self, text: str) -> bytes:
        return _encode(text)

    def unseal(self, sealed: bytes) -> str:
        return _decode(sealed)

    def digest(self, kind: str, name: str) -> str:
        return hashlib.sha256(_encode(f"{kind}\0{name}")).hexdigest()


class Encrypted:
    """AES-256-GCM; each text has its own nonce, in front of it."""

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._key = key
        self._aes = AESGCM(hmac.digest(key, b"texts", "sha256"))
        self._names = hmac.digest(key, b"names", "sha256")

    def seal(self, text: str) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._aes.encrypt(nonce, _encode(text), None)

    def unseal(self, sealed: bytes) -> str:
        from cryptography.exceptions import InvalidTag

        try:
            return _decode(self._aes.decrypt(sealed[:_NONCE], sealed[_NONCE:], None))
        except (InvalidTag, ValueError) as error:
            raise AllearsError(
                "a text in the database is damaged: it cannot be decrypted; restore the database from a copy"
            ) from error

    def digest(self, kind: str, name: str) -> str:
        return hmac.new(self._names, _encode(f"{kind}\0{name}"), "sha256").hexdigest()

    def wrapped(self, password: str) -> tuple[bytes, bytes]:
        """A salt, and the database's key under the person's."""
        salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
        return salt, nonce + _wrapping(password, salt).encrypt(nonce, self._key, None)

    @classmethod
    def new(cls) -> Encrypted:
        return cls(os.urandom(_KEY))

    @classmethod
    def unwrap(cls, password: str, salt: bytes, wrapped: bytes) -> Encrypted:
        """The inverse of `wrapped`."""
        from cryptography.exceptions import InvalidTag

        try:
            return cls(_wrapping(password, salt).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], None))
        except InvalidTag as error:
            raise WrongKeyError("ALLEARS_KEY is not the key this database was encrypted with") from error


def check_key(password: str) -> None:
    if len(password) < SHORTEST_KEY:
        raise AllearsError(
            f"ALLEARS_KEY has {len(password)} characters and needs at least {SHORTEST_KEY}; "
            "`openssl rand -base64 32` makes a good one"
        )


def _wrapping(password: str, salt: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(hashlib.scrypt(_encode(password), salt=salt, dklen=_KEY, **_SCRYPT))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # half an emoji is somebody's text too


def _decode(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
