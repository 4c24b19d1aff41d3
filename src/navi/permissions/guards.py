"""Guards: `ask` rules that catch the harmful arguments of a wide `allow` rule.

Claude Code checks `deny` first, then `ask`, then `allow`. So a guard narrows a rule such as
`Bash(git log:*)`, which would also allow `git log --output=FILE`.
"""

from __future__ import annotations

from navi.permissions.bash_rule import any_of


def guards(tool: str, arguments: str) -> tuple[str, ...]:
    """The guards against `arguments`: `--out` catches words that begin with it, `~x` any text that
    contains x, and `-c$` only the word itself."""
    rules: list[str] = []
    for argument in arguments.split():
        if argument[0] == "~":
            rules.append(f"Bash({tool}*{argument[1:]}*)")
        elif argument[-1] == "$":
            rules += [f"Bash({tool}* {argument[:-1]})", f"Bash({tool}* {argument[:-1]} *)"]
        else:
            rules.append(f"Bash({tool}* {argument}*)")
    return tuple(rules)


def bundled(letters: str, behind: str) -> str:
    """Arguments for `guards`: each letter as an option, alone or bundled as in `-qo` for `-q -o`.

    `behind` are the letters that it may follow.
    """
    return " ".join(f"-{first}{letter}" for letter in letters for first in ("", *behind))


# `.e…`, `.e*`, `.?`, `.[` and `.*` may all stand for `.env`.
_ENV = [f"Bash(*{before}.{name}*)" for before in " /" for name in ("e", "E", "?", "[", r"\*")]
_FILES = """
    =.e :.e .ssh .aws .gnupg .kube .azure .docker/ .dockercfg gcloud/ gh/hosts Keychains .netrc
    .npmrc .pypirc .pgpass .my.cnf .git-cred .git/config .htpasswd .vault .terraformrc .tfstate
    .tfvars id_rsa id_ed25519 id_ecdsa id_dsa .pem .p12 .pfx .ppk .jks .kdbx .keystore credentials.
    /credentials secrets. /secrets/ auth.json kubeconfig database.yml wp-config sh_history /environ
"""
SECRETS: tuple[str, ...] = (
    *_ENV,
    *(f"Bash(*{name}*)" for name in _FILES.split()),
    r"Bash(*\*.env*)",
    "Bash(* credentials)",
    "Bash(*.key)",
    "Bash(*.key *)",
    "Bash(*account*.json*)",
    "Bash(*/etc/*shadow*)",
    "Bash(*/etc/sudoers*)",
)
"""Guards for files that may hold secrets."""
SHARED: tuple[str, ...] = (*SECRETS, "Bash(xargs *)")
"""The guards of every wide rule. What xargs will add can't be seen in advance."""


def names_a_secret(command: str) -> bool:
    """Whether a command, written as its words separated by spaces, names a file of secrets."""
    return any_of(SECRETS).search(command) is not None
