"""Every test of memory runs on both databases."""

from databases import (  # noqa: F401
    memory,
    no_settings,
    open_memory,
    postgres_server,
    postgres_url,
    sqlite_url,
    url,
)
