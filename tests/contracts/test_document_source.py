"""What every source of policy documents keeps to, wherever it keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.policy import PolicyCall, load

if TYPE_CHECKING:
    from hitl.policy.ports import DocumentSource


def test_a_document_is_read_by_its_name(source: DocumentSource) -> None:
    """A document has the name that was asked for, says where it is from, and loads in the format that it names."""
    found = source.read("", "strict")
    policy = load(found.text, name=found.origin, format="json" if found.format == "json" else "yaml")

    assert "strict" == found.name
    assert "strict" in found.origin
    assert "approve" == policy.judge(PolicyCall("", "read_file", {"path": "a"})).action


def test_every_name_leads_to_a_document(source: DocumentSource) -> None:
    """What is offered to somebody who mistyped a name can be read."""
    assert "strict" in source.names()
    assert source.names() == [source.read("", name).name for name in source.names()]


def test_reading_twice_gives_the_same(source: DocumentSource) -> None:
    """While nobody changes a document, two readings are equal: that is how a change is noticed."""
    assert source.read("", "strict") == source.read("", "strict")


def test_a_tenant_reads_by_the_same_name(source: DocumentSource) -> None:
    """A tenant that has a document of a name reads that one."""
    assert "strict" == source.read("acme", "strict").name


@pytest.mark.parametrize("tenant", ["", "acme"])
def test_a_name_without_a_document_is_an_error(source: DocumentSource, tenant: str) -> None:
    """No other document takes the place of one that is missing, and the error names it."""
    with pytest.raises(LookupError, match="'production'"):
        source.read(tenant, "production")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../strict", "/etc/passwd", "a/strict", ".hidden", "strict\n", "a\x00"]
)
def test_a_name_is_no_path(source: DocumentSource, name: str) -> None:
    """Neither the name of a policy nor that of a tenant leads out of where the documents are."""
    with pytest.raises(LookupError, match="not a name of a policy"):
        source.read("", name)
    if name:
        with pytest.raises(LookupError, match="not a name of a tenant"):
            source.read(name, "strict")
