"""The listener that a server answers with. In a file of its own: Ray's replicas load it by this name."""

from __future__ import annotations

from collections.abc import Sequence

from allears.listener.contract import Responder
from allears.selection.evaluate import Watch, unwatched


def shipped_listener(
    bundle: str = "default",
    pools: Sequence[str] = (),
    country: str | None = None,
    *,
    watch: Watch = unwatched,
) -> Responder:
    from allears.listener.listener import Listener

    return Listener.from_bundle(bundle, pools=pools, country=country, watch=watch)
