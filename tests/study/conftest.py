"""Small studies on both databases."""

from databases import no_settings, postgres_server, postgres_url, sqlite_url, url  # noqa: F401
