"""Runs last: what every other test sent, held against the document the server itself serves."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from conftest import SENT, Server


def _path(document: Any, target: str) -> str:
    """The path of the document that a target is one of."""
    plain = target.partition("?")[0]
    for path in document["paths"]:
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)), plain):
            return path
    raise AssertionError(f"the document has no {plain}")


# SDK-1
def test_every_body_fits_the_served_document(server: Server) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document: Any = server.call("GET", "/openapi.json")
    seen: set[str] = set()
    for target, body in SENT:
        seen.add(target)
        schema = document["paths"][_path(document, target)]["post"]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(schema | {"components": document["components"]}).validate(json.loads(body))
    assert "/v1/hooks/before_tool_call" in seen
