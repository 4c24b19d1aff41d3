"""Guards: `ask` rules beside a wide `allow` rule, for the arguments with which it could do harm.

Claude Code looks at `deny` first, then at `ask`, then at `allow`. A guard therefore narrows a rule
such as `Bash(git log:*)`, which would also allow `git log --output=FILE`.
"""

from __future__ import annotations

from navi.permissions.bash_rule import any_of


def guards(tool: str, arguments: str) -> tuple[str, ...]:
    """One for each argument: `--out` catches every word that begins so, `~x` every text with x in
    it, and `-c$` only that very word."""
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
    """Short options that are written together: `-qo` for the `-o` behind a `-q`."""
    return " ".join(f"-{first}{letter}" for letter in letters for first in ("", *behind))


# A word that begins with `.e` may be `.env`, also as `.e*`; `.?`, `.[` and `.*` may be as well.
_ENV = [f"Bash(*{sign}.{name}*)" for sign in " /" for name in ("e", "E", "?", "[", r"\*")]
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
"""For commands that name a file in which secrets are kept."""
SHARED: tuple[str, ...] = (*SECRETS, "Bash(xargs *)")
"""What every wide rule is written with. Nobody sees beforehand what xargs is going to add."""


def names_a_secret(command: str) -> bool:
    """Whether a command, given as its words with a blank between them, names such a file."""
    return any_of(SECRETS).search(command) is not None
