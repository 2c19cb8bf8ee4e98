"""One call of an OpenAI-compatible chat endpoint: timeouts, retries, errors as one sentence. Standard library only."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from time import monotonic, sleep
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from allears.errors import AllearsError

LARGEST_ANSWER = 2**20  # bytes
FIRST_PAUSE = 0.5  # seconds before the first retry; doubled each time
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_TOO_LONG = ("context", "too long", "too large", "maximum", "token")


class TooLongError(AllearsError):
    """The endpoint finds the prompt too long; a shorter one may do."""


class SilentError(AllearsError):
    """Nobody answers at the address."""


class _NoRedirects(HTTPRedirectHandler):
    """A key and a person's words go to the configured address and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _AgainError(Exception):
    """Worth another try; says what went wrong."""


class Endpoint:
    def __init__(self, url: str, key: str = "", *, retries: int = 2):
        self.url, self.retries = url, retries
        self._key = key
        # what runs on this machine is asked directly, whatever proxy there is for the rest of the world
        here = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
        self._opener = build_opener(_NoRedirects, *([ProxyHandler({})] if here else []))

    def chat(self, body: Mapping[str, Any], deadline: float) -> str:
        """The answer's text. `deadline`: of `time.monotonic`; nothing is waited for beyond it."""
        pause = FIRST_PAUSE
        for attempt in range(self.retries + 1):
            try:
                return self._ask(body, deadline)
            except _AgainError as error:
                if attempt == self.retries or monotonic() + pause >= deadline:
                    raise AllearsError(str(error)) from error
                sleep(pause)
                pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def models(self, patience: float) -> list[str]:
        """The models that it lists; none where it has no such list.

        Args:
            patience: Seconds until it is taken for silent.
        """
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            with self._opener.open(
                Request(f"{self.url}/models", headers=headers), timeout=patience
            ) as answer:
                found = json.loads(_read(answer, monotonic() + patience))
            return [str(each["id"]) for each in found["data"]]
        except HTTPError as error:
            with error:
                if error.code in (401, 403):
                    raise self._refusal(error.code, _detail(error)) from error
            return []
        except (OSError, http.client.HTTPException) as error:  # URLError and TimeoutError, too
            raise SilentError(
                f"nothing answers at {self.url} ({_reason(getattr(error, 'reason', error))}); is it running?"
            ) from error
        except (ValueError, LookupError, TypeError):
            return []

    def _ask(self, body: Mapping[str, Any], deadline: float) -> str:
        left = deadline - monotonic()
        late = f"the endpoint {self.url} did not answer in time; ALLEARS_REMOTE_TIMEOUT gives it longer"
        if left <= 0:
            raise AllearsError(late)
        headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {self._key}"} if self._key else {}
        )
        request = Request(f"{self.url}/chat/completions", json.dumps(body).encode(), headers, method="POST")
        try:
            with self._opener.open(request, timeout=left) as answer:
                content = _read(answer, deadline)
        except HTTPError as error:
            with error:
                raise self._refusal(error.code, _detail(error)) from error
        except TimeoutError as error:
            raise AllearsError(late) from error
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise AllearsError(late) from error
            raise _AgainError(
                f"the endpoint {self.url} does not answer ({_reason(error.reason)}); is it running?"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise _AgainError(
                f"the endpoint {self.url} broke off ({_reason(error)}); is it running?"
            ) from error
        try:
            text = json.loads(content)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError) as error:
            raise AllearsError(
                f"the endpoint {self.url} answered something that is no chat completion"
            ) from error
        if not isinstance(text, str):
            raise AllearsError(f"the endpoint {self.url} answered without a word")
        return text

    def _refusal(self, code: int, detail: str) -> Exception:
        said = f" ({detail})" if detail else ""
        if code in _AGAIN:
            return _AgainError(f"the endpoint {self.url} cannot answer now: status {code}{said}")
        if code in (401, 403):
            return AllearsError(
                f"the endpoint {self.url} does not accept the key{said}; set ALLEARS_REMOTE_KEY"
            )
        if code == 404:
            return AllearsError(
                f"the endpoint {self.url} knows no such address or model{said}; look at ALLEARS_REMOTE_URL "
                "(most end with /v1) and ALLEARS_REMOTE_MODEL"
            )
        sentence = f"the endpoint {self.url} refused the request: status {code}{said}"
        if code == 413 or (code == 400 and any(word in detail.lower() for word in _TOO_LONG)):
            return TooLongError(sentence)
        return AllearsError(sentence)


def _read(answer: IO[bytes], deadline: float) -> bytes:
    """All of it, as long as there is time: a socket's own timeout begins anew with every byte."""
    parts: list[bytes] = []
    size = 0
    while part := answer.read1(65536):  # type: ignore[attr-defined]
        parts.append(part)
        size += len(part)
        if monotonic() > deadline:
            raise TimeoutError
        if size > LARGEST_ANSWER:
            raise http.client.HTTPException("the answer is far too long")
    return b"".join(parts)


def _detail(error: HTTPError) -> str:
    """What an endpoint says of its refusal, in one short line."""
    try:
        content = error.read(4096)
        found = json.loads(content)
        said = found.get("error", found) if isinstance(found, dict) else found
        said = said.get("message", "") if isinstance(said, dict) else said
    except (OSError, ValueError):
        return ""
    return " ".join(str(said).split())[:200]


def _reason(error: Any) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    return str(getattr(error, "strerror", None) or error).lower()
