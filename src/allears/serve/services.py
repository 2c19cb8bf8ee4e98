"""What the routes work with, made once per server."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from allears.memory import Memory
from allears.safety.screen import CrisisScreen
from allears.serve.auth import Door
from allears.serve.limits import RateLimit
from allears.serve.metrics import Metrics
from allears.serve.settings import ServerSettings
from allears.serve.talk import TalkService
from allears.serve.voices import Voices


@dataclass(frozen=True)
class Services:
    settings: ServerSettings
    memory: Memory
    metrics: Metrics
    door: Door
    limit: RateLimit
    voices: Voices
    talk: TalkService
    sockets: Counter[str]  # how many each person holds open
    screen: CrisisScreen  # the listener's, for conversations that come without their state


async def serving(connection: HTTPConnection) -> Services:
    """For the routes. Asynchronous, or FastAPI would send each request through a thread for it."""
    return services_of(connection)


async def asking(connection: HTTPConnection) -> str:
    """For the routes: the person who asks."""
    return person_of(connection)


def services_of(connection: HTTPConnection) -> Services:
    found: Services = connection.app.state.services
    return found


def person_of(connection: HTTPConnection) -> str:
    """Whom the gate let in. There is no other way to become a person."""
    person: str = connection.state.person
    return person
