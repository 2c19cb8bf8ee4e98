"""How long the tests wait for what should come. Where it comes soon, a long patience costs nothing."""

from __future__ import annotations

PATIENCE = 60_000  # milliseconds for what a page should show: the machine may be busy with other tests
ANSWERS = 60  # seconds for a server's answer to a test that asks it beside the page
STARTS = 300  # seconds until a server listens: the very first time, it encodes its replies
