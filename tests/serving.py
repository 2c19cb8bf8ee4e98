"""Asking a server in a test."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient

ANNA, BEN = "annas-long-access-token", "bens-long-access-token"


def begin(client: TestClient) -> str:
    answer = client.post("/api/conversations")
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def say(client: TestClient, conversation: str, text: str, **headers: str) -> Any:
    return client.post(f"/api/conversations/{conversation}/messages", json={"text": text}, headers=headers)


def connect(client: TestClient, conversation: str, **options: Any) -> Any:
    """A WebSocket to a conversation. The test client's own name is one the server does not answer to."""
    return client.websocket_connect(f"ws://localhost/api/conversations/{conversation}/ws", **options)
