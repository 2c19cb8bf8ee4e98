"""What a page does that it must not: calls elsewhere, breaks its policy, crashes."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Request


@dataclass
class Watched:
    foreign: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)


def watch(context: BrowserContext, url: str) -> Watched:
    seen = Watched()

    def on_request(request: Request) -> None:
        if not request.url.startswith((url, "blob:", "data:")):
            seen.foreign.append(request.url)

    def on_console(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            seen.violations.append(message.text)
        elif message.type == "error" and "Failed to load resource" not in message.text:
            seen.crashes.append(message.text)

    context.on("request", on_request)
    context.on("console", on_console)
    context.on("weberror", lambda error: seen.crashes.append(str(error.error)))
    return seen
