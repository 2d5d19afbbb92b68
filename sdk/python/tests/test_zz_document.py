"""Runs last: what every other test sent, held against the document the server itself serves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import SENT, Server


# SDK-1
def test_every_body_fits_the_served_document(server: Server) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document: Any = server.call("GET", "/openapi.json")
    seen: set[str] = set()
    for target, body in SENT:
        seen.add(target)
        schema = document["paths"][target]["post"]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(schema | {"components": document["components"]}).validate(json.loads(body))
    assert "/v1/hooks/before_tool_call" in seen
