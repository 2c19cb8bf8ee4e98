"""Small studies on both databases. Their screen goes by phrases: no bundle is opened."""

import pytest

from databases import no_settings, postgres_server, postgres_url, sqlite_url, url  # noqa: F401
from made_up_danger import phrases_alone  # noqa: F401


@pytest.fixture(autouse=True)
def _no_bundle(phrases_alone: None) -> None:  # noqa: F811 - the fixture
    """Every study of a test."""
