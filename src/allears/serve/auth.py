"""Who is asking? A token belongs to one person; without tokens there is one person, this machine's.

Nothing else about a request says who somebody is: no header, no field and no cookie.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from starlette.datastructures import Headers

from allears.serve.settings import LOCAL_NAMES, ServerSettings

ME = "me"
SUBPROTOCOL = "allears"
TOKEN_SUBPROTOCOL = "allears.token."  # browsers cannot send an Authorization header with a WebSocket


class Door:
    """Knows the tokens, and whom to let in."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._people = frozenset(person_of(token, settings.salt) for token in settings.tokens)

    def person(self, headers: Headers) -> str | None:
        """The id of the person who asks, or None if they may not come in."""
        if not self._people:
            return ME
        token = _token(headers)
        if token is None:
            return None
        person = person_of(
            token, self.settings.salt
        )  # hashed before it is compared: the time taken tells nothing
        return person if person in self._people else None

    def closed(self, headers: Headers) -> str:
        """What to tell whoever may not come in."""
        if _token(headers) is None:
            return "An access token is needed here; whoever runs this server has one for you."
        return "This access token is not known here, or no longer; ask whoever runs this server for yours."

    def may_measure(self, headers: Headers) -> bool:
        """Counts over all people may tell one about another, so a person's own token does not open them."""
        if self.settings.metrics_token is not None:
            given = _token(headers)
            return given is not None and hmac.compare_digest(
                given.encode(), self.settings.metrics_token.encode()
            )
        return not self._people

    def refusal(self, headers: Headers) -> str | None:
        """Why a request must not be answered at all, whoever sends it.

        A web page elsewhere can make a browser ask a server on this machine, also under a name of its own that
        points here ("DNS rebinding"). The name and the page stand in the headers, and the page cannot change them.
        """
        host = headers.get("host", "")
        if not self._answers_to(host):
            return "This server does not answer to that name; --allow-host adds one."
        origin = headers.get("origin")
        if origin is not None:
            if not self._knows_page(origin, host):
                return "A page from elsewhere may not use this server; --origin allows one."
        elif headers.get("sec-fetch-site", "none") in ("cross-site", "same-site") and (
            headers.get("sec-fetch-mode") != "navigate"
        ):
            return "A page from elsewhere may not use this server; --origin allows one."
        return None

    def _answers_to(self, host: str) -> bool:
        name = _host_name(host)
        allowed = {*LOCAL_NAMES, self.settings.host.lower(), *(name.lower() for name in self.settings.hosts)}
        if name in allowed:
            return True
        # reachable from elsewhere under names we cannot know: there, the token keeps strangers out
        return not self.settings.local and not self.settings.hosts

    def _knows_page(self, origin: str, host: str) -> bool:
        ours = {f"http://{host}".lower(), f"https://{host}".lower()}
        return origin in self.settings.origins or origin.lower() in ours


def person_of(token: str, salt: str) -> str:
    """A person's id. From it the token cannot be found, so a stolen database opens no server."""
    return hmac.new(b"allears person " + salt.encode(), token.encode(), hashlib.sha256).hexdigest()[:32]


def _token(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    offered = (name.strip() for name in headers.get("sec-websocket-protocol", "").split(","))
    found = [name.removeprefix(TOKEN_SUBPROTOCOL) for name in offered if name.startswith(TOKEN_SUBPROTOCOL)]
    return found[0] if found else None


def _host_name(host: str) -> str:
    """The name in a Host header: "[::1]:8377" is "::1"."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def security_scheme() -> Mapping[str, object]:
    """For the OpenAPI description."""
    return {"type": "http", "scheme": "bearer", "description": "Needed where the server has access tokens."}
