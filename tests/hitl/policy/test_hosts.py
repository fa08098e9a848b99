"""How URLs are read, and what kinds of hosts they name."""

from ipaddress import IPv6Address

import ada_url
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hitl.policy.hosts import HostList, read_url, url_classes

SPELLINGS = (
    ("http://10.1.2.3/", "10.1.2.3"),
    ("http://0xa010203/", "10.1.2.3"),
    ("http://167838211/", "10.1.2.3"),
    ("http://012.1.2.3/", "10.1.2.3"),
    ("http://10.1.515/", "10.1.2.3"),
    ("http://10.66051", "10.1.2.3"),
    ("http://0x0A.0x1.2.03/", "10.1.2.3"),
    ("http://10.1.2.3./", "10.1.2.3"),
    ("http://[::ffff:10.1.2.3]/", "10.1.2.3"),
    ("http://[::FFFF:a01:203]:8080/", "10.1.2.3"),
    ("http://１０.1.2.3/", "10.1.2.3"),
    ("http://10。1。2。3/", "10.1.2.3"),
    ("HTTP://Example.ORG", "example.org"),
    ("http://example.org./x", "example.org"),
    ("http://user:secret@example.org:81/", "example.org"),
    ("http://ex%61mple.org/", "example.org"),
    ("http://ＥＸＡＭＰＬＥ.org/", "example.org"),
    ("https://bücher.example/", "xn--bcher-kva.example"),
    ("https://BÜCHER.example/", "xn--bcher-kva.example"),
    ("http://exam\tple.org/", "example.org"),
    ("http:\\\\example.org\\x", "example.org"),
    ("example.org/path", "example.org"),
    ("example.org:8080", "example.org"),
    ("//example.org/x", "example.org"),
    ("ftp://example.org/x", "example.org"),
    ("file://server/share", "server"),
)


@pytest.mark.parametrize(("text", "host"), SPELLINGS)
def test_every_spelling_names_the_same_host(text: str, host: str) -> None:
    """Numbers in any base, case, width, escapes, user information and root dots do not make another host."""
    assert host == read_url(text).host


UNSURE = (
    "http://example.org\\@evil.test/",
    "http://evil.test\\@example.org/",
    "http:/example.org/",
    "http:example.org",
    "http:///example.org/",
    "http://example.org:99999/",
    "http://example.org:80:90/",
    "http://example.org:\uff18\uff10/",
    "http://[example.org]/",
    "http://example.org%40evil.test/",
    "http://example.org%00/",
    "http://exa mple.org/",
    "http://exam\nple.org/",
    "http://exam\u200bple.org/",
    "http://1.2.3.4.5/",
    "http://300.1.1.1/",
    "http://[fe80::1%25eth0]/",
    "http://a@b@example.org/",
    " http://example.org/",
    "http://",
    "not a url",
    "",
    "example.org",
    "//example.org",
    "http://" + "a" * 9000,
)


@pytest.mark.parametrize("text", UNSURE)
def test_what_parsers_read_differently_is_ambiguous(text: str) -> None:
    """A URL that could be taken for another one, or that is none, is not sure."""
    assert not read_url(text).sure
    assert "ambiguous" in url_classes(read_url(text))


#: Pieces of URLs that parsers have read differently.
PIECES = (
    *("http:", "https://", "ws:/", "ftp:\\\\", "//", "/", "\\", "@", "?", "#", "."),
    *(":", ":80", ":0", ":65536", ":\uff18\uff10", "%40", "%2f", "%", "\t", "\n", " ", "\0", "user", "a_b", "-"),
    *("example.org", "127.1", "0x7f.1", "256", "[::1]", "[::ffff:1.2.3.4]", "[fe80::1%25e]", "xn--a"),
    *("\u200b", "\ufeff", "\uff11", "\u00fc", "\u00df", "\U0001f600"),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    st.sampled_from(["http://", "https://", "ws://", "ftp://", "http:"]),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6),
)
def test_a_sure_url_is_read_as_a_browser_reads_it(scheme: str, pieces: list[str]) -> None:
    """A parser of the URL Standard finds the same scheme, host and port in every URL that counts as sure."""
    text = scheme + "".join(pieces)
    url = read_url(text)
    assume(url.sure and url.host is not None)
    browser = ada_url.URL(text)
    host = browser.hostname.removesuffix(".").removeprefix("[").removesuffix("]")
    mapped = ":" in host and IPv6Address(host).ipv4_mapped

    assert url.scheme == browser.protocol.removesuffix(":")
    assert url.port == int(browser.port or {"http:": 80, "https:": 443, "ws:": 80, "ftp:": 21}[browser.protocol])
    assert url.host == str(mapped or host)


SURE = (
    "https://example.org/?u=http://127.0.0.1/",
    "https://example.org/a@b",
    "https://example.org#@evil.test",
    "https://example.org?x=\\",
    "https://example.org/é",
    "https://a-b.example.org:8443/x?y#z",
)


@pytest.mark.parametrize("text", SURE)
def test_addresses_beyond_the_host_do_not_matter(text: str) -> None:
    """What stands in path, query or fragment names no host."""
    url = read_url(text)

    assert url.sure
    assert url.host is not None
    assert url.host.endswith("example.org")


CLASSES: tuple[tuple[str, set[str]], ...] = (
    ("http://127.9.9.9/", {"loopback"}),
    ("http://[::1]/", {"loopback"}),
    ("http://0.0.0.0/", {"unspecified"}),
    ("http://[::]/", {"unspecified"}),
    ("http://172.31.0.1/", {"private"}),
    ("http://172.32.0.1/", {"public"}),
    ("http://169.254.1.1/", {"link_local"}),
    ("http://169.254.169.254/", {"link_local", "metadata"}),
    ("http://[fd00:ec2::254]/", {"private", "metadata"}),
    ("http://100.127.0.1/", {"shared"}),
    ("http://198.19.0.1/", {"benchmark"}),
    ("http://239.1.1.1/", {"multicast"}),
    ("http://255.255.255.255/", {"reserved", "broadcast"}),
    ("http://203.0.113.5/", {"documentation"}),
    ("http://[2001:db8::1]/", {"documentation"}),
    ("http://[fe80::1]/", {"link_local"}),
    ("http://[ff02::1]/", {"multicast"}),
    ("http://[64:ff9b::a00:1]/", {"private"}),
    ("http://[2002:a00:1::]/", {"private"}),
    ("http://[::10.0.0.1]/", {"private"}),
    ("http://[2606:4700::1]/", {"public"}),
    ("http://8.8.8.8/", {"public"}),
    ("http://localhost/", {"loopback", "internal_name"}),
    ("http://a.localhost./", {"loopback", "internal_name"}),
    ("http://db.internal/", {"internal_name"}),
    ("http://metadata.google.internal/", {"internal_name", "metadata"}),
    ("http://example.org/", set()),
    ("gopher://example.org/", {"not_http"}),
    ("data:text/plain,x", {"not_http"}),
)


@pytest.mark.parametrize(("text", "classes"), CLASSES)
def test_classes_follow_the_registries(text: str, classes: set[str]) -> None:
    """Each address has the classes of its block, and of the IPv4 address inside it."""
    assert classes == url_classes(read_url(text))


def test_resolved_addresses_count_as_well() -> None:
    """A public name with one private address is private too."""
    url = read_url("https://example.org/")

    assert {"public", "private"} == url_classes(url, ["8.8.8.8", "10.0.0.1"])
    assert {"loopback"} == url_classes(url, ["::ffff:127.0.0.1"])


def test_a_list_is_exact_to_allow_and_wide_to_deny() -> None:
    """A name covers its subdomains, a wildcard every depth; exactly is the name itself, or one label for the star."""
    listed = HostList.of(["example.org", "*.corp.example", "10.0.0.0/8", "[::1]", "BÜCHER.example"])

    assert listed.exactly("example.org")
    assert not listed.exactly("a.example.org")
    assert listed.covers("a.example.org")
    assert not listed.covers("badexample.org")
    assert listed.exactly("a.corp.example")
    assert not listed.exactly("a.b.corp.example")
    assert listed.covers("a.b.corp.example")
    assert not listed.covers("corp.example")
    assert listed.exactly("10.9.9.9")
    assert listed.exactly("::1")
    assert listed.exactly("xn--bcher-kva.example")


@pytest.mark.parametrize("entry", ["http://x", "a b", "10.0.0.0/99", "a@b", "*."])
def test_a_list_refuses_what_is_no_host(entry: str) -> None:
    """An entry that could never match is an error, not a silent no."""
    with pytest.raises(ValueError, match=r"."):
        HostList.of([entry])


STRANGE_NAMES = (
    "https://.example.org/",
    "https://-.example.org/",
    "https://a-.example.org/",
    "https://a..example.org/",
    "https://*.example.org/",
    "https://%2a.example.org/",
    "https://a%2eexample.org/",
    "https://a%20b.example.org/",
    "https://" + "a" * 64 + ".example.org/",
    "https://" + "a." * 130 + "example.org/",
)


@pytest.mark.parametrize("text", STRANGE_NAMES)
def test_what_no_resolver_takes_is_ambiguous(text: str) -> None:
    """A name of empty, odd or overlong labels, or one that only some parsers decode, allows nothing."""
    assert "ambiguous" in url_classes(read_url(text))


@pytest.mark.parametrize("text", ["https://a_b.example.org/", "https://example.org/a b?c d", "https://example.org/%2a"])
def test_odd_characters_that_change_no_host_are_none(text: str) -> None:
    """Underscores in names, and blanks or escapes behind the host, are read the same by all."""
    assert read_url(text).sure


@pytest.mark.parametrize(
    "host", ["::ffff:10.1.1.1", "64:ff9b::10.1.1.1", "::10.1.1.1", "2002:a01:101::", "2001:0:a01:101::"]
)
def test_a_network_covers_the_addresses_that_carry_one_of_its_own(host: str) -> None:
    """To deny, an IPv6 address counts as the IPv4 address inside it; to allow, it does not."""
    listed, url = HostList.of(["10.0.0.0/8"]), read_url(f"http://[{host}]/")

    assert url.host is not None
    assert listed.covers(url.host)
    assert listed.exactly(url.host) == (host == "::ffff:10.1.1.1")
