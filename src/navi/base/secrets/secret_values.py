"""Decides whether a value is a secret, or only code, prose or a placeholder."""

from __future__ import annotations

import re

_PLACEHOLDER = (
    r"(?i)(?:\$|%[a-z(]|<|\{|\*{3}|x{4,}|\.{3}|…|your|example|change.?me|placeholder|redacted|dummy"
    r"|\[masked|none\b|null\b|undefined\b|true\b|false\b|process\.env|os\.(?:environ|getenv)|env\."
    r"|self\.|this\.)"
)


def is_placeholder(value: str) -> bool:
    """Whether the value only stands for a secret, as `$TOKEN` and `<your key>` do."""
    return re.match(_PLACEHOLDER, value) is not None


def is_not_placeholder(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"])


def has_digit(match: re.Match[str]) -> bool:
    return _has_digit(match["secret"])


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _is_word(text: str) -> bool:
    """Whether the text could be a word, or a name in code."""
    return text.replace(".", "").replace("_", "").isalpha()


KNOWN_SCHEMES = (
    *("bearer", "basic", "token", "apikey", "api-key", "key", "negotiate", "ntlm", "oauth"),
    *("ssws", "bot", "pat", "flyv1", "aws4-hmac-sha256"),
)


def is_authorization(match: re.Match[str]) -> bool:
    """False for prose, as in `Authorization: Bearer authentication is required`."""
    scheme, value = (match["scheme"] or "").lower(), match["secret"]
    if is_placeholder(value):
        return False
    looks_random = _has_digit(value) or value.endswith("=") or len(value) >= 24
    return looks_random and (not scheme or scheme in KNOWN_SCHEMES or len(value) >= 16)


def is_cookie(match: re.Match[str]) -> bool:
    """False for settings, as in `Cookie: theme=dark`."""
    values = (pair.partition("=")[2].strip() for pair in match["secret"].split(";"))
    return any(
        len(value) >= 8 and _has_digit(value) and not is_placeholder(value) for value in values
    )


def is_password_of_user(match: re.Match[str]) -> bool:
    """False for a user and a group, as in `docker run -u node:node`."""
    value = match["secret"]
    line = match.string[max(0, match.start() - 100) : match.start()].rpartition("\n")[2]
    if any(command in line for command in ("docker ", "podman ", "chown ", "nerdctl ")):
        return False
    if match["flag"] in ("-a", "--auth") and "http" not in line:  # httpie's flags
        return False
    return not (value.isdigit() or value == match["name"] or is_placeholder(value))


def is_token_in_address(match: re.Match[str]) -> bool:
    """False for Sentry's URLs, whose key is public by design."""
    host = match.string[match.end() : match.end() + 100].partition("/")[0]
    return has_digit(match) and "sentry" not in host and "ingest" not in host


_WORDS_AFTER_FLAGS = frozenset(
    (
        *("option", "options", "argument", "arguments", "parameter", "instead", "should", "works"),
        *("requires", "prompt", "without", "because", "either", "before", "switch", "string"),
    )
)


def is_flag_value(match: re.Match[str]) -> bool:
    """False for prose and names, as in `the --password option`, `--secret id=npm`."""
    value = match["secret"]
    if value.lower() in _WORDS_AFTER_FLAGS or value.startswith(("id=", "type=", "env=")):
        return False
    return not is_placeholder(value)


def is_connection_password(match: re.Match[str]) -> bool:
    """False for a folder, as in `PWD=/home/me`, `pwd = os.getcwd()`."""
    value = match["secret"]
    if is_placeholder(value) or value[0] in "/.~`":
        return False
    return not _continues_as_code(match) and not _is_word(value)


def is_quoted_password(match: re.Match[str]) -> bool:
    """False for prose, as in `the password 'field'`. In SQL, any word may be a password."""
    is_sql = match[0].startswith("PASSWORD") or match[0].lower().startswith("identified")
    return is_not_placeholder(match) and (is_sql or not _is_word(match["secret"]))


def is_basic_login(match: re.Match[str]) -> bool:
    """Whether the value is `name:password` in base64, as Docker and npm store it."""
    from base64 import b64decode

    try:
        login = b64decode(match["secret"], validate=True).decode("ascii")
    except ValueError:
        return False
    return ":" in login and login.isprintable()


_ABOUT_PASSWORDS = (
    *("sha", "md5", "base64", "utf", "bcrypt", "argon", "pbkdf", "oauth", "http", "ipv", "v1"),
)


def _is_about_passwords(value: str) -> bool:
    return value.lower().startswith(_ABOUT_PASSWORDS)


def is_password_in_sentence(match: re.Match[str]) -> bool:
    """False for a remark about passwords, as in `the password is sha256-hashed`."""
    value = match["secret"].rstrip(".!?:")
    if is_placeholder(value) or _is_about_passwords(value) or len(value) < 6:
        return False
    is_amount = value[0].isdigit() and value.lstrip("0123456789")[:1] in ("", "-", "+", ".", "%")
    return _has_digit(value) and _has_letter(value) and not is_amount


_KIND_IS_SECRET = ("kind: Secret\n", "kind: Secret\r\n", '"kind": "Secret"', '"kind":"Secret"')


def is_kubernetes_secret(match: re.Match[str]) -> bool:
    """Whether the same document says `kind: Secret`."""
    text, start, end = match.string, match.start(), match.end()
    before = text[max(0, start - 5_000) : start].rpartition("\n---")[2]
    after = text[end : end + 5_000].partition("\n---")[0]
    return any(line in part for part in (before + "\n", after + "\n") for line in _KIND_IS_SECRET)


def is_random(match: re.Match[str]) -> bool:
    """Whether it has three digits or more and letters of both cases, unlike names and hashes."""
    value = match["secret"]
    digits = sum(map(str.isdigit, value))
    return digits >= 3 and any(map(str.isupper, value)) and any(map(str.islower, value))


def is_line_of_settings(match: re.Match[str]) -> bool:
    """False for code, as in `password: z.string()`, `password: {`."""
    value = match["secret"]
    is_code = value[-1] in ",;{" or "(" in value or "[" in value
    return not (is_code or is_placeholder(value) or _is_word(value) or _is_about_passwords(value))


def is_json_web_key(match: re.Match[str]) -> bool:
    return '"kty"' in match.string[max(0, match.start() - 3_000) : match.end() + 3_000]


def is_listed_secret(match: re.Match[str]) -> bool:
    """False for a list of names, as in `["password", "user_name"]`."""
    before = match.string[max(0, match.start() - 60) : match.start()]
    call = r"(?i)(?:define|env|set\w*|put\w*|header|config)\(\s*\W{1,8}[\w.-]*$"
    is_assigned = "value=" in match[0].lower() or re.search(call, before) is not None
    return is_assigned and is_not_placeholder(match) and not _is_word(match["secret"])


_SECRET_KEYS = (
    *("api", "access", "private", "auth", "account", "encryption", "app", "master", "admin"),
    *("signing", "service", "role", "shared", "root", "storage", "subscription", "webhook"),
)
"""Words before `key` in the name of a secret, as in `api_key`."""
_PASSWORD_WORDS = ("pass", "secret", "credential")
_PUBLIC_KEYS = ("public", "anon", "primary", "foreign", "partition", "sort", "cache", "site", "map")
_ABOUT_SECRETS = frozenset(
    (
        *("type", "name", "url", "uri", "endpoint", "path", "file", "count", "limit", "length"),
        *("size", "ttl", "expiry", "expires", "lifetime", "policy", "field", "label", "version"),
        *("hint", "prefix", "header", "format", "provider", "method", "index", "mode", "class"),
        *("ref", "usage", "budget", "strength", "column", "attempts", "reset"),
    )
)
"""Last words of names such as `token_type`, whose values are not secrets."""


def is_assigned_secret(match: re.Match[str]) -> bool:
    """False for code and prose, as in `token: str`, `tokens = 4096`, `password = read()`."""
    key, value = match["key"].lower(), match["secret"]
    if is_placeholder(value) or key.replace("-", "_").rpartition("_")[2] in _ABOUT_SECRETS:
        return False
    if key.startswith("key") and not _is_secret_key(match):
        return False
    is_password = any(word in key for word in _PASSWORD_WORDS)
    if " " in value:
        return is_password and bool(match["quote"])
    is_long_and_random = len(value) >= 12 and _has_digit(value) and _has_letter(value)
    if match["quote"]:
        return is_password or is_long_and_random
    if _continues_as_code(match):
        return False
    if match["key"].isupper() and match["operator"] == "=" and not key.startswith("key"):
        # The style of shells and .env files.
        return is_password or _has_letter(value)
    if key.startswith("pass") and (
        _is_parameter(match) or _is_setting(match) or is_password_in_sentence(match)
    ):
        return True
    if is_password and match["operator"] == "=":
        return _has_digit(value) or not value.isidentifier()
    return is_long_and_random and "." not in value


def _is_secret_key(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 20) : match.start()].lower().rstrip("_-")
    if before.endswith((*_SECRET_KEYS, *_PASSWORD_WORDS)):
        return True
    # A setting such as SEARCH_KEY could be anything; if long and random, it is a secret.
    is_setting = match["key"].isupper() and match["operator"] == "=" and before[-1:].isalpha()
    return is_setting and len(match["secret"]) >= 20 and not before.endswith(_PUBLIC_KEYS)


def _continues_as_code(match: re.Match[str]) -> bool:
    return match.string[match.end() : match.end() + 1] in ("(", "[", "<")


def _is_parameter(match: re.Match[str]) -> bool:
    """Whether it is a query parameter of a URL: `?password=…`."""
    before = match.string[max(0, match.start() - 1) : match.start()]
    return match["operator"] == "=" and before in ("?", "&")


_NOT_PASSWORDS = frozenset(
    (
        *("string", "bytes", "number", "boolean", "object", "unknown", "optional", "required"),
        *("password", "passwd", "passphrase", "secret", "incorrect", "invalid", "missing"),
        *("wrong", "hidden", "changed", "updated", "expired", "hashed", "plaintext", "encrypted"),
        *("generated", "disabled", "enabled", "accepted", "rejected", "prompt", "varchar"),
    )
)


def _is_setting(match: re.Match[str]) -> bool:
    """Whether it is a line of settings. False for types, as in `password: UserPassword`."""
    value = match["secret"]
    if not _is_whole_line(match) or (match["operator"] == "=" and " " in match[0]):
        return False
    if not _is_word(value):
        return not _is_about_passwords(value)
    return value.islower() and value.isalpha() and value not in _NOT_PASSWORDS


def _is_whole_line(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 100) : match.start()]
    after = match.string[match.end() : match.end() + 100]
    # Inside a JSON string, a line end is written as `\n`.
    before = before.replace("\\n", "\n").rpartition("\n")[2]
    return (
        re.fullmatch(r"[\s'\"-]*[\w.-]*", before) is not None
        and re.match(r"[ \t]*(?:#[^\n]*)?(?:\\?r|\r)?(?:\n|\\n|\Z)", after) is not None
    )
