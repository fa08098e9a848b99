"""The operators that test the target of a URL: ``host``, ``host_class``, ``url_scheme``, ``url_port``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hitl.policy import hosts, values
from hitl.policy.grammar import some
from hitl.policy.operators.base import (
    TEXT,
    BadValue,
    Condition,
    ConditionUse,
    Judge,
    Operator,
    Test,
    a_text,
    entries,
    of_texts,
    scoped,
    split,
)
from hitl.policy.operators.scope import ANYWHERE, CallScope
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.policy.wording import say

MAX_URL = 16_384  # Characters. Some clients accept longer URLs, but parsing a longer URL takes too long.
_NO_HOST = frozenset({"mailto", "tel"})  # URL schemes without a host. Clients fetch nothing from such a URL.
_URL_COST = 20  # units of the call's budget (MAX_WORK) for testing one value; ``eq`` takes 1 unit


def _hosts(value: Any) -> hosts.HostList:
    return _host_list(entries(value))


def _host_list(found: tuple[str, ...]) -> hosts.HostList:
    try:
        return hosts.HostList.of(found)
    except ValueError as error:
        raise BadValue(str(error)) from error


def _classes(value: Any) -> frozenset[str]:
    found = entries(value)
    for name in found:
        if name not in hosts.CLASSES:
            raise BadValue(say("fault.host_class", name=repr(name), classes=", ".join(sorted(hosts.CLASSES))))
    return frozenset(found)


def _schemes(value: Any) -> frozenset[str]:
    found = frozenset(name.lower() for name in entries(value))
    for name in found:
        if not re.fullmatch(r"[a-z][a-z0-9+.-]*", name):
            raise BadValue(say("fault.scheme", name=repr(name), scheme=repr(name.partition(":")[0])))
    return found


def _ports(value: Any) -> frozenset[int]:
    parts = value if isinstance(value, list) else [value] if isinstance(value, int) else list(entries(value))
    told = [part for part in parts if not isinstance(part, bool) and str(part).isdecimal()]
    found = [int(part) for part in told if int(part) <= hosts.MAX_PORT]
    if not found or len(found) < len(parts):
        raise BadValue(say("fault.takes.ports"))
    return frozenset(found)


def _contenox_hosts(value: Any) -> hosts.HostList:
    return _host_list(split(a_text(value)))


def _build_host(condition: Condition, use: ConditionUse) -> Test:
    listed: hosts.HostList = condition.value

    def of(scope: CallScope) -> Judge:
        def judge(value: Any) -> int:
            text = values.text(value)
            if value is None or not text.strip():
                return NO
            if len(text) > MAX_URL and ("%" in text or condition.key != ANYWHERE):
                return UNSURE
            url = hosts.read_url(text)
            if url.host is None:
                named = url.scheme not in _NO_HOST and listed.mentioned(text)
                return UNSURE if named or url.scheme in ("http", "https") else NO
            if use.loosen:
                good = url.sure and not url.userinfo and listed.exactly(url.host)
                return YES if good else UNSURE if listed.covers(url.host) else NO
            if listed.covers(url.host) or any(listed.exactly(address) for address in _resolved(scope, url) or ()):
                return YES
            return NO if url.sure or url.bare else UNSURE

        return of_texts(judge, condition.key, use)

    return scoped(condition.key, of, use, _URL_COST)


def _resolved(scope: CallScope, url: hosts.Url) -> Sequence[str] | None:
    """Return the addresses of the URL's host at the time of the call.

    Return None if the resolver can't resolve the host. Return () without a resolver or a host, and for an address as
    host.
    """
    resolver = scope.surroundings.resolver
    if resolver is None or url.host is None or url.address is not None:
        return ()
    return resolver.resolve(url.host)


def _build_class(condition: Condition, use: ConditionUse) -> Test:
    wanted: frozenset[str] = condition.value

    def of(scope: CallScope) -> Judge:
        def judge(value: Any) -> int:
            url = hosts.read_url(values.text(value))
            addresses = _resolved(scope, url)
            found = _all_classes(url, addresses or ())
            if use.loosen:
                if found and addresses is not None and found <= wanted:
                    return YES
                return UNSURE if not found or found & wanted else NO
            return YES if found & wanted else UNSURE if addresses is None else NO

        return of_texts(judge, condition.key, use)

    return scoped(condition.key, of, use, _URL_COST)


def _all_classes(url: hosts.Url, addresses: Sequence[str]) -> frozenset[str]:
    try:
        return hosts.url_classes(url, addresses)
    except ValueError:
        return hosts.url_classes(url) | {"ambiguous"}


def _url_part(part: Callable[[hosts.Url], Any]) -> Callable[[Condition, ConditionUse], Test]:
    def build(condition: Condition, use: ConditionUse) -> Test:
        def judge(value: Any) -> int:
            url = hosts.read_url(values.text(value))
            found = part(url) in condition.value
            if use.loosen:
                return (YES if url.sure else UNSURE) if found else NO
            return YES if found else NO if url.sure else UNSURE

        checked = of_texts(judge, condition.key, use)
        return scoped(condition.key, lambda _: checked, use, _URL_COST)

    return build


_CLASS = {"enum": sorted(hosts.CLASSES)}
_PORT = {"type": "integer", "minimum": 0, "maximum": hosts.MAX_PORT}
OPERATORS: Mapping[str, Operator] = {
    "host": Operator(_hosts, _build_host, say("takes.hosts"), contenox_check=_contenox_hosts),
    "host_class": Operator(_classes, _build_class, say("takes.host_classes"), {"anyOf": [TEXT, some(_CLASS)]}),
    "url_scheme": Operator(_schemes, _url_part(lambda url: url.scheme), "URL schemes"),
    "url_port": Operator(
        _ports, _url_part(lambda url: url.port), say("takes.ports"), {"anyOf": [TEXT, _PORT, some({})]}
    ),
}
