"""Passwords on command lines: after a flag, as an argument, or piped into a command."""

from __future__ import annotations

from navi.base.secrets import secret_values
from navi.base.secrets.secret_kind import SAMPLE, SecretKind

# A quote: plain, escaped (as in JSON inside JSON), or as a shell writes it inside quotes.
QUOTE = r"(?:'\"'\"'|'\\''|\\{0,7}['\"])"
VALUE = r"""[^\s"'`,;<>(){}\[\]\\&|]"""


def _argument(commands: str, needle: str, flag: str, example: str) -> SecretKind:
    """The argument after `flag` in one of `commands`, unless it is itself a flag or a path."""
    command_names = [f"{command} " for command in commands.split("|")]

    def follows_a_command(text: str, start: int, end: int) -> bool:
        before = text[max(0, start - 220) : end]
        return any(name in before for name in command_names)

    return SecretKind(
        "password",
        (needle,),
        rf"(?<![\w.-])(?:{commands}) [^\n|;&]{{0,200}}?{flag}{QUOTE}?"
        rf"(?P<secret>(?![-/~.]){VALUE}{{4,200}})",
        example,
        is_secret=secret_values.is_not_placeholder,
        could_match_at=follows_a_command,
    )


def _has_a_colon(text: str, start: int, end: int) -> bool:
    """False for `git push -u origin`. Names have at most 64 characters, so the colon is near."""
    return ":" in text[end : end + 75]


def _is_in_a_flag(text: str, start: int, end: int) -> bool:
    """False for `key` in `the key is`. The pattern limits a flag to less than 75 characters."""
    return text[max(0, start - 75) : end].split()[-1].startswith("-")


_PASSWORD = "pa55" + "word"  # split, so that secret scanners don't report it

ARGUMENTS = [
    SecretKind(
        "password",
        ("-u ", "-user ", "-user=", "-a ", "-auth "),
        (
            rf"(?<=\s)(?P<flag>-u|-a|--auth|--user|--proxy-user)[ =] {{0,2}}{QUOTE}?"
            rf"(?P<name>[^\s:'\"/$\\]{{1,64}}):(?P<secret>[^\s:'\"/$\\]{{6,100}}+)"
        ),
        f"curl -u me:{_PASSWORD} https://localhost",
        is_secret=secret_values.is_password_of_user,
        could_match_at=_has_a_colon,
    ),
    SecretKind(
        "secret",
        ("pass", "token", "key", "secret", "phrase", "pwd"),
        (
            r"(?<=\s)--?(?:[a-z0-9]{1,20}-){0,3}(?:password|passwd|pass|pwd|token|api-?key|secret"
            r"|passphrase|secret-key|access-key|storepass|keypass)(?:=| {1,3})"
            rf"{QUOTE}?(?P<secret>(?![-/~.]){VALUE}{{6,200}})"
        ),
        f"deploy --token {SAMPLE[:24]}",
        is_secret=secret_values.is_flag_value,
        could_match_at=_is_in_a_flag,
    ),
    _argument("sshpass", "-p", r"-p ?", f"sshpass -p {_PASSWORD} ssh host"),
    _argument(
        "mysql|mysqldump|mysqladmin|mariadb|7z|7za",
        "-p",
        r"(?<=\s)-p",
        f"mysql -u me -p{_PASSWORD} db",
    ),
    _argument(
        "login|mongo|mongosh|mongodump|mongorestore|twine upload",
        "-p ",
        r"(?<=\s)-p ",
        f"docker login -u me -p {_PASSWORD}",
    ),
    _argument(
        "curl|wget",
        "-b ",
        rf"(?<=\s)-b {QUOTE}?[\w.-]{{1,64}}=",
        f"curl -b session={SAMPLE[:32]} https://localhost",
    ),
    _argument("sqlplus", "/", r"(?<=\s)[\w.-]{1,64}/", f"sqlplus me/{_PASSWORD}@db"),
    _argument("redis-cli", "-a ", r"(?<=\s)-a ", f"redis-cli -a {_PASSWORD} ping"),
    _argument(
        "ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd",
        "-w ",
        r"(?<=\s)-w ",
        f"ldapsearch -x -w {_PASSWORD}",
    ),
    _argument(
        "zip|unzip|sqlcmd|bcp|mosquitto_pub|mosquitto_sub|ipmitool",
        "-P",
        r"(?<=\s)-P ?",
        f"unzip -P {_PASSWORD} a.zip",
    ),
    _argument(
        "smbclient|rpcclient|net",
        "-U",
        rf"(?<=\s)-U ?{QUOTE}?[^\s%'\"]{{1,64}}%",
        f"smbclient //host/share -U me%{_PASSWORD}",
    ),
    _argument("openssl", "pass:", r"pass:", f"openssl rsa -in a.pem -passin pass:{_PASSWORD}"),
    _argument("ssh-keygen", "-N ", r"(?<=\s)-N ", f"ssh-keygen -t ed25519 -N {_PASSWORD}"),
    _argument("xfreerdp|wfreerdp", "/p:", r"(?<=\s)/p:", f"xfreerdp /u:me /p:{_PASSWORD}"),
    _argument(
        "htpasswd",
        "htpasswd ",
        r"-[a-zA-Z]{0,4}b[a-zA-Z]{0,4} (?:\S{1,200} )?\S{1,64} ",
        f"htpasswd -cb file me {_PASSWORD}",
    ),
    _argument(
        "rabbitmqctl",
        "rabbitmqctl ",
        r"(?:add_user|change_password) \S{1,64} ",
        f"rabbitmqctl add_user me {_PASSWORD}",
    ),
    _argument(
        "kubectl",
        "--from-literal",
        r"--from-literal[= ]['\"]?[\w.-]{1,100}=",
        f"kubectl create secret generic x --from-literal=a={_PASSWORD}",
    ),
    _argument(
        "secret set|secrets set", "-b", r"(?:--body|-b)[= ]", f"gh secret set X --body {_PASSWORD}"
    ),
    SecretKind(
        "password",
        ("sudo ", "--password-stdin", "chpasswd"),
        (
            rf"(?:echo|printf)(?: -[neE]{{1,3}})? {QUOTE}?(?:[\w.-]{{1,64}}:)?"
            rf"(?P<secret>[^\s'\"|$]{{4,200}}){QUOTE}? {{0,3}}\| {{0,3}}"
            r"(?:sudo [^|\n]{0,60}-\w{0,5}S|[^|\n]{0,200}--password-stdin|(?:sudo )?chpasswd)"
        ),
        f"echo {_PASSWORD} | sudo -S ls",
        is_secret=secret_values.is_not_placeholder,
    ),
]
