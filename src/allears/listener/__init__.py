"""The listener: one turn, from the message to the reply and its reasons."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allears.listener.listener import Listener

__all__ = ["Listener"]


def __getattr__(name: str) -> Any:
    # the models are only imported when somebody wants to talk
    if name == "Listener":
        from allears.listener.listener import Listener

        return Listener
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
