"""Whether what stands where a secret could stand is one: told from code, prose and placeholders."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_PLACEHOLDER = (
    r"(?i)(?:\$|%[a-z(]|<|\{|\*{3}|x{4,}|\.{3}|…|your|example|change.?me|placeholder|redacted|dummy"
    r"|\[masked|none\b|null\b|undefined\b|true\b|false\b|process\.env|os\.(?:environ|getenv)|env\."
    r"|self\.|this\.)"
)


def is_placeholder(value: str) -> bool:
    """Says what belongs there, instead of being it: `$TOKEN`, `<your key>`."""
    import re

    return re.match(_PLACEHOLDER, value) is not None


def is_given(found: re.Match[str]) -> bool:
    return not is_placeholder(found["secret"])


def has_digit(found: re.Match[str]) -> bool:
    return _has_digit(found["secret"])


def _has_digit(text: str) -> bool:
    return any(sign.isdigit() for sign in text)


def _has_letter(text: str) -> bool:
    return any(sign.isalpha() for sign in text)


def _is_word(text: str) -> bool:
    """Could be a word, or a name in code."""
    return text.replace(".", "").replace("_", "").isalpha()


KNOWN_SCHEMES = (
    *("bearer", "basic", "token", "apikey", "api-key", "key", "negotiate", "ntlm", "oauth"),
    *("ssws", "bot", "pat", "flyv1", "aws4-hmac-sha256"),
)


def is_authorization(found: re.Match[str]) -> bool:
    """Told from prose: `Authorization: Bearer authentication is required`."""
    scheme, value = (found["scheme"] or "").lower(), found["secret"]
    if is_placeholder(value):
        return False
    is_random = _has_digit(value) or value.endswith("=") or len(value) >= 24
    return is_random and (not scheme or scheme in KNOWN_SCHEMES or len(value) >= 16)


def is_cookie(found: re.Match[str]) -> bool:
    """Told from settings: `Cookie: theme=dark`."""
    values = (pair.partition("=")[2].strip() for pair in found["secret"].split(";"))
    return any(
        len(value) >= 8 and _has_digit(value) and not is_placeholder(value) for value in values
    )


def is_password_of_user(found: re.Match[str]) -> bool:
    """Told from a user and a group: `docker run -u node:node`."""
    value = found["secret"]
    line = found.string[max(0, found.start() - 100) : found.start()].rpartition("\n")[2]
    if any(command in line for command in ("docker ", "podman ", "chown ", "nerdctl ")):
        return False
    if found["flag"] in ("-a", "--auth") and "http" not in line:  # of httpie
        return False
    return not (value.isdigit() or value == found["name"] or is_placeholder(value))


def is_token_in_address(found: re.Match[str]) -> bool:
    """Sentry's addresses hold a key that is public by design."""
    host = found.string[found.end() : found.end() + 100].partition("/")[0]
    return has_digit(found) and "sentry" not in host and "ingest" not in host


_AFTER_FLAGS = frozenset(
    (
        *("option", "options", "argument", "arguments", "parameter", "instead", "should", "works"),
        *("requires", "prompt", "without", "because", "either", "before", "switch", "string"),
    )
)


def is_flag_value(found: re.Match[str]) -> bool:
    """Told from prose and from names: `the --password option`, `--secret id=npm`."""
    value = found["secret"]
    if value.lower() in _AFTER_FLAGS or value.startswith(("id=", "type=", "env=")):
        return False
    return not is_placeholder(value)


def is_connection_password(found: re.Match[str]) -> bool:
    """Told from a folder: `PWD=/home/me`, `pwd = os.getcwd()`."""
    value = found["secret"]
    if is_placeholder(value) or value[0] in "/.~`":
        return False
    return not _is_called(found) and not _is_word(value)


def is_quoted_password(found: re.Match[str]) -> bool:
    """Told from prose: `the password 'field'`. SQL is written in capitals, or says more."""
    is_sql = found[0].startswith("PASSWORD") or found[0].lower().startswith("identified")
    return is_given(found) and (is_sql or not _is_word(found["secret"]))


def is_basic_login(found: re.Match[str]) -> bool:
    """`name:password` in base64, as Docker and npm keep it."""
    from base64 import b64decode

    try:
        login = b64decode(found["secret"], validate=True).decode("ascii")
    except ValueError:
        return False
    return ":" in login and login.isprintable()


_ABOUT_PASSWORDS = (
    *("sha", "md5", "base64", "utf", "bcrypt", "argon", "pbkdf", "oauth", "http", "ipv", "v1"),
)


def _is_about_passwords(value: str) -> bool:
    return value.lower().startswith(_ABOUT_PASSWORDS)


def is_password_in_sentence(found: re.Match[str]) -> bool:
    """Told from what is said about passwords: `the password is sha256-hashed`."""
    value = found["secret"].rstrip(".!?:")
    if is_placeholder(value) or _is_about_passwords(value) or len(value) < 6:
        return False
    is_amount = value[0].isdigit() and value.lstrip("0123456789")[:1] in ("", "-", "+", ".", "%")
    return _has_digit(value) and _has_letter(value) and not is_amount


_KUBERNETES = ("kind: Secret\n", "kind: Secret\r\n", '"kind": "Secret"', '"kind":"Secret"')


def is_kubernetes_secret(found: re.Match[str]) -> bool:
    """In the same document as `kind: Secret`."""
    text, start, end = found.string, found.start(), found.end()
    before = text[max(0, start - 5_000) : start].rpartition("\n---")[2]
    after = text[end : end + 5_000].partition("\n---")[0]
    return any(kind in part for part in (before + "\n", after + "\n") for kind in _KUBERNETES)


def is_random(found: re.Match[str]) -> bool:
    """Told from names and hashes: digits, and letters of both cases."""
    value = found["secret"]
    digits = sum(map(str.isdigit, value))
    return digits >= 3 and any(map(str.isupper, value)) and any(map(str.islower, value))


def is_line_of_settings(found: re.Match[str]) -> bool:
    """Told from code: `password: str = Field(…)` has more in its line, `password: z.string()`."""
    value = found["secret"]
    is_code = value[-1] in ",;{" or "(" in value or "[" in value
    return not (is_code or is_placeholder(value) or _is_word(value) or _is_about_passwords(value))


def is_json_web_key(found: re.Match[str]) -> bool:
    return '"kty"' in found.string[max(0, found.start() - 3_000) : found.end() + 3_000]


def is_listed_secret(found: re.Match[str]) -> bool:
    """Told from a list of names: `["password", "user_name"]`."""
    return is_given(found) and not _is_word(found["secret"])


_SECRET_KEYS = (
    *("api", "access", "private", "auth", "account", "encryption", "app", "master", "admin"),
    *("signing", "service", "role", "shared", "root", "storage", "subscription", "webhook"),
)
"""Such keys are secrets; others, such as a primary key, are not."""
_PASSWORDS = ("pass", "secret", "credential")
_PUBLIC_KEYS = ("public", "anon", "primary", "foreign", "partition", "sort", "cache", "site", "map")
_ABOUT_SECRETS = frozenset(
    (
        *("type", "name", "url", "uri", "endpoint", "path", "file", "count", "limit", "length"),
        *("size", "ttl", "expiry", "expires", "lifetime", "policy", "field", "label", "version"),
        *("hint", "prefix", "header", "format", "provider", "method", "index", "mode", "class"),
        *("ref", "usage", "budget", "strength", "column", "attempts", "reset"),
    )
)
"""The last part of a name for something else than the secret itself."""


def is_assigned_secret(found: re.Match[str]) -> bool:
    """Told from code and prose: `token: str`, `tokens = 4096`, `password = get_password()`."""
    key, value = found["key"].lower(), found["secret"]
    if is_placeholder(value) or key.replace("-", "_").rpartition("_")[2] in _ABOUT_SECRETS:
        return False
    if key.startswith("key") and not _is_secret_key(found):
        return False
    is_password = any(word in key for word in _PASSWORDS)
    if " " in value:
        return is_password and bool(found["quote"])
    is_long_and_random = len(value) >= 12 and _has_digit(value) and _has_letter(value)
    if found["quote"]:
        return is_password or is_long_and_random
    if _is_called(found):
        return False
    if found["key"].isupper() and found["sign"] == "=" and not key.startswith("key"):
        # A shell's or an .env file's own way of writing.
        return is_password or _has_letter(value)
    if key.startswith("pass") and (
        _is_parameter(found) or _is_setting(found) or is_password_in_sentence(found)
    ):
        return True
    if is_password and found["sign"] == "=":
        return _has_digit(value) or not value.isidentifier()
    return is_long_and_random and "." not in value


def _is_secret_key(found: re.Match[str]) -> bool:
    before = found.string[max(0, found.start() - 20) : found.start()].lower().rstrip("_-")
    if before.endswith((*_SECRET_KEYS, *_PASSWORDS)):
        return True
    # A setting such as SEARCH_KEY may be anything; if it is long and random it is a secret.
    is_setting = found["key"].isupper() and found["sign"] == "=" and before[-1:].isalpha()
    return is_setting and len(found["secret"]) >= 20 and not before.endswith(_PUBLIC_KEYS)


def _is_called(found: re.Match[str]) -> bool:
    return found.string[found.end() : found.end() + 1] in ("(", "[", "<")


def _is_parameter(found: re.Match[str]) -> bool:
    """Of an address: `?password=…`."""
    before = found.string[max(0, found.start() - 1) : found.start()]
    return found["sign"] == "=" and before in ("?", "&")


_NO_PASSWORDS = frozenset(
    (
        *("string", "bytes", "number", "boolean", "object", "unknown", "optional", "required"),
        *("password", "passwd", "passphrase", "secret", "incorrect", "invalid", "missing"),
        *("wrong", "hidden", "changed", "updated", "expired", "hashed", "plaintext", "encrypted"),
        *("generated", "disabled", "enabled", "accepted", "rejected", "prompt", "varchar"),
    )
)


def _is_setting(found: re.Match[str]) -> bool:
    """A line of YAML or of settings, told from types and variables: `password: UserPassword`."""
    value = found["secret"]
    if not _is_whole_line(found) or (found["sign"] == "=" and " " in found[0]):
        return False
    if not _is_word(value):
        return not _is_about_passwords(value)
    return value.islower() and value.isalpha() and value not in _NO_PASSWORDS


def _is_whole_line(found: re.Match[str]) -> bool:
    import re

    before = found.string[max(0, found.start() - 100) : found.start()]
    after = found.string[found.end() : found.end() + 100]
    # In JSON a line end is `\n`.
    before = before.replace("\\n", "\n").rpartition("\n")[2]
    return (
        re.fullmatch(r"[\s'\"-]*[\w.-]*", before) is not None
        and re.match(r"[ \t]*(?:#[^\n]*)?(?:\\?r|\r)?(?:\n|\\n|\Z)", after) is not None
    )
