"""Keys, tokens and passwords in texts, found by how they look, and masked.

Each row of the tables carries the example that proves it. Examples are put together from parts, so
that no scanner takes one for a real key. A search for a fixed piece of text comes before each
pattern: a text without secrets costs little more than reading it, and regular expressions, which
take long to load and to make, are not even loaded. No pattern can take more than linear time: each
begins where no run of its own characters is already under way.
"""

from __future__ import annotations

from navi.domain.light_typing import NamedTuple, overload

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable


class SecretKind(NamedTuple):
    name: str
    needles: tuple[str, ...]
    """One of them is in every text with such a secret."""
    expression: str
    """The group `secret` is what gets masked, or all of it if there is no such group."""
    example: str
    ignores_case: bool = False
    """The needles are in lower case, and so is the text that they are looked for in."""
    is_secret: Callable[[re.Match[str]], bool] | None = None
    """A second look at what the pattern found."""
    may_stand: Callable[[str, int, int], bool] | None = None
    """Whether the pattern could find anything at a needle, given its start and end in the text."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Made when first needed: a search that shows no secret makes hardly any of them."""
        import re

        return re.compile(self.expression)

    def may_be_in(self, text: str) -> bool:
        for needle in self.needles:
            start = text.find(needle)
            while start >= 0:
                end = start + len(needle)
                if self.may_stand is None or self.may_stand(text, start, end):
                    return True
                start = text.find(needle, end)
        return False


def mask(text: str) -> str:
    """The text with `[masked: …]` in the place of every secret; the same object if it has none."""
    lower: str | None = None
    for kind in KINDS:
        if kind.ignores_case:
            lower = _lower(text) if lower is None else lower
        if kind.may_be_in(lower if kind.ignores_case and lower else text):
            masked = kind.pattern.sub(_masked(kind), text)
            if masked != text:
                text, lower = masked, None
    return text


def _lower(text: str) -> str:
    """As a pattern that ignores case takes it."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").lower().replace("ſ", "s").replace("ı", "i")


@overload
def masked(text: str) -> str: ...
@overload
def masked(text: None) -> None: ...
@overload
def masked(text: str | None) -> str | None: ...
def masked(text: str | None) -> str | None:
    """`mask` for what may be missing."""
    return None if text is None else mask(text)


def _masked(kind: SecretKind) -> Callable[[re.Match[str]], str]:
    def replaced(found: re.Match[str]) -> str:
        if kind.is_secret is not None and not kind.is_secret(found):
            return found[0]
        if "secret" not in kind.pattern.groupindex:
            return f"[masked: {kind.name}]"
        if found["secret"].startswith("[masked"):
            return found[0]
        start, stop = (place - found.start() for place in found.span("secret"))
        return f"{found[0][:start]}[masked: {kind.name}]{found[0][stop:]}"

    return replaced


def _token(name: str, needles: str, body: str, example: str) -> SecretKind:
    """A token with a beginning of its own. `body` is what follows the needle."""
    start = needles.replace(".", r"\.").replace(" ", "|")
    expression = rf"(?<![A-Za-z0-9_-])(?:{start}){body}"
    return SecretKind(name, tuple(needles.split()), expression, example, may_stand=_begins_a_word)


def _begins_a_word(text: str, start: int, end: int) -> bool:
    """Not so `sk-` in `task-1`."""
    before = text[start - 1 : start]
    return not ((before.isascii() and before.isalnum()) or before in ("_", "-"))


# A run of characters long enough for every pattern, without being anybody's key.
_RUN = "a1B2c3D4e5" * 10
_HEX = "0a1b2c3d4e5f6789" * 4
_WORD = r"[A-Za-z0-9_-]"

# AWS writes a secret access key without any mark of its own: forty characters, of both cases, with
# a digit or a sign. Only its company tells it from other text.
_AWS_KEY_ID = r"(?<![A-Za-z0-9_-])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
_AWS_SECRET = (
    r"(?<![A-Za-z0-9/+_-])(?=[A-Z0-9/+]*+[a-z])(?=[a-z0-9/+]*+[A-Z])(?=[A-Za-z]*+[0-9/+])"
    r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+_-])"
)
_AWS_EXAMPLE = "wJalrXUtnFEMI/K7MDENG" + "+bPxRfiCY" + _RUN[:10]
_AWS_KEY_IDS = ("AKIA", "ASIA", "ABIA", "ACCA")


def _is_near_an_aws_key_id(found: re.Match[str]) -> bool:
    import re

    near = found.string[max(0, found.start() - 220) : found.end() + 220]
    return re.search(_AWS_KEY_ID, near) is not None


def _is_before_a_long_run(text: str, start: int, end: int) -> bool:
    """Not so `secret` in `a secret place`."""
    return any(len(word) >= 40 for word in text[end : end + 70].split())


# An order matters only where one pattern would find a part of what another means.
_TOKENS = [
    SecretKind(
        "AWS secret key",
        _AWS_KEY_IDS,
        _AWS_SECRET,
        "AK" + "IA" + "ABCDEFGH23456777," + _AWS_EXAMPLE,
        is_secret=_is_near_an_aws_key_id,
    ),
    SecretKind(
        "AWS secret key",
        ("secret",),
        rf"(?i:secret)(?i:[_ -]?access)?(?i:[_ -]?key)?[\s\"'`,;:=<>|\\]{{1,8}}(?:is |set )?"
        rf"{_AWS_SECRET}",
        "the secret is " + _AWS_EXAMPLE,
        ignores_case=True,
        may_stand=_is_before_a_long_run,
    ),
    _token("Anthropic key", "sk-ant-", rf"{_WORD}{{16,}}+", "sk-" + "ant-" + "api03-" + _RUN),
    _token("OpenRouter key", "sk-or-", rf"{_WORD}{{16,}}+", "sk-" + "or-v1-" + _HEX),
    _token(
        "OpenAI key",
        "sk-",
        # A digit tells a key from a name such as sk-learn-contrib-examples.
        rf"(?={_WORD}{{0,200}}[0-9]){_WORD}{{20,}}+",
        "sk-" + "proj-" + _RUN,
    ),
    _token(
        "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}+", "gh" + "p_" + _RUN[:36]
    ),
    _token("GitHub token", "github_pat_", r"[A-Za-z0-9_]{20,}+", "github" + "_pat_" + _RUN[:60]),
    _token(
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat-",
        r"[A-Za-z0-9_.-]{16,}+",
        "gl" + "pat-" + _RUN[:20],
    ),
    _token(
        "AWS key id",
        " ".join(_AWS_KEY_IDS),
        r"[A-Z0-9]{16}(?![A-Za-z0-9])",
        "AK" + "IA" + "ABCDEFGH23456777",
    ),
    _token("Google API key", "AIza", rf"{_WORD}{{35}}", "AI" + "za" + _RUN[:35]),
    _token("Google client secret", "GOCSPX-", rf"{_WORD}{{20,}}+", "GOC" + "SPX-" + _RUN[:28]),
    _token("Google access token", "ya29.", r"[A-Za-z0-9_.-]{20,}+", "ya" + "29." + _RUN),
    _token(
        "Slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp-",
        r"[A-Za-z0-9.-]{10,}+",
        "xo" + "xb-" + "123456789012-" + _RUN[:24],
    ),
    SecretKind(
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{20,}+)",
        "https://hooks.slack" + ".com/services/" + "T0000/B0000/" + _RUN[:24],
    ),
    _token(
        "Stripe key",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        r"[A-Za-z0-9]{10,}+",
        "sk" + "_live_" + _RUN[:24],
    ),
    _token("npm token", "npm_", r"[A-Za-z0-9]{30,}+", "np" + "m_" + _RUN[:36]),
    _token("PyPI token", "pypi-", rf"{_WORD}{{40,}}+", "py" + "pi-" + "AgEI" + _RUN),
    _token("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,}+", "h" + "f_" + _RUN[:34]),
    _token(
        "DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}+", "do" + "p_v1_" + _HEX
    ),
    _token(
        "SendGrid key",
        "SG.",
        rf"{_WORD}{{16,}}+\.{_WORD}{{16,}}+",
        "S" + "G." + _RUN[:22] + "." + _RUN[:43],
    ),
    _token("Databricks token", "dapi", r"[0-9a-f]{32}", "da" + "pi" + _HEX[:32]),
    _token(
        "Docker token", "dckr_pat_ dckr_oat_", rf"{_WORD}{{20,}}+", "dckr" + "_pat_" + _RUN[:27]
    ),
    _token("Vault token", "hvs. hvb. hvr.", rf"{_WORD}{{20,}}+", "hv" + "s." + _RUN[:40]),
    _token(
        "Shopify token",
        "shpat_ shpca_ shppa_ shpss_",
        r"[0-9A-Fa-f]{32}",
        "sh" + "pat_" + _HEX[:32],
    ),
    _token("Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,}+", "lin" + "_api_" + _RUN[:40]),
    _token("Notion token", "ntn_ secret_", r"[A-Za-z0-9]{40,}+", "nt" + "n_" + _RUN[:46]),
    _token("Figma token", "figd_", rf"{_WORD}{{30,}}+", "fi" + "gd_" + _RUN[:40]),
    _token("Groq key", "gsk_", r"[A-Za-z0-9]{40,}+", "gs" + "k_" + _RUN[:52]),
    _token("xAI key", "xai-", r"[A-Za-z0-9]{40,}+", "xa" + "i-" + _RUN[:80]),
    _token("Perplexity key", "pplx-", r"[A-Za-z0-9]{30,}+", "pp" + "lx-" + _RUN[:48]),
    _token("Replicate token", "r8_", r"[A-Za-z0-9]{30,}+", "r" + "8_" + _RUN[:37]),
    _token("Supabase key", "sbp_ sb_secret_", r"[A-Za-z0-9_]{20,}+", "sb" + "p_" + _HEX[:40]),
    _token("Sentry token", "sntrys_ sntryu_", r"[A-Za-z0-9_+/=]{30,}+", "snt" + "rys_" + _RUN),
    _token("Tailscale key", "tskey-", rf"{_WORD}{{20,}}+", "ts" + "key-" + "auth-" + _RUN[:30]),
    _token(
        "age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}+", "AGE-SECRET" + "-KEY-1" + "QPZRY9X8GF" * 5
    ),
    SecretKind(
        "Telegram token",
        (":AA",),
        r"(?<![A-Za-z0-9_])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])",
        "123456789" + ":A" + "A" + _RUN[:33],
    ),
    SecretKind(
        "JSON web token",
        ("eyJ",),
        rf"(?<![A-Za-z0-9_.-])eyJ{_WORD}{{8,}}+\.eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+",
        "ey" + "J" + _RUN[:20] + ".ey" + "J" + _RUN[:40] + "." + _RUN[:43],
    ),
    SecretKind(
        "private key",
        ("PRIVATE KEY",),
        # To its end line; where that is missing, to the end of what can be a key.
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}-----|[A-Za-z0-9+/=\s\\]*+)"
        ),
        "-----BEGIN RSA PRIVATE" + " KEY-----\n" + _RUN + "\n-----END RSA PRIVATE" + " KEY-----",
    ),
]


def _has_digit(found: re.Match[str]) -> bool:
    return any(sign.isdigit() for sign in found["secret"])


# What stands in such a place without being a secret.
_PLACEHOLDER = (
    r"(?i)(?:\$|%|<|\{|\*{3}|x{4,}|\.{3}|your|example|change.?me|placeholder|redacted|dummy|none\b"
    r"|null\b|undefined\b|true\b|false\b|process\.env|os\.(?:environ|getenv)|env\.|self\.|this\.)"
)


def _is_placeholder(value: str) -> bool:
    import re

    return re.match(_PLACEHOLDER, value) is not None


_PASSWORDS = ("passw", "passphrase", "secret", "credential")


def _is_assigned_secret(found: re.Match[str]) -> bool:
    """Told from code and prose: `token: str`, `tokens = 4096`, `password = get_password()`."""
    key, value = found["key"].lower(), found["secret"]
    is_password = any(word in key for word in _PASSWORDS)
    if _is_placeholder(value):
        return False
    if " " in value:
        return is_password and bool(found["quote"])
    has_digit = any(sign.isdigit() for sign in value)
    has_letter = any(sign.isalpha() for sign in value)
    if found["quote"]:
        return is_password or (has_digit and has_letter and len(value) >= 12)
    after = found.string[found.end() : found.end() + 1]
    if after in ("(", "[", "<"):
        return False
    if found["key"].isupper() and found["sign"] == "=":
        # A shell's or an .env file's own way of writing.
        return has_letter or is_password
    if is_password and found["sign"] == "=":
        return has_digit or not value.isidentifier()
    return has_digit and has_letter and len(value) >= 12 and "." not in value


_KEY = (
    r"(?:api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key|encryption[_-]?key"
    r"|client[_-]?secret|secret|passw(?:or)?d|passphrase|token|credentials?)"
)
_NEEDLES = ("key", "secret", "passw", "passphrase", "token", "credential")
_KEY_SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_VALUE = r"""[^\s"'`,;<>(){}\[\]\\&|]"""


def _has_a_value(text: str, start: int, end: int) -> bool:
    """Not so `token` in `the token is`. A needle and its `:` or `=` are at most 40 signs apart."""
    return text[end : end + 50].lstrip(_KEY_SIGNS).lstrip("\\'\" \t").startswith((":", "="))


def _follows_a_colon(text: str, start: int, end: int) -> bool:
    """Not so `basic` in `a basic test`."""
    return text[max(0, start - 6) : start].rstrip("'\" ").endswith(":")


def _has_a_login(text: str, start: int, end: int) -> bool:
    """Not so `https://host/path`. A name has at most 100 characters, a password 200."""
    return "@" in text[end : end + 310].partition("/")[0]


def _has_a_colon(text: str, start: int, end: int) -> bool:
    """Not so `git push -u origin`. A name has at most 64 characters."""
    return ":" in text[end : end + 70]


_PLACES = [
    SecretKind(
        "bearer token",
        ("bearer ",),
        r"(?i)\bbearer {1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)",
        "Authorization: Bearer " + _RUN[:40],
        ignores_case=True,
        is_secret=_has_digit,
    ),
    SecretKind(
        "login",
        ("basic ",),
        (r"(?i)\bauthorization['\"]?: {0,4}['\"]?basic {1,4}(?P<secret>[A-Za-z0-9+/=]{8,}+)"),
        "Authorization: Basic " + "dXNlcjpwYXNzd29y" + "ZA==",
        ignores_case=True,
        may_stand=_follows_a_colon,
    ),
    SecretKind(
        "password",
        ("://",),
        (
            r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'`<>]{0,100}"
            r":(?P<secret>[^\s/@\"'`<>]{1,200})@"
        ),
        "postgresql://me:" + "pa55word" + "@localhost/db",
        is_secret=lambda found: not _is_placeholder(found["secret"]),
        may_stand=_has_a_login,
    ),
    SecretKind(
        "password",
        ("-u ", "--user "),
        (r"(?<=\s)(?:-u|--user) {1,3}['\"]?[^\s:'\"/$]{1,64}:(?P<secret>[^\s:'\"/$]{6,100}+)"),
        "curl -u me:" + "pa55word https://localhost",
        is_secret=lambda found: not found["secret"].isdigit(),
        may_stand=_has_a_colon,
    ),
    SecretKind(
        "secret",
        ("--password", "--token", "--api-key", "--secret", "--passphrase"),
        (
            r"(?<=\s)--(?:password|token|api-key|secret|passphrase)[ =]['\"]?"
            rf"(?P<secret>(?!-){_VALUE}{{6,200}})"
        ),
        "deploy --token " + _RUN[:24],
        is_secret=lambda found: not _is_placeholder(found["secret"]),
    ),
    SecretKind(
        "secret",
        _NEEDLES,
        (
            rf"(?i)(?P<key>{_KEY}(?:[_-][A-Z0-9_-]{{0,32}})?)"
            rf"(?:\\?['\"])?[ \t]{{0,2}}(?P<sign>=>|:=|=|:)[ \t]{{0,2}}(?P<quote>\\?['\"])?"
            rf"(?P<secret>(?(quote)[^\s'\"\\][^'\"\\\n]{{5,200}}|{_VALUE}{{6,512}}))"
        ),
        "DATABASE_PASSWORD=" + "pa55word",
        ignores_case=True,
        is_secret=_is_assigned_secret,
        may_stand=_has_a_value,
    ),
]

KINDS: tuple[SecretKind, ...] = (*_TOKENS, *_PLACES)
