"""Adapters of frameworks are extras of the client: without the framework they name the extra."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
        ("langchain", "langchain", "langchain"),
        ("openai_agents", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
    ],
)
def test_a_missing_framework_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, framework: str, extra: str
) -> None:
    """What to install stands in the error."""
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"sayso_client.{module}", raising=False)

    with pytest.raises(ImportError) as missing:
        import_module(f"sayso_client.{module}")

    assert f"sayso-client[{extra}]" in str(missing.value)
