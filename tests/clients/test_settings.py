"""Where the client finds its service: arguments or a file of the user's own, never the folder it runs in."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

import certifi
import pytest

from sayso_client import ClientError, Sayso, configuration
from sayso_client.remote import trusting
from tests.sentences import says


def kept(folder: Path, text: str, mode: int = 0o600) -> Path:
    """A configuration file."""
    file = folder / "client.toml"
    file.write_text(text)
    file.chmod(mode)
    return file


def refused(**terms: object) -> str:
    """The code and sentence of a configuration that can't be used."""
    with pytest.raises(ClientError) as error:
        configuration(**terms)  # type: ignore[arg-type]
    assert "CONFIGURATION" == error.value.code
    return error.value.message


def test_a_file_names_address_and_token(tmp_path: Path) -> None:
    """The token lies in a file of its own."""
    token = tmp_path / "token"
    token.write_text("sayso_x\n")
    token.chmod(0o600)
    file = kept(tmp_path, f'url = "https://gate.example.org/"\ntoken_file = "{token}"\n')
    found = configuration(file=file)

    assert ("https://gate.example.org", "sayso_x") == (found.url, found.token)
    assert "sayso_x" not in repr(found)


def test_the_working_folder_is_not_looked_at_nor_an_address_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that can write there could name a service that says yes to everything."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("SAYSO_SOCKET", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_URL", "https://evil.example.org")
    kept(tmp_path, 'url = "https://evil.example.org"')
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    assert str(tmp_path / "home") in refused()


def test_a_file_of_the_users_own_counts_more_than_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes the file chooses the service for good. SAYSO_SOCKET serves those who have no such file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_SOCKET", "/named.sock")
    without = configuration()
    (tmp_path / ".config" / "sayso").mkdir(parents=True)
    kept(tmp_path / ".config" / "sayso", 'socket = "/own.sock"')

    assert ("/named.sock", "/own.sock") == (without.socket, configuration().socket)


def test_the_usual_socket_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service of this user listens there, unless its settings name another folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("SAYSO_SOCKET", raising=False)
    (tmp_path / "sayso").mkdir()
    (tmp_path / "sayso" / "sayso.sock").touch()

    assert str(tmp_path / "sayso" / "sayso.sock") == configuration().socket


def test_paths_in_the_file_are_relative_to_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder may have a file of the same name, which an agent wrote."""
    own, working = tmp_path / "own", tmp_path / "working"
    for folder, token in ((own, "sayso_own"), (working, "sayso_evil")):
        folder.mkdir()
        (folder / "token").write_text(token)
        (folder / "token").chmod(0o600)
        (folder / "ca.pem").write_text("")
    kept(own, 'url = "https://gate.example.org"\ntoken_file = "token"\nca_file = "ca.pem"\n')
    monkeypatch.chdir(working)
    found = configuration(file="../own/client.toml")

    assert ("sayso_own", own / "ca.pem") == (found.token, Path(found.ca_file or "").resolve())


def test_no_keys_of_connections_are_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSLKEYLOGFILE would let whoever sets it read the token."""
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    with Sayso(configuration(url="https://gate.example.org", token="t")):
        assert trusting(None).keylog_filename is None

    assert not (tmp_path / "keys").exists()


def test_the_environment_names_no_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sets such a variable could name the authority of a false service, which approves everything."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    system = trusting(None).get_ca_certs()
    monkeypatch.setenv("SSL_CERT_FILE", certifi.where())

    assert system == trusting(None).get_ca_certs() != ssl.create_default_context().get_ca_certs()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    """Whoever writes it chooses who says yes."""
    assert refused(file=kept(tmp_path, 'url = "https://gate.example.org"', mode))


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """It would ask in our name."""
    token = tmp_path / "token"
    token.write_text("sayso_x")
    token.chmod(0o644)

    assert refused(file=kept(tmp_path, f'url = "https://gate.example.org"\ntoken_file = "{token}"'))


@pytest.mark.parametrize(
    "url",
    [
        "http://gate.example.org",
        "gate.example.org",
        "ftp://gate.example.org",
        "https://",
        "https://ada:pw@gate.example.org",
        "https://gate.example.org/?x=1",
        "http://localhost.example.org",
    ],
)
def test_an_address_that_is_unsafe_is_refused(url: str) -> None:
    """A token never crosses a network in the clear; what an address holds beside host and path is a mistake."""
    assert "pw" not in refused(url=url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080"])
def test_this_machine_needs_no_certificate(url: str) -> None:
    """Nothing crosses a network."""
    assert url == configuration(url=url).url


@pytest.mark.parametrize("text", ['urls = "x"', "url = [", 'token = "sayso_x"'], ids=["unknown", "no TOML", "token"])
def test_what_a_file_cannot_hold_is_named(tmp_path: Path, text: str) -> None:
    """A token stands in no configuration, and is not repeated in the error."""
    assert "sayso_x" not in refused(file=kept(tmp_path, text))


def test_an_empty_path_in_the_file_names_nothing(tmp_path: Path) -> None:
    """It isn't the folder of the file: then no request could be made."""
    found = configuration(
        file=kept(tmp_path, 'url = "https://gate.example.org"\nsocket = ""\ntoken_file = ""\nca_file = ""\n')
    )

    assert (None, None, None) == (found.socket, found.token, found.ca_file)


def test_certificates_are_checked_as_python_does_by_default() -> None:
    """Python 3.13 became stricter, and our own context follows it."""
    assert ssl.create_default_context().verify_flags == trusting(None).verify_flags


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"url = x", "unread.line"),
        (b"url = '\xff'", "unread.utf8"),
        (b"url = 'https://a'\nurl = 'https://b'\n", "unread.line"),
    ],
)
def test_why_a_file_can_not_be_read_is_told_in_plain_words(tmp_path: Path, text: bytes, what: str) -> None:
    """The error names the place, and no class or message of Python."""
    file = tmp_path / "client.toml"
    file.write_bytes(text)
    file.chmod(0o600)

    with pytest.raises(ClientError) as refused:
        configuration(file=file)

    assert says(refused.value.message, what)
    assert not re.search(r"Error|Invalid|codec|Cannot", refused.value.message)
