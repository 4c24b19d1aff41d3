"""Guards: `ask` rules that catch the harmful arguments of a wide `allow` rule.

Claude Code checks `deny` first, then `ask`, then `allow`. So a guard narrows a rule such as
`Bash(git log:*)`, which would also allow `git log --output=FILE`.
"""

from __future__ import annotations

from navi.permissions.bash_rule import rules_pattern


def make_guards(tool: str, arguments: str) -> tuple[str, ...]:
    """The guards that catch these arguments of `tool`.

    `--out` catches all words that begin with it, `~x` any text that contains x, and `-c$` only the
    word `-c`.
    """
    rules: list[str] = []
    for argument in arguments.split():
        if argument[0] == "~":
            rules.append(f"Bash({tool}*{argument[1:]}*)")
        elif argument[-1] == "$":
            rules += [f"Bash({tool}* {argument[:-1]})", f"Bash({tool}* {argument[:-1]} *)"]
        else:
            rules.append(f"Bash({tool}* {argument}*)")
    return tuple(rules)


def bundled(letters: str, after: str) -> str:
    """Arguments for `make_guards`: each of `letters` as an option, alone or bundled.

    In a bundle such as `-qo`, which means `-q -o`, the letter follows one of `after`.
    """
    return " ".join(f"-{first}{letter}" for letter in letters for first in ("", *after))


# `.e…`, `.e*`, `.?`, `.[` and `.*` may all stand for `.env`.
_ENV_FILE_GUARDS = [
    f"Bash(*{before}.{name}*)" for before in " /" for name in ("e", "E", "?", "[", r"\*")
]
_SECRET_FILES = """
    =.e :.e .ssh .aws .gnupg .kube .azure .docker/ .dockercfg gcloud/ gh/hosts Keychains .netrc
    .npmrc .pypirc .pgpass .my.cnf .git-cred .git/config .htpasswd .vault .terraformrc .tfstate
    .tfvars id_rsa id_ed25519 id_ecdsa id_dsa .pem .p12 .pfx .ppk .jks .kdbx .keystore credentials.
    /credentials secrets. /secrets/ auth.json kubeconfig database.yml wp-config sh_history /environ
"""
SECRET_FILE_GUARDS: tuple[str, ...] = (
    *_ENV_FILE_GUARDS,
    *(f"Bash(*{name}*)" for name in _SECRET_FILES.split()),
    r"Bash(*\*.env*)",
    "Bash(* credentials)",
    "Bash(*.key)",
    "Bash(*.key *)",
    "Bash(*account*.json*)",
    "Bash(*/etc/*shadow*)",
    "Bash(*/etc/sudoers*)",
)
"""Guards for files that may hold secrets."""
SHARED_GUARDS: tuple[str, ...] = (*SECRET_FILE_GUARDS, "Bash(xargs *)")
"""Every wide rule needs these, the last because xargs adds arguments that can't be foreseen."""


def names_secret_file(command: str) -> bool:
    """Whether `command`, its words separated by spaces, names a file that may hold secrets."""
    return rules_pattern(SECRET_FILE_GUARDS).search(command) is not None
