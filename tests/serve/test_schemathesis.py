"""Requests made up from the OpenAPI description, good and bad: none of them breaks the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from live_server import LiveServer, live_server

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 12


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("schemathesis")
    with live_server(str(folder / "memory.db"), folder) as started:
        yield started


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_that_the_description_allows_or_forbids_breaks_the_server(
    live: LiveServer, mode: GenerationMode
):
    schema = schemathesis.openapi.from_url(f"{live.url}/api/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 18
    for operation in operations:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode), exists=st.booleans())
        def ask(case: Any, exists: bool) -> None:
            if exists and "conversation" in case.path_parameters:  # made-up ids alone only find a 404
                case.path_parameters["conversation"] = httpx.post(f"{live.url}/api/conversations").json()[
                    "id"
                ]
            case.call_and_validate(checks=CHECKS)

        try:
            ask()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE  # there is nothing to get wrong in it
    assert "ERROR" not in live.log.read_text()
