"""Secrets recognized by their context: in a header, in a URL, after a name."""

from __future__ import annotations

from navi.base.secrets import secret_values
from navi.base.secrets.secret_arguments import QUOTE, VALUE
from navi.base.secrets.secret_kind import SAMPLE, SecretKind


def _is_assigned(text: str, start: int, end: int) -> bool:
    """False for `authorization` in `authorization fails`."""
    return text[end : end + 14].lstrip("\\'\" \t").startswith((":", "="))


def _ends_its_line(text: str, start: int, end: int) -> bool:
    """False for `data:` in `data:image/png`."""
    return text[end : end + 40].lstrip(" \t\r").startswith("\n")


def _has_a_login(text: str, start: int, end: int) -> bool:
    """False for `https://host/path`. Names have up to 100 characters, passwords up to 200."""
    return "@" in text[end : end + 310].partition("/")[0]


def _has_a_token(text: str, start: int, end: int) -> bool:
    """False for `https://host`, and for an address with a name and a password."""
    before, at, _ = text[end : end + 210].partition("@")
    return at == "@" and len(before) >= 20 and "/" not in before and ":" not in before


def _continues_with_a_verb(text: str, start: int, end: int) -> bool:
    """False for `password ` in `the password field`."""
    verbs = ("is", "was", "has been", "now", "set", "changed", "reset", "to")
    return text.startswith(verbs, end)


def _has_a_neighbour(text: str, start: int, end: int) -> bool:
    """False for `password` in `the password`."""
    after = text[end : end + 40].lstrip(_KEY_CHARACTERS + ".")
    return after.startswith(("'", '"', "\\")) and (
        after.lstrip("'\"\\").lstrip(" ").startswith((",", "value="))
    )


def _follows_a_login(text: str, start: int, end: int) -> bool:
    return "login" in text[max(0, start - 125) : start]


def _precedes_a_long_word(text: str, start: int, end: int) -> bool:
    return any(len(word) >= 20 for word in text[end : end + 45].split()[:4])


def _precedes_a_token(text: str, start: int, end: int) -> bool:
    return any(len(word) >= 43 for word in text[end : end + 120].split())


def _has_a_value(text: str, start: int, end: int) -> bool:
    """False for `token` in `the token is`. The `:` or `=` is at most 50 characters away."""
    return text[end : end + 60].lstrip(_KEY_CHARACTERS).lstrip("\\'\" \t").startswith((":", "="))


_PASSWORD = "pa55" + "word"
_KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-"

PLACES = [
    SecretKind(
        "private key",
        ("PRIVATE KEY",),
        # Up to the END line or, without one, as far as the text can be a key.
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}-----"
            r"|(?:(?:\s|\\{1,7}[nr])*+[A-Za-z-]{3,20}: [^\n\\]{0,200})*+[A-Za-z0-9+/=\s\\]*+)"
        ),
        f"-----BEGIN RSA PRIVATE{' '}KEY-----\n{SAMPLE}\n-----END RSA PRIVATE{' '}KEY-----",
    ),
    SecretKind(
        "private key",
        ("PRIVATE KEY",),
        # For a key without its beginning. A match can start only at the first long line of a key;
        # otherwise searching would take quadratic time.
        (
            r"(?<![A-Za-z0-9+/=]{16}\n)(?<![A-Za-z0-9+/=]{16}\r\n)(?<![A-Za-z0-9+/=])"
            r"(?P<secret>(?:[A-Za-z0-9+/=]{16,}+\r?\n)++(?:[A-Za-z0-9+/=]{1,15}\r?\n)?)"
            r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY"
        ),
        f"{SAMPLE[:64]}\n{SAMPLE[:22]}==\n-----END PRIVATE{' '}KEY-----",
    ),
    SecretKind(
        "private key",
        ("Private-Lines:",),
        (
            r"Private-Lines: [0-9]{1,3}\s{1,2}"
            r"(?P<secret>[A-Za-z0-9+/=]{4,100}(?:\s{1,2}[A-Za-z0-9+/=]{16,100})*+)"
        ),
        f"Private-Lines: 2\n{SAMPLE[:64]}\n{SAMPLE[:22]}==",
    ),
    SecretKind(
        "private key",
        ('"kty"',),
        r'"(?:d|p|q|dp|dq|qi|k)"\s{0,3}:\s{0,3}"(?P<secret>[A-Za-z0-9_-]{20,1000})"',
        f'{{"kty": "EC", "d": "{SAMPLE[:43]}"}}',
        is_secret=secret_values.is_json_web_key,
    ),
    SecretKind(
        "Kubernetes secret",
        ("data:", "stringData:"),
        (
            r"(?m)^(?P<indent>[ \t]{0,20})(?:data|stringData):[ \t]*\r?\n"
            r"(?P<secret>(?P=indent)[ \t]+[\w.-]+:[^\n]*(?:\n(?P=indent)[ \t]+\S[^\n]*)*+)"
        ),
        f"kind: Secret\ndata:\n  login: {SAMPLE[:16]}\n  other: {SAMPLE[:8]}",
        is_secret=secret_values.is_kubernetes_secret,
        could_match_at=_ends_its_line,
    ),
    SecretKind(
        "Kubernetes secret",
        ('data"', 'stringData"'),
        r'"(?:data|stringData)"\s{0,3}:\s{0,3}\{(?P<secret>\s{0,20}"[^{}]{1,20000})\}',
        f'{{"kind": "Secret", "data": {{"login": "{SAMPLE[:16]}"}}}}',
        is_secret=secret_values.is_kubernetes_secret,
        could_match_at=_is_assigned,
    ),
    SecretKind(
        "authorization",
        ("authorization",),
        (
            rf"(?i)\bauthorization{QUOTE}?\s{{0,2}}[:=]\s{{0,4}}{QUOTE}?"
            r"(?:(?P<scheme>[A-Z][A-Z-]{1,30}|FlyV1|AWS4-HMAC-SHA256)[ \t]{1,4})?"
            r"(?P<secret>[^\s'\"\\,;`]{8,4000}(?:[,;] ?[\w-]{1,40}=[^\s'\"\\,;`]{1,2000})*)"
        ),
        f"Authorization: token {SAMPLE[:40]}",
        ignores_case=True,
        is_secret=secret_values.is_authorization,
        could_match_at=_is_assigned,
    ),
    SecretKind(
        "bearer token",
        ("bearer ",),
        r"(?i)\bbearer {1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)",
        f"bearer {SAMPLE[:40]}",
        ignores_case=True,
        is_secret=secret_values.has_digit,
    ),
    SecretKind(
        "cookie",
        ("cookie",),
        (
            rf"(?i)cookie{QUOTE}?\s{{0,2}}[:= ]\s{{0,2}}{QUOTE}?"
            r"(?P<secret>[A-Z0-9_.%-]{1,64}=[^\s'\"\\;]{1,2000}"
            r"(?:; ?[A-Z0-9_.%-]{1,64}=[^\s'\"\\;]{1,2000}){0,50})"
        ),
        f"Cookie: sessionid={SAMPLE[:32]}",
        ignores_case=True,
        is_secret=secret_values.is_cookie,
    ),
    SecretKind(
        "signature",
        ("sig=", "signature=", "security-token=", "?code=", "&code="),
        (
            r"(?i)(?:(?<![A-Z0-9_])(?:sig|signature|x-(?:amz|goog)-(?:signature|security-token))"
            r"|(?<=[?&])code)=(?P<secret>[A-Z0-9%+/=_-]{32,4000})"
        ),
        f"https://localhost/file?se=2026&sig={SAMPLE[:40]}%3D",
        ignores_case=True,
        is_secret=secret_values.has_digit,
    ),
    SecretKind(
        "password",
        ("://",),
        (
            r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'`<>]{0,100}"
            r":(?P<secret>[^\s/@\"'`<>]{1,200})@"
        ),
        f"postgresql://me:{_PASSWORD}@localhost/db",
        is_secret=secret_values.is_not_placeholder,
        could_match_at=_has_a_login,
    ),
    SecretKind(
        "token",
        ("://",),
        r"(?<![A-Za-z0-9+.-])https?://(?P<secret>[A-Za-z0-9_-]{20,200})@",
        f"https://{SAMPLE[:40]}@localhost/repository.git",
        is_secret=secret_values.is_token_in_address,
        could_match_at=_has_a_token,
    ),
    SecretKind(
        "password",
        ("password",),
        r"(?i)\blogin\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(?P<secret>[^\s'\"]{4,200})",
        f"machine localhost login me password {_PASSWORD}",
        ignores_case=True,
        is_secret=secret_values.is_not_placeholder,
        could_match_at=_follows_a_login,
    ),
    SecretKind(
        "password",
        ("pwd",),
        r"(?i)(?<![A-Z0-9-])pwd['\"]? ?[=:] ?(?P<secret>[^\s;'\"`,&<>(){}]{4,200})",
        f"Server=localhost;Uid=me;Pwd={_PASSWORD};",
        ignores_case=True,
        is_secret=secret_values.is_connection_password,
    ),
    SecretKind(
        "password",
        ("identified by ", "password '", 'password "', "password \\"),
        (
            rf"(?i)\b(?:identified by|password) (?P<quote>{QUOTE})"
            r"(?P<secret>[^'\"\s\\]{4,200})(?P=quote)"
        ),
        f"CREATE USER me WITH PASSWORD '{_PASSWORD}'",
        ignores_case=True,
        is_secret=secret_values.is_quoted_password,
    ),
    SecretKind(
        "password",
        ("password ", "passphrase ", "passcode "),
        (
            r"(?i)\bpass(?:word|phrase|code)(?: (?:is|was|has been|now|set|changed|reset|to)){1,4}"
            r":? {1,2}['\"`]?(?P<secret>[^\s'\"`,;()<>]{6,100})"
        ),
        "the password is hunter" + "22",
        ignores_case=True,
        is_secret=secret_values.is_password_in_sentence,
        could_match_at=_continues_with_a_verb,
    ),
    SecretKind(
        "password",
        (":5432:",),
        r"(?<![^\s'\"])[\w.*-]{1,100}:5432:[\w*.-]{1,64}:[\w*.-]{1,64}:(?P<secret>[^\s:'\"]{4,200})",
        f"localhost:5432:db:me:{_PASSWORD}",
        is_secret=secret_values.is_not_placeholder,
    ),
    SecretKind(
        "login",
        ("auth",),
        (
            rf"(?i)(?:_auth|{QUOTE}auth{QUOTE}) {{0,2}}[:=] {{0,2}}{QUOTE}?"
            r"(?P<secret>[A-Z0-9+/]{8,400}={0,2})"
        ),
        '{"auths": {"localhost": {"auth": "bWU6cGE1NXdv' + 'cmQ="}}}',
        ignores_case=True,
        is_secret=secret_values.is_basic_login,
        could_match_at=_is_assigned,
    ),
    SecretKind(
        "token",
        ("token",),
        # As `navi user add` printed it before tokens had a prefix.
        (
            r"(?i)\btoken\b[^\n]{0,60}:(?:\s|\\n){1,3}(?-i:(?=[\w-]{0,42}[0-9])(?=[\w-]{0,42}[A-Z])"
            r"(?=[\w-]{0,42}[a-z])(?P<secret>[A-Za-z0-9_-]{43}))(?![\w-])"
        ),
        f"this is their token, it is not shown again:\n{SAMPLE[:43]}",
        ignores_case=True,
        could_match_at=_precedes_a_token,
    ),
    SecretKind(
        "secret",
        ("password>", "passphrase>", "secret>", "token>", "apikey>", "api-key>", "privatekey>"),
        (
            r"(?i)<[\w.:-]{0,40}(?:password|passphrase|secret|token|api-?key|privatekey)>"
            r"(?P<secret>[^<\s]{4,500})</"
        ),
        f"<password>{_PASSWORD}</password>",
        ignores_case=True,
        is_secret=secret_values.is_not_placeholder,
    ),
    SecretKind(
        "secret",
        ("password", "secret", "token", "apikey", "api_key"),
        (
            r"(?i)(?:password|secret|token|api_?key)[\w.-]{0,20}"
            rf"{QUOTE} {{0,2}}(?:,|value=) {{0,2}}{QUOTE}(?P<secret>[^'\"\s\\]{{6,200}}){QUOTE}"
        ),
        f"define('DB_PASSWORD', '{_PASSWORD}');",
        ignores_case=True,
        is_secret=secret_values.is_listed_secret,
        could_match_at=_has_a_neighbour,
    ),
    SecretKind(
        "secret",
        ("token", "key", "secret"),
        # In a sentence, or after a word that names it.
        (
            r"(?i)(?:token|api[ _-]?key|access[ _-]?key|secret(?: key)?)(?: is| was| <<<)?:? {1,2}"
            r"['\"`]?(?P<secret>[A-Z0-9_+/=-]{20,200})(?![A-Z0-9_+/=-])"
        ),
        f"the token is {SAMPLE[:32]}",
        ignores_case=True,
        is_secret=secret_values.is_random,
        could_match_at=_precedes_a_long_word,
    ),
    SecretKind(
        "password",
        ("requirepass ", "masterauth "),
        r"(?:requirepass|masterauth) {1,4}(?P<secret>[^\s'\"]{4,200})",
        f"requirepass {_PASSWORD}",
        is_secret=secret_values.is_not_placeholder,
    ),
    SecretKind(
        "secret",
        ("password", "passwd", "passphrase"),
        # A line of YAML or settings; the password may contain any characters.
        (
            r"(?im)^[ \t]{0,40}(?:- )?['\"]?[\w.-]{0,60}pass(?:word|wd|phrase)['\"]?"
            r"(?:[ \t]{0,2}:[ \t]{1,8}|=)(?P<secret>(?!['\"])[^\s\\]{6,200})[ \t]*$"
        ),
        f"db:\n  password: {_PASSWORD}&x\n",
        ignores_case=True,
        is_secret=secret_values.is_line_of_settings,
        could_match_at=_has_a_value,
    ),
    SecretKind(
        "secret",
        ("key", "secret", "pass", "token", "credential"),
        (
            r"(?i)(?P<key>(?:key|secret|passw(?:or)?d|passphrase|(?<=[_?&])pass|token|credentials?)"
            r"(?:[_-][A-Z0-9_-]{0,32})?)"
            rf"{QUOTE}?[ \t]{{0,2}}(?P<operator>=>|:=|=|:)[ \t]{{0,2}}(?P<quote>{QUOTE})?"
            rf"(?P<secret>(?(quote)[^\s'\"\\][^'\"\\\n]{{5,200}}|{VALUE}{{6,512}}))"
        ),
        f"DATABASE_PASSWORD={_PASSWORD}",
        ignores_case=True,
        is_secret=secret_values.is_assigned_secret,
        could_match_at=_has_a_value,
    ),
]
