"""Every command is run the same way."""

from command_line import run  # noqa: F401
