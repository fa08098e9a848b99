"""Opens connections to a service on another machine, over TLS and with a bearer token. It uses only the standard
library.
"""

from __future__ import annotations

import socket
import sys
from functools import cache

from sayso_client.client import Client
from sayso_client.errors import ClientError
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from urllib.parse import SplitResult

#: The hosts to which a token may be sent without TLS, because it doesn't leave the machine.
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
#: The purpose "authenticate a server" of a certificate in the store of Windows (RFC 5280, 4.2.1.12).
_SERVERS = "1.3.6.1.5.5.7.3.1"
#: Seconds that a read may take. The service answers a long poll after at most 30 seconds.
_TIMEOUT_S = 45


def address(url: str) -> SplitResult:
    """Return the parts of a service's address.

    Raises ClientError with the code CONFIGURATION if the text isn't an address, or if a token would cross the network
    unencrypted.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"https", "http"} and (parts.hostname or "").encode("idna") and parts.port != 0
    except ValueError:
        raise _wrong("configuration.url", "?") from None
    host = parts.hostname or "?"
    if not whole or "@" in parts.netloc or parts.query or parts.fragment:
        raise _wrong("configuration.url", host)
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise _wrong("configuration.clear", host)
    return parts


def trusting(ca_file: str | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the authorities in the file or, without a file, the authorities of the system.

    Unlike `ssl.create_default_context`, it ignores three variables. It writes no keys into the file that SSLKEYLOGFILE
    names. It takes no authorities from SSL_CERT_FILE and SSL_CERT_DIR, because somebody who sets these variables could
    name the authority of a false service.
    """
    import ssl

    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if sys.version_info >= (3, 13):  # From this version on, `create_default_context` sets these flags too.
        made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VERIFY_X509_STRICT
    if ca_file is not None:
        made.load_verify_locations(ca_file)
    else:
        _trust_system(made)
    return made


def _trust_system(context: ssl.SSLContext) -> None:
    """Trust the authorities of this system. If there are none, nothing is trusted and no connection is made."""
    import os
    import ssl

    if sys.platform == "win32":
        found = [one for store in ("CA", "ROOT") for one in ssl.enum_certificates(store)]
        named = (cert for cert, kind, use in found if kind == "x509_asn" and (use is True or _SERVERS in use))
        context.load_verify_locations(cadata=b"".join(named))
        return
    # The paths that were built into OpenSSL. `load_default_certs` would also take paths from the environment.
    paths = ssl.get_default_verify_paths()
    if os.path.isdir(paths.openssl_capath):
        context.load_verify_locations(capath=paths.openssl_capath)
    if os.path.isfile(paths.openssl_cafile):
        context.load_verify_locations(paths.openssl_cafile)


def remote(url: str, token: str, ca_file: str | None = None) -> Callable[[], Client]:
    """Return a function that opens a connection to the service at `url`. It raises ClientError if that fails.

    If `ca_file` is given, the service's certificate must be signed by an authority in this file, and not by one of the
    system's authorities. A path in `url` goes before the paths of the API.

    Raises ClientError with the code CONFIGURATION if `address` refuses `url`.
    """
    parts = address(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    trusted = cache(trusting)

    def opened() -> socket.socket:
        context = trusted(ca_file) if parts.scheme == "https" else None
        plain = socket.create_connection((host, port), timeout=_TIMEOUT_S)
        if context is None:
            return plain
        try:
            return context.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise

    return lambda: Client(url, shown=True, opened=opened, host=parts.netloc, token=token, under=parts.path.rstrip("/"))


def _wrong(sentence: str, host: str) -> ClientError:
    return ClientError("CONFIGURATION", say(sentence, url=host))
