"""Finds the host that a URL names, and the classes of its address.

A URL is parsed twice: as browsers do it (WHATWG URL Standard, with IPv4 shorthands and UTS 46), and by RFC 3986. If the
two find different hosts, schemes or ports, the URL is *ambiguous*. The classes come from the IANA IPv4 and IPv6
Special-Purpose Address Registries, the multicast registries, and the names of RFC 6761 and RFC 8375. The class
``metadata`` has the addresses at which cloud providers serve instance metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import unquote, unquote_to_bytes

from hitl.policy.tables import names
from hitl.policy.wording import say
from hitl.records import replace

Address = IPv4Address | IPv6Address

MAX_PORT = 65535
_MAX_HOST, _MAX_URL, _MAX_NUMBER = 253, 8192, 16
_OCTETS, _OCTET = 4, 255
# The addresses ``::`` and ``::1`` are below this number. They hold no IPv4 address.
_SMALLEST_CARRIED = 0xFFFF

CLASSES = names(
    "loopback private link_local metadata shared benchmark multicast broadcast unspecified "
    "internal_name ambiguous not_http documentation reserved public"
)

_V4: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link_local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "documentation"),
    ("192.31.196.0/24", "reserved"),
    ("192.52.193.0/24", "reserved"),
    ("192.88.99.0/24", "reserved"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "reserved"),
    ("198.18.0.0/15", "benchmark"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("255.255.255.255/32", "broadcast"),
)
_V6: tuple[tuple[str, str], ...] = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("64:ff9b:1::/48", "private"),
    ("100::/64", "reserved"),
    ("100:0:0:1::/64", "reserved"),
    ("2001::/23", "reserved"),
    ("2001:2::/48", "benchmark"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "reserved"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link_local"),
    ("fec0::/10", "private"),
    ("ff00::/8", "multicast"),
)
_METADATA = frozenset(
    map(
        ip_address,
        ("169.254.169.254", "169.254.170.2", "169.254.169.253", "169.254.42.42", "100.100.100.200", "168.63.129.16",
         "192.0.0.192", "fd00:ec2::254", "fd00:ec2::253", "fd20:ce::254", "fd00:42::42"),
    )
)  # fmt: skip
_METADATA_NAMES = frozenset(
    {"metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal"}
)
_INTERNAL = (
    "localhost",
    "internal",
    "local",
    "localdomain",
    "home.arpa",
    "intranet",
    "lan",
    "corp",
    "private",
    "onion",
)

_V4_NETWORKS = tuple((IPv4Network(net), name) for net, name in _V4)
_V6_NETWORKS = tuple((IPv6Network(net), name) for net, name in _V6)
# networks whose addresses hold an IPv4 address, and the lowest bit of that IPv4 address
_MAPPED: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("::/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("64:ff9b:1::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
_TEREDO = IPv6Network("2001::/32")

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
# Matches the scheme and the authority of a URL, by the expression of RFC 3986, appendix B.
_GENERIC = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?", re.DOTALL)
_STRANGE = re.compile(r"[\x00-\x1f\x7f\\]|\[[^\]]*%|^(?:[^:/]*:)?//[^/]*%")
_LABEL = re.compile(r"(?!-)[a-z0-9_\-]{1,63}(?<!-)")
_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^`{|}\x7f]")
_PLAIN = re.compile(
    r"(https?)://((?:[a-z0-9](?:[a-z0-9\-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9\-]{0,61}[a-z0-9])?)(?::(\d{1,5}))?(?:[/?#][\x21-\x5b\x5d-\x7e]*)?",
    re.ASCII,
).fullmatch


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL: scheme, host and port.

    - ``host`` is in lower case, without a dot at the end. An address is in its usual form. ``host`` is None if the URL
      names no host.
    - ``sure`` is False if parsers differ or the text is not a full URL.
    - ``bare`` says that the text is a host or a URL without scheme, and that parsers agree on it.
    - ``userinfo`` says that a user name comes before the host. Such a user name misleads people.
    """

    scheme: str
    host: str | None
    port: int | None
    sure: bool
    userinfo: bool = False
    bare: bool = False

    @property
    def address(self) -> Address | None:
        """The address if the host is an IP address, else None."""
        return _address(self.host) if self.host is not None else None


class _Unreadable(ValueError):
    pass


@lru_cache(maxsize=512)
def read_url(text: str) -> Url:
    """Return the parts of a URL, of a URL without scheme, or of a bare host. Never raises."""
    plain = _PLAIN(text)
    if plain is not None and len(plain.group(2)) <= _MAX_HOST and "xn--" not in plain.group(2):
        scheme, host, port = plain.groups()
        if int(port or 0) <= MAX_PORT and "--" not in host:
            return Url(scheme, host, int(port) if port else _DEFAULT_PORTS[scheme], sure=True)
    bare = text.strip(" \t\n\r\x0b\x0c")
    found = _read_slowly(bare)
    return found if bare == text else replace(found, sure=False, bare=found.bare or found.sure)


def _read_slowly(text: str) -> Url:
    if len(text) > _MAX_URL:
        return Url("", None, None, sure=False)
    try:
        browser = _whatwg(text)
    except (_Unreadable, ValueError):
        browser = None
    try:
        generic = _rfc3986(text)
    except (_Unreadable, ValueError):
        generic = None
    if browser is None and generic is not None:
        return Url(generic.scheme, generic.host, generic.port, sure=False)
    if browser is None:
        return Url(_scheme(text), None, None, sure=False)
    agree = generic is not None and (generic.scheme, generic.host, generic.port) == (
        browser.scheme,
        browser.host,
        browser.port,
    )
    before = text.partition("?")[0].partition("#")[0]
    strange = _STRANGE.search(before) is not None or not all(char.isascii() or char.isalnum() for char in before)
    certain = agree and not strange and _is_name(browser.host) and re.search(r"[\x00-\x1f\x7f]", text) is None
    return Url(
        browser.scheme,
        browser.host,
        browser.port,
        sure=certain and not browser.bare,
        userinfo=browser.userinfo,
        bare=certain and browser.bare,
    )


def _is_name(host: str | None) -> bool:
    """Return whether a host is an address, or a name that a resolver accepts (RFC 1123, 2.1; underscores too)."""
    if host is None or _address(host) is not None:
        return True
    return len(host) <= _MAX_HOST and all(_LABEL.fullmatch(label) for label in host.split("."))


def _scheme(text: str) -> str:
    found = _SCHEME.match(text)
    return found.group(1).lower() if found else ""


def _whatwg(text: str) -> Url:
    text = re.sub(r"[\t\n\r]", "", text)
    scheme = _scheme(text)
    rest = text[len(scheme) + 1 :] if scheme else text
    if scheme and scheme not in _DEFAULT_PORTS:
        if not re.match(r"[0-9]+(?:[/?#]|$)", rest) or scheme in ("data", "blob", "javascript", "mailto", "tel"):
            return _other_scheme(scheme, rest)
        scheme, rest = "", text  # `name:80` is a host and a port, not a scheme
    if not scheme and not rest.startswith(("//", "\\\\")):
        bare = _authority("http", re.split(r"[/?#\\]", rest)[0])
        return replace(bare, scheme="", bare=True)
    found = _authority(scheme or "http", re.split(r"[/?#\\]", rest.lstrip("/\\"))[0])
    return found if scheme else replace(found, scheme="", bare=True)


def _other_scheme(scheme: str, rest: str) -> Url:
    found = re.match(r"//([^/?#\\]*)", rest)
    host = found.group(1).rpartition("@")[2].lower() if found else ""
    return Url(scheme, re.sub(r":[0-9]*$", "", host) or None, None, sure=True)


def _authority(scheme: str, authority: str) -> Url:
    _, at, hostport = authority.rpartition("@")
    found = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?", hostport)
    if found is None:
        raise _Unreadable(authority)
    port = int(found.group(2)) if found.group(2) else _DEFAULT_PORTS[scheme]
    if port > MAX_PORT:
        raise _Unreadable(authority)
    return Url(scheme, _host(found.group(1)), port, sure=True, userinfo=bool(at))


def _rfc3986(text: str) -> Url:
    if re.match(r"[^:/?#]+:[0-9]+(?:[/?#]|$)", text):
        return replace(_authority("http", re.split(r"[/?#]", text)[0]), scheme="", bare=True)
    found = _GENERIC.match(text)
    scheme, authority = (found.group(1) or "").lower() if found else "", found.group(2) if found else None
    if authority is None or scheme not in _DEFAULT_PORTS:
        if scheme in _DEFAULT_PORTS:
            raise _Unreadable(text)
        if scheme:
            return _other_scheme(scheme, text[len(scheme) + 1 :])
        return replace(_authority("http", authority or re.split(r"[/?#]", text)[0]), scheme="", bare=True)
    if authority.count("@") > 1:
        raise _Unreadable(text)
    return _authority(scheme, authority)


def _host(text: str) -> str:
    """Return a host in its usual form, as the URL Standard parses it.

    The host may be an IPv6 address in brackets, an IPv4 address in any spelling, or a domain.
    """
    if text.startswith("["):
        return str(_ipv6(text[1:-1]))
    domain = _ascii(unquote_to_bytes(text).decode("utf-8"))
    domain = domain.removesuffix(".")
    if not domain or _FORBIDDEN.search(domain):
        raise _Unreadable(text)
    last = domain.rpartition(".")[2]
    if last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last):
        return str(_ipv4(domain))
    return domain


def _ipv6(text: str) -> IPv6Address | IPv4Address:
    address = IPv6Address(text.partition("%")[0])
    return address.ipv4_mapped or address


def _ascii(domain: str) -> str:
    if domain.isascii() and "xn--" not in domain.lower():
        return domain.lower()
    import idna  # noqa: PLC0415 - idna's tables are large, and most hosts are plain ASCII

    try:
        mapped = idna.uts46_remap(domain, std3_rules=False, transitional=False)
        return mapped if mapped.isascii() and "xn--" not in mapped else idna.encode(mapped, uts46=False).decode()
    except UnicodeError as error:
        raise _Unreadable(domain) from error


def _ipv4(domain: str) -> IPv4Address:
    parts = domain.split(".")
    numbers = [_number(part) for part in parts]
    if (
        len(parts) > _OCTETS
        or any(number > _OCTET for number in numbers[:-1])
        or numbers[-1] >= 256 ** (_OCTETS + 1 - len(parts))
    ):
        raise _Unreadable(domain)
    return IPv4Address(sum(number << (24 - 8 * at) for at, number in enumerate(numbers[:-1])) + numbers[-1])


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    if not part.isdigit() or len(part) > _MAX_NUMBER:
        raise _Unreadable(part)
    return int(part, 8) if len(part) > 1 and part[0] == "0" else int(part)


def _address(host: str) -> Address | None:
    if ":" not in host and not host[-1:].isdigit():
        return None
    try:
        return ip_address(host)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def address_classes(address: Address) -> frozenset[str]:
    """Return the classes of an address, such as ``private``, and of every IPv4 address inside it (mapped, NAT64, 6to4,
    Teredo).
    """
    found = {"metadata"} if address in _METADATA else set()
    if isinstance(address, IPv4Address):
        found.update(name for network, name in _V4_NETWORKS if address in network)
        return frozenset(found or {"public"})
    found.update(name for network, name in _V6_NETWORKS if address in network)
    for inner in carried(address):
        found.update(address_classes(inner))
    if len(found) > 1:
        found.discard("public")
    return frozenset(found or {"public"})


def carried(address: Address) -> list[IPv4Address]:
    """Return every IPv4 address that is inside an IPv6 address (RFC 4291, 6052, 3056 and 4380)."""
    if isinstance(address, IPv4Address):
        return []
    inner = [
        IPv4Address(int(address) >> shift & 0xFFFFFFFF)
        for network, shift in _MAPPED
        if address in network and int(address) > _SMALLEST_CARRIED
    ]
    if address in _TEREDO:
        inner += [IPv4Address(int(address) >> 64 & 0xFFFFFFFF), IPv4Address(~int(address) & 0xFFFFFFFF)]
    return inner


def name_classes(host: str) -> frozenset[str]:
    """Return the classes of a host name, such as ``internal_name``, or an empty set for an ordinary public name."""
    found = {"metadata"} if host in _METADATA_NAMES else set()
    if any(host == name or host.endswith("." + name) for name in _INTERNAL) or host in _METADATA_NAMES:
        found.add("internal_name")
    if host == "localhost" or host.endswith(".localhost"):
        found.add("loopback")
    return frozenset(found)


def url_classes(url: Url, addresses: Iterable[str] = ()) -> frozenset[str]:
    """Return every class of the URL as written, and of the addresses to which its host was resolved."""
    found = set() if url.sure else {"ambiguous"}
    if url.scheme not in ("http", "https", ""):
        found.add("not_http")
    if url.host is None:
        return frozenset(found | {"ambiguous"} if url.scheme in ("http", "https", "") else found)
    address = url.address
    found |= name_classes(url.host) if address is None else address_classes(address)
    for text in addresses:
        found |= address_classes(_ipv6(text) if ":" in text else IPv4Address(text))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class HostList:
    """A compiled list of hosts: names, ``*.domain`` wildcards, addresses and networks (``10.0.0.0/8``)."""

    names: frozenset[str]
    suffixes: tuple[str, ...]
    networks: tuple[IPv4Network | IPv6Network, ...]

    @classmethod
    def of(cls, entries: Iterable[str]) -> HostList:
        """Return the compiled list of these entries. Blank entries are skipped.

        Raises:
            ValueError: an entry is not a host, wildcard, address or network; the message names the entry.
        """
        names: set[str] = set()
        suffixes: list[str] = []
        networks: list[IPv4Network | IPv6Network] = []
        for entry in filter(None, (entry.strip() for entry in entries)):
            if re.fullmatch(r"[0-9a-fA-F.:]+/\d+", entry):
                networks.append(ip_network(entry))
            elif entry.startswith("*."):
                suffixes.append("." + _entry(entry[2:]))
            else:
                names.add(_entry(entry))
        return cls(frozenset(names), tuple(suffixes), tuple(networks))

    def exactly(self, host: str) -> bool:
        """Return whether the list has the host.

        The list may have the host's name, its address, a network with its address, or a wildcard: ``*.example.org`` for
        ``www.example.org``, but not for ``a.b.example.org``.
        """
        if host in self.names or any(host[host.find(".") :] == suffix for suffix in self.suffixes):
            return True
        address = _address(host) if self.networks else None
        return address is not None and any(address in network for network in self.networks)

    def mentioned(self, text: str) -> bool:
        """Return whether a text that isn't a URL, such as ``git@host:path``, holds a name of the list."""
        folded = unquote(text).casefold()
        return any(name.lstrip(".") in folded for name in (*self.names, *self.suffixes))

    def covers(self, host: str) -> bool:
        """Return whether the list has the host, a domain above it, or an IPv4 address inside its IPv6 address."""
        if self.exactly(host) or any(host.endswith(suffix) for suffix in self.suffixes):
            return True
        address = _address(host)
        if address is not None:
            return any(self.exactly(str(inner)) for inner in carried(address))
        parts = host.split(".")
        return any(".".join(parts[at:]) in self.names for at in range(1, len(parts)))


def _entry(text: str) -> str:
    bare = text.strip("[]") if text.count(":") > 1 else text
    try:
        return _host(f"[{bare}]" if bare.count(":") > 1 else bare)
    except (_Unreadable, ValueError) as error:
        raise ValueError(say("fault.host", text=repr(text))) from error
