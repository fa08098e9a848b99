"""Masks secrets in the texts that people and logs see. The texts that are stored, hashed or run keep their secrets.

A secret is recognised in two ways. Its format: many issuers give their credentials a recognisable prefix, alphabet and
length. Texts in a known format are always masked. Its name: in `password=abc` the word `password` shows that `abc` is a
secret. Such a value is masked too, but not in code and commands, where a wrong guess would hide text that a person must
judge.

A mask keeps the format's prefix and says how many characters it hides: `ghp_[masked 36]`. No format matches characters
with which a shell could run something, so a mask can't hide a command. Every pattern is bounded or possessive, so the
time grows only with the length of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hitl.errors import MisfitError
from hitl.outcomes import Misfit
from hitl.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# A token may start anywhere except inside a word. It may also start right after an escape such as `\n` in JSON.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_WORD = r"A-Za-z0-9_\-"
_BASE64 = "A-Za-z0-9+/"

# Prefix of a token -> the characters that may follow in the token, and how many of them a token has at least.
_PREFIXED: dict[str, tuple[str, int]] = {
    r"gh[pousr]_": ("A-Za-z0-9", 20),  # GitHub
    r"github_pat_": ("A-Za-z0-9_", 20),
    r"gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-": (_WORD + ".", 16),  # GitLab
    r"xox[abeoprs]-": (_WORD + ".", 6),  # Slack
    r"xapp-": (_WORD, 6),
    r"sk-(?:ant|or|proj|svcacct|admin|lf)-": (_WORD, 8),  # Anthropic, OpenRouter, OpenAI, Langfuse
    r"AIza": (_WORD, 30),  # Google
    r"ya29\.": (_WORD + ".", 20),
    r"GOCSPX-": (_WORD, 20),
    r"1//0": (_WORD, 30),
    r"[rs]k_(?:live|test)_": ("A-Za-z0-9", 8),  # Stripe
    r"whsec_": (_BASE64 + "=", 16),
    r"npm_": ("A-Za-z0-9", 30),
    r"pypi-": (_WORD, 30),
    r"hf_": ("A-Za-z0-9", 20),  # Hugging Face
    r"SG\.": (_WORD + ".", 40),  # SendGrid
    r"xkeysib-": (_WORD, 30),  # Brevo
    r"AGE-SECRET-KEY-1": ("A-Z0-9", 20),  # age, a tool for encryption
    r"hv[bsr]\.": (_WORD + ".", 20),  # HashiCorp Vault
    r"do[opr]_v1_": ("0-9a-f", 40),  # DigitalOcean
    r"shp(?:at|ca|pa|ss)_": ("0-9A-Fa-f", 30),  # Shopify
    r"sayso_": (_WORD, 40),  # Sayso's own bearer tokens
    r"dapi": ("0-9a-f", 32),  # Databricks
    r"dp\.(?:audit|ct|pt|sa|scim|st)\.": (_WORD + ".", 20),  # Doppler
    r"lin_(?:api|oauth)_": ("A-Za-z0-9", 30),  # Linear
    r"(?:ntn|figd|glsa|glc|gsk|nfp|sbp|phx|tfp)_": (_WORD, 30),  # Notion, Figma, Grafana, Groq, Netlify, ...
    r"pscale_(?:oauth|pw|tkn)_": (_WORD + ".", 30),  # PlanetScale
    r"rubygems_": ("0-9a-f", 40),
    r"dckr_(?:oat|pat)_": (_WORD, 20),  # Docker
    r"sntry[su]_": (_WORD + "=+/", 30),  # Sentry
    r"AT(?:ATT3|CTT3|BB)": (_WORD + "=", 24),  # Atlassian
    r"(?:PMAK|NRAK|HRKU|pul|xai|pplx|tskey)-": (_WORD, 24),  # Postman, New Relic, Heroku, Pulumi, xAI, ...
    r"r8_": ("A-Za-z0-9", 30),  # Replicate
    r"sq0(?:atp|csp|idp)-": (_WORD, 20),  # Square
    r"EAAA[A-Z]": ("A-Za-z0-9", 30),  # Meta and Square
    r"eyJ": (_WORD, 8),  # JSON Web Tokens (RFC 7519), which have a format of their own below
}
_NOT_BY_PREFIX_ALONE = {"eyJ"}


class _Format(Struct, frozen=True):
    """A pattern for one format of secrets. Its group `secret` is masked, and its group `keep` stays.

    `hints` are words in lower case. If there are hints, only texts that hold one of them are searched.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]

    def mask(self, text: str, lowered: str) -> str:
        for hint in self.hints:
            if hint in lowered:
                break
        else:
            if self.hints:
                return text
        return self.pattern.sub(_masked, text)


def _masked(match: re.Match[str]) -> str:
    """Return the whole match with its group `secret` replaced by a mask. If the secret is a mask already, it stays."""
    start, end = match.span("secret")
    before, after = match[0][: start - match.start()], match[0][end - match.start() :]
    return before + _counted(match["secret"]) + after


def _counted(secret: str) -> str:
    if _MASKED.fullmatch(secret):
        return secret
    known = _KNOWN_START.match(secret)
    kept = known[0] if known else ""
    return f"{kept}[masked {len(secret) - len(kept):,}]"


def _format(hints: str, pattern: str, flags: int = 0) -> _Format:
    return _Format(tuple(hints.split()), lazily(pattern, flags))


_ANY_PREFIX = "|".join(_PREFIXED) + "|sk-"
_KNOWN_START = lazily(_ANY_PREFIX)
#: A pattern for masks. A mask names the length of the secret, and the secret's kind if an operator's pattern found it.
_MARK = r"\[masked (?:[a-z][a-z0-9-]{0,30} )?[0-9,]+\]"
_MASKED = lazily(rf"(?:(?:{_ANY_PREFIX})?{_MARK})+")
# A token whose alphabet has hyphens or underscores must also hold a digit or a capital letter. Otherwise a name such
# as `pul-request-template-for-issues` would be a token.
_NOT_A_NAME = rf"(?=[{_WORD}.]{{0,48}}[0-9A-Z])"
_PREFIXED_TOKEN = (
    _START
    + "(?:"
    + "|".join(
        f"(?:{prefix}){_NOT_A_NAME if _WORD in alphabet else ''}[{alphabet}]{{{fewest},}}+"
        for prefix, (alphabet, fewest) in _PREFIXED.items()
        if prefix not in _NOT_BY_PREFIX_ALONE
    )
    + ")"
)

# The body of a private key between the PEM lines (BEGIN and END), even if the END line is missing. A line of less than
# 40 characters counts as a line of the key only if an END line follows later, or if it is the end of the text. A plain
# word never counts. So no command can be hidden as a line of a key. Each line may begin with the `+` or `-` of a diff.
# Both repeats of lines are atomic groups. Python 3.11.2 (Debian 12) matches a possessive repeat such as `(?:...)*+`
# wrongly if its group can backtrack or has a `(?!...)`.
_BREAK = r"(?:\s|\\[nrt]){1,8}+"
_LONG_LINE = rf"[{_BASE64}=]{{40,}}+"
_SHORT_LINE = rf"(?=[{_BASE64}]{{0,80}}[A-Z0-9+=])(?!/)[{_BASE64}=]{{1,80}}+"
_PEM_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)\s?:[ ]?[\w ,.:+/-]{0,100}"
_SIGN = "[-+]?"
_WHOLE_PEM = (
    rf"(?>(?:{_BREAK}{_SIGN}(?:{_PEM_HEADER}|{_LONG_LINE}|{_SHORT_LINE})){{1,2000}})(?=(?:{_BREAK})?{_SIGN}-----END )"
)
_BROKEN_PEM = (
    rf"(?>(?:{_BREAK}{_SIGN}(?:{_PEM_HEADER}|{_LONG_LINE})){{1,2000}})"
    rf"(?:{_BREAK}{_SIGN}{_SHORT_LINE}(?=[\s\"']{{0,8}}\Z))?"
)
_LINE = lazily(r"[^\r\n]+")
# Private keys (RFC 7468, OpenPGP, OpenSSH), even if their last line is missing.
_PRIVATE_KEY = _format(
    "private",
    r"(?P<keep>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)"
    rf"(?P<secret>{_WHOLE_PEM}|{_BROKEN_PEM})",
)

# Class names can begin with `sk-` too. So an OpenAI token must have 20 letters and digits in a row or, if it has
# hyphens, both a digit and a capital letter.
_OPENAI = (
    rf"[A-Za-z0-9]{{20,}}+(?![{_WORD}])"
    rf"|(?=[{_WORD}]{{0,48}}[0-9])(?=[{_WORD}]{{0,48}}[A-Z])[{_WORD}]{{20,}}+"
)

_FORMATS = (
    _PRIVATE_KEY,
    _format(  # Addresses of webhooks (Slack, Discord, Microsoft Teams), whose path is the secret
        "hooks webhook",
        r"(?P<keep>https?://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
        r"|(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,25}/"
        r"|[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/))(?P<secret>[\w@/-]{4,}+)",
    ),
    _format(  # JSON Web Tokens, RFC 7519, and JWE
        "eyj",
        rf"(?:(?<![{_WORD}])|(?<=\\[nrt])|(?<=^-)|(?<=\\n-))"
        rf"(?P<secret>eyJ[{_WORD}]{{6,4096}}\.[{_WORD}]{{4,}}+(?:\.[{_WORD}]*+){{1,3}})",
        re.MULTILINE,
    ),
    _format(  # Amazon Web Services: a key id with the secret after it
        "akia asia abia acca",
        _START + rf"(?P<keep>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}[^{_BASE64}$`();|&<>]{{1,8}}(?:[A-Za-z_]{{1,40}}"
        rf"[^{_BASE64}$`();|&<>]{{1,8}})?)(?P<secret>[{_BASE64}]{{40}})(?![{_BASE64}=])",
    ),
    _format("akia asia abia acca", _START + r"(?P<keep>AKIA|ASIA|ABIA|ACCA)(?P<secret>[A-Z0-9]{16})(?![A-Z0-9])"),
    _format(
        "aws",
        rf"(?P<keep>aws.{{0,20}}(?:secret|session|security).{{0,30}}?[=:'\"\s,])(?P<secret>[{_BASE64}]{{40,}}+={{0,2}})",
        re.IGNORECASE,
    ),
    _format(  # Azure: connection strings for storage and the service bus
        "accountkey sharedaccesskey",
        rf"(?P<keep>(?:AccountKey|SharedAccessKey)=)(?P<secret>[{_BASE64}]{{20,}}+={{0,2}})",
    ),
    _format(  # Telegram bot tokens; the number in front is the bot's public id and stays
        ":",
        _START + r"(?P<keep>(?:bot)?[0-9]{8,10}:)(?P<secret>[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])",
    ),
    _format(  # Discord bot tokens
        ".",
        _START + r"(?P<secret>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})(?![\w.-])",
    ),
    _format("atlasv1", r"(?P<secret>[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}+)"),  # Terraform
    _format("pat", _START + r"(?P<keep>pat)(?P<secret>[A-Za-z0-9]{14}\.[0-9a-f]{40,}+)"),  # Airtable
    _format("key-", _START + r"(?P<keep>key-)(?P<secret>[0-9a-f]{32})(?![0-9A-Za-z-])"),  # Mailgun
    _format("-us", _START + r"(?P<secret>[0-9a-f]{32}-us[0-9]{1,2})(?![0-9A-Za-z-])"),  # Mailchimp
    _format("sk", _START + r"(?P<keep>SK)(?P<secret>[0-9a-f]{32})(?![0-9A-Za-z])"),  # Twilio
    _format("", rf"(?P<secret>{_PREFIXED_TOKEN})"),
    _format("sk-", _START + rf"(?P<keep>sk-)(?P<secret>{_OPENAI})"),  # OpenAI, and others with the prefix `sk-`
    _format(  # HTTP credentials, RFC 9110 section 11
        "authorization",
        r"(?P<keep>authorization[\\\"']{0,3}\s{0,3}[:=,]\s{0,3}[\\\"']{0,3}"
        r"(?:(?:bearer|basic|token|bot|apikey|digest|negotiate)\s{1,3})?)"
        r"(?!(?:bearer|basic|token|bot|apikey|digest|negotiate)\b)(?P<secret>[A-Za-z0-9._~+/=:-]++)",
        re.IGNORECASE,
    ),
    _format(
        "bearer",
        r"\b(?P<keep>bearer\s{1,3})(?=[A-Za-z0-9._~+/-]{0,64}[0-9])(?P<secret>[A-Za-z0-9._~+/-]{12,}+=*+)",
        re.IGNORECASE,
    ),
    _format(
        "basic",
        rf"\b(?P<keep>basic\s{{1,3}})(?=[{_BASE64}]{{0,64}}[0-9])(?=[{_BASE64}]{{0,64}}[A-Z])(?P<secret>[{_BASE64}]{{12,}}+=*+)",
        re.IGNORECASE,
    ),
    _format(  # Cookies, RFC 6265
        "cookie",
        r"(?P<keep>\b(?:set-)?cookie\\?[\"']?:\s{0,3}\\?[\"']?)(?P<secret>[\w.!#%&*+^|~-]{1,80}=[^\s\"'`$\\;|&<>()]*+"
        r"(?>(?:;\s?[\w.!#%*+^~-]{1,80}=[^\s\"'`$\\;|&<>()]*+)*))",
        re.IGNORECASE,
    ),
    _format(  # User name and password in URLs, RFC 3986 section 3.2.1
        "://",
        r"(?P<keep>[a-z][a-z0-9+.-]{0,30}://[^\s/@:?#\"'`$()<>|;&]{0,200}:)"
        r"(?P<secret>(?!\$)[^\s/@\"'`()<>|;&]{1,400})(?=@[\w\[$.-])",
        re.IGNORECASE,
    ),
    _format(  # The name and password after curl's -u
        "curl",
        r"(?P<keep>\bcurl\b[^\n|;&<>]{0,400}?\s(?:-[A-Za-z]{0,8}[uU]\s{0,3}|--(?:proxy-)?user[=\s]\s{0,3})[\"']?"
        r"[^\s:\"'$`]{1,100}:)(?P<secret>(?!\$)[^\s\"'`|;&<>]{1,400})",
    ),
    _format(  # Secrets in URL queries, and signatures, which grant the same access
        "=",
        r"(?P<keep>[?&](?:(?:access|api|auth|bot|client|id|private|refresh|session|user)[_-]?)?"
        r"(?:(?<![?&])key|token|secret|password|passwd|pwd|sig|signature|jwt|assertion)=)"
        r"(?P<secret>(?!\$)[^\s&#\"'`\\()<>|;{}\[\]]++)",
        re.IGNORECASE,
    ),
    _format(
        "x-amz-",
        r"(?P<keep>[?&]X-Amz-(?:Signature|Credential|Security-Token)=)(?P<secret>[\w%/+.=-]+)",
        re.IGNORECASE,
    ),
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names are split into words. A name belongs to a secret if its last word is in _SECRET_WORDS, or its last two words are
# in _SECRET_PAIRS.
_SECRET_WORDS = _words(
    """
    accesskey accesstoken apikey apisecret apitoken authorization authtoken bearer bottoken clientsecret cookie
    cookies credential credentials jwt passphrase passwd password passwords privatekey pwd refreshtoken secret
    secretkey secrets sessiontoken signingsecret token xapikey
    """
)
_FIRST_WORDS = {
    "key": """
        access account api app auth client deploy encryption hmac license master private secret service session
        shared signing ssh webhook
        """,
    "keys": "access api encryption master private secret signing ssh",
    "tokens": "access api auth bearer bot refresh session",
    "pass": "admin bind db database ftp mail mysql pg postgres proxy redis root smtp sudo user",
    "phrase": "pass recovery seed",
    "auth": "basic http npm proxy",
}
_SECRET_PAIRS = {f"{first} {last}" for last, firsts in _FIRST_WORDS.items() for first in _words(firsts)}
# These words may follow the name of a secret, as in `password_old`. They are ignored.
_TRAILING = _words(
    """
    again b64 base64 confirm confirmation current dev hex live new old plain plaintext prod production raw repeat
    staging str string test value
    """
)
# After one of these words, as in `max_token`, `token` means a piece of text or a position in a list, and no secret.
_PLAIN_TOKENS = _words(
    """
    bos cancel cancellation cls continuation count design end eos last mask max min next num pad page pagination
    sep special start stop sync unk
    """
)
_WORDS = lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NUMBER = lazily(r"[0-9]+")
_NAME_LENGTH = 80

#: Matches a text that surely holds no secret. Every format has at least 11 characters, and the assignment of a value to
#: a name holds a sign such as `=`, or a blank. The test is fast, because a list of a hundred thousand words is masked
#: word by word.
_SHORT_WORD = lazily(r"[A-Za-z0-9_/-]{0,10}")
_HINT = lazily(r"token|secret|pass|pwd|key|auth|cookie|credential|jwt|bearer|phrase")
_GAP = r"[ \t]{0,3}"
_NAME = lazily(
    r"(?:\\[nrt])?(?P<name>(?<![A-Za-z0-9_.-])(?P<flag>--?)?[A-Za-z_]"
    rf"[A-Za-z0-9_.-]{{0,{_NAME_LENGTH - 1}}}+)"
    rf"(?:\\{{0,3}}[\"'])?(?P<is>{_GAP}(?:=>|:=|\+=|=(?![=~])|:(?!:)){_GAP}|(?(flag)[ ](?=[^ -])|(?!)))"
)
_WORD_BEFORE = lazily(r"[A-Za-z]{2,12}[ ]\Z")
_VALUE = lazily(
    r"(?P<quote>\\{1,3}[\"'])(?P<escaped>(?>(?:(?!(?P=quote))[^\n])*))"
    r"|\"(?P<double>(?:[^\"\\\n]|\\.)*+)|'(?P<single>[^'\n]*+)"
    rf"|(?P<bare>(?:{_ANY_PREFIX})?{_MARK}(?=#)"
    rf"|(?![\w.]{{1,80}}\()(?>(?:{_MARK}|[^\s\"'`,;&|<>(){{}}\\])+))"
)
# After the name of a secret, these values aren't secrets: references such as `$TOKEN`, words such as `null`, and names
# of schemes such as `bearer`. The pattern for references matches only their beginning, so a long reference takes no
# time.
_REFERENCE = lazily(r"\\{0,3}[\"']?[$<]")
_STAND_IN = lazily(
    r"%\w+%|\*+|\.{3}|…|x{3,}|true|false|null|none|nil|undefined|yes|no|on|off"
    r"|bearer|basic|digest|negotiate|",
    re.IGNORECASE,
)
_KNOWN_VALUE = lazily(rf"\\{{0,3}}[\"']?(?:{_ANY_PREFIX})")
_LETTERS = lazily(r"[A-Za-z]?[a-z]+[.!?]?")
_SCHEME = lazily(r"(?:bearer|basic|token|bot|digest)\s+(?=\S)", re.IGNORECASE)
_NEAR_A_NAME = lazily(
    rf"(?P<keep>\b(?:api[ _-]?key|token|secret|password|credential)s?\b[^\n]{{0,40}}?{_START})"
    rf"(?P<secret>(?-i:{_ANY_PREFIX})(?=[A-Za-z0-9_-]{{0,40}}(?-i:[A-Z0-9]))[A-Za-z0-9_.-]{{4,}}+)",
    re.IGNORECASE,
)
_CURL_USER = ("-u", "-U", "--user", "--proxy-user")
_FLAG = lazily(r"--?[A-Za-z][A-Za-z0-9_-]*")


#: Kind of secret -> the compiled pattern that the operator gave for it.
_own: dict[str, Any] = {}


def mask_also(patterns: Mapping[str, str]) -> None:
    """Set the operator's own patterns, in place of the earlier patterns.

    The key of a pattern is the kind of secret, which the masks show: `[masked KIND 12]`.

    Texts that match a pattern are masked everywhere in this process, as are texts in the built-in formats. The patterns
    have RE2's syntax, which takes linear time on any text. Raises ValueError for an invalid pattern, and for a pattern
    that matches the empty text.
    """
    _own.clear()
    _own.update({kind: _compiled_own(kind, pattern) for kind, pattern in patterns.items()})


def _compiled_own(kind: str, pattern: str) -> Any:
    import re2  # noqa: PLC0415 - a native library that few operators need

    options = re2.Options()
    options.log_errors = False
    try:
        # The pattern is compiled alone first, so that an error quotes only the operator's own text.
        re2.compile(pattern, options)
        found = re2.compile(rf"({_MARK})|(?:{pattern})", options)
    except re2.error as error:
        reason = error.args[0]
        why = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise MisfitError(Misfit.PATTERN, kind=kind, why=why) from error
    if found.fullmatch("") is not None:
        raise MisfitError(Misfit.EMPTY_PATTERN, kind=kind)
    return found


def _mask_own(text: str) -> str:
    for kind, pattern in _own.items():
        text = pattern.sub(lambda match, kind=kind: match[1] or f"[masked {kind} {len(match[0]):,}]", text)
    return text


def mask(text: str, *, code: bool = False) -> str:
    """Return the text with its secrets masked.

    Secrets in a known format are always masked. The value after the name of a secret, as in `password=abc`, is masked
    too. With `code`, such a value is masked only if it begins with a known prefix. Masking a masked text changes
    nothing.
    """
    if _own:
        text = _mask_own(text)
    if _SHORT_WORD.fullmatch(text):
        return text
    lowered = text.lower()
    for known in _FORMATS:
        text = known.mask(text, lowered)
    if not _HINT.search(lowered):
        return text
    return _mask_assignments(_NEAR_A_NAME.sub(_masked, text), code=code)


def mask_key_lines(text: str) -> str:
    """Return the text with its private keys masked line by line, so that the number of lines doesn't change."""
    if "private" not in text.lower():
        return text
    masked: str = _PRIVATE_KEY.pattern.sub(
        lambda key: key["keep"] + _LINE.sub(lambda line: _counted(line[0]), key["secret"]), text
    )
    return masked


def mask_value(value: Any, *, code: bool = False) -> Any:
    """Return a JSON value with its secrets masked at any depth.

    Values under the name of a secret are masked whole, except booleans, null and empty strings. All other strings are
    masked as `mask` does; `code` is as in `mask`.
    """
    if isinstance(value, str):
        return mask(value, code=code)
    if isinstance(value, dict):
        return _mask_object(value, code=code)
    if isinstance(value, list | tuple):
        return list(_mask_items(value, code=code))
    return value


def is_secret_name(name: str) -> bool:
    """Return whether a name belongs to a secret: `db_password`, `apiKey`, `X-Auth-Token`, but not `max_tokens`."""
    name = name[-_NAME_LENGTH:]
    if not _HINT.search(name.lower()):
        return False  # without a match of _HINT, the name holds no word from the tables
    words = [word.lower() for word in _WORDS.findall(name)]
    while words and (words[-1] in _TRAILING or _NUMBER.fullmatch(words[-1])):
        words.pop()
    if not words or (words[-1] == "token" and _PLAIN_TOKENS.intersection(words[-2:-1])):
        return False
    return words[-1] in _SECRET_WORDS or " ".join(words[-2:]) in _SECRET_PAIRS


def _mask_object(value: Mapping[str, Any], *, code: bool) -> dict[str, Any]:
    described = _describes_a_secret(value)

    def shown(key: str, item: Any) -> Any:
        secret = is_secret_name(key) or (described and key.lower() == "value")
        return _hide(item) if secret else mask_value(item, code=code)

    return by_name((mask(key, code=True), shown(key, item)) for key, item in value.items())


def by_name(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return items with (masked) names as a dict. If names are equal, the second gets a `'` at its end, the third `'2`.

    The time doesn't grow with the square of the number of equal names.
    """
    named: dict[str, Any] = {}
    marks: Counter[str] = Counter()
    for name, item in items:
        free = name
        while free in named:
            marks[name] += 1
            free = f"{name}'{marks[name]}" if marks[name] > 1 else f"{name}'"
        named[free] = item
    return named


def _describes_a_secret(value: Mapping[str, Any]) -> bool:
    """Return whether an object holds a secret under "value" and its name in another member.

    For example, `{"name": "Authorization", "value": ...}` is such an object.
    """
    names = (item for key, item in value.items() if key.lower() in {"name", "key", "header"})
    return any(isinstance(name, str) and is_secret_name(name) for name in names)


def _mask_items(items: Sequence[Any], *, code: bool) -> Iterator[Any]:
    """Yield the masked items of a list, which may be the words of a command.

    The item after a flag such as `--password` is masked whole. In the item after curl's `-u`, the part after the colon
    is masked.
    """
    flagged = named = False
    is_curl = bool(items) and isinstance(items[0], str) and items[0].rpartition("/")[2] == "curl"
    for item in items:
        if named and isinstance(item, str) and ":" in item:
            name, _, password = item.partition(":")
            yield f"{name}:{_hide_text(password)}" if password else item
        else:
            yield _hide(item) if flagged else mask_value(item, code=code)
        named = is_curl and item in _CURL_USER
        flagged = isinstance(item, str) and bool(_FLAG.fullmatch(item)) and is_secret_name(item)


def _hide(value: Any) -> Any:
    """Return the value under a secret's name, with every text and number in it masked.

    A text keeps a known prefix, such as `ghp_`.
    """
    if isinstance(value, dict):
        return {key: _hide(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hide(item) for item in value]
    if value is None or isinstance(value, bool) or value == "":
        return value
    return _hide_text(str(value))


def _hide_text(text: str) -> str:
    scheme = _SCHEME.match(text)
    kept = scheme[0] if scheme else ""
    return kept + _counted(text[len(kept) :])


def _mask_assignments(text: str, *, code: bool) -> str:
    pieces: list[str] = []
    done = 0
    for name in _NAME.finditer(text):
        if name.start() < done or not _may_hold_a_secret(name, code=code):
            continue
        value = _VALUE.match(text, name.end())
        if value and (code or _is_a_secret(name, value)):
            start, end = value.span(str(value.lastgroup))
            pieces += text[done:start], _hide_text(text[start:end])
            done = end
    return "".join([*pieces, text[done:]])


def _may_hold_a_secret(name: re.Match[str], *, code: bool) -> bool:
    if not _names_a_secret(name):
        return False
    if code:
        return _KNOWN_VALUE.match(name.string, name.end()) is not None
    return _REFERENCE.match(name.string, name.end()) is None


def _names_a_secret(name: re.Match[str]) -> bool:
    if is_secret_name(name["name"]):
        return True
    before = _WORD_BEFORE.search(name.string, max(name.start() - 13, 0), name.start())
    return before is not None and is_secret_name(before[0] + name["name"])


def _is_a_secret(name: re.Match[str], value: re.Match[str]) -> bool:
    """Return whether the value that is assigned to a secret's name is really a secret.

    After a colon, a plain word that is followed by another word is part of a sentence. An absolute path after `PWD`
    isn't a secret, because a shell keeps its working folder in `PWD` (POSIX.1-2024, XBD 8.3).
    """
    text = value[str(value.lastgroup)]
    if _STAND_IN.fullmatch(text) or (name["name"] == "PWD" and text.startswith("/")):
        return False
    in_prose = name["is"].strip() == ":" and value["bare"] is not None
    return not (in_prose and _LETTERS.fullmatch(text) and _goes_on(value))


def _goes_on(value: re.Match[str]) -> bool:
    rest = value.string[value.end() : value.end() + 2]
    return rest[:1] == " " and rest[1:].isalpha()
