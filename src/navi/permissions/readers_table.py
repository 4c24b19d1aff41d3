"""Commands that only read: with any arguments, with guards, or only in the form that was run.

A file's content may be shown by a wide rule only if Claude Code itself keeps the command to the
folders of the session, as it does for cat, grep and most of their like (measured with 2.1.325).
bat, xxd, zcat and others would read the whole disk: they are allowed in their very form only.
"""

from __future__ import annotations

from navi.permissions.guards import bundled, guards
from navi.permissions.shell.shell_command import names
from navi.permissions.verdict import Entry, Harm, Key

READS = "only reads"

# With any arguments whatsoever these change nothing, and show nothing but what they are about.
_WIDE = """
    basename, cat, cd, cksum, cmp, column, comm, cut, df, dirname, echo, egrep, expand,
    expr, factor, false, fgrep, fold, free, grep, groups, head, id, ls, lsblk, lscpu, md5sum, nl,
    nproc, od, paste, pgrep, pwd, readlink, realpath, rev, seq, sha1sum, sha224sum,
    sha256sum, sha384sum, sha512sum, shasum, b2sum, sleep, stat, tac, tail, tr, true,
    tsort, tty, type, uname, unexpand, uptime, which, whoami, :,
    git bisect log, git cat-file, git check-attr, git check-ignore, git count-objects, git describe,
    git for-each-ref, git ls-files, git ls-tree, git merge-base, git name-rev, git rev-parse,
    git show-ref, git status, git submodule status, git version, git worktree list,
    docker compose logs, docker compose ls, docker compose ps, docker container ls,
    docker image ls, docker images, docker logs, docker network ls, docker port, docker ps,
    docker version, docker volume ls"""

_GIT = guards("git", "--ou --ext")
_KUBECTL = guards(
    "kubectl",
    # -o json, yaml, a template or columns show all that is stored, passwords in variables as well.
    "~secret ~json ~yaml ~template ~custom-col ~:// "
    "--raw --kubeconfig --cache-dir --profile --log --server --token "
    f"{bundled('fks', behind='Aw')}",
)
# What could write, run or show something is caught by the guards.
_GUARDED: list[tuple[str, tuple[str, ...]]] = [
    *((f"git {sub}", _GIT) for sub in (
        *("log", "diff", "show", "shortlog", "rev-list", "whatchanged", "diff-tree", "diff-index"),
        *("diff-files", "range-diff", "stash list", "stash show", "reflog show"))),
    *((f"git {sub}", (*_GIT, *guards(f"git {sub}", "--con"))) for sub in ("blame", "annotate")),
    ("rg", guards("rg", "--pre$ --pre= --hostname-b")),
    ("find", guards("find", "-exec -ok -del -fprint -fls -files0")),
    # Claude Code does not see that these name files, which may be outside of the folders.
    ("wc", guards("wc", "--f")),
    ("du", guards("du", "--f")),
    ("diff", guards("diff", "--fr --to")),
    ("strings", guards("strings", "@")),
]  # fmt: skip

_BRANCH = (
    "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --track -t "
    "--unset-upstream --edit-description --create-reflog"
)
_TAG = "-d --delete -a -s -u -f -m -F -e --annotate --sign --local-user --force --edit --trailer"
# Only in the very form that was run, and only without these options.
_EXACT_UNLESS = [
    *((f"git {sub}", _BRANCH) for sub in ("branch --list", "branch -l")),
    *((f"git {sub}", _TAG) for sub in ("tag --list", "tag -l")),
    ("git grep", "-O --open-files-in-pager"),
    ("ag", "--pager"),
    ("sort", "-o --output --compress-program -T --temporary-directory --files0-from"),
    ("shuf", "-o --output"),
    ("tree", "-o -R --output --fromfile"),
    ("file", "-C --compile -m --magic-file -f --files-from -z -Z"),
    ("lsof", "-D"),
    ("go env", "-w -u --w --u"),
    ("nm", "--plugin"),
    ("jobs", "-x"),
    ("readelf", ""),
    ("zcat", ""),
]
# Only in the very form that was run, and with no other options than these.
_EXACT_ONLY = [
    ("bat", "-n -p -pp -A --plain --number --show-all --style --language -l --line-range -r "
     "--color --no-pager"),
    ("ss", "-t -u -l -n -p -a -tl -tln -tlnp -tulpn -tulnp -ltnp -lntp -tn -tnp -s -4 -6"),
    ("journalctl", "-u --unit -n --lines --no-pager -f --follow --since --until -b -k --user -r "
     "-x -e -xe -p --priority -o"),
    *((f"systemctl {sub}", "--no-pager -l --full -n --lines --user -a --all --type --state")
      for sub in names("status is-active is-enabled list-units")),
    *((f"pip {sub}", "-f --files --format --user -l --local --all --path") for sub in
      names("show freeze list")),
    *((f"uv pip {sub}", "-f --files --format --strict -q --quiet --offline") for sub in
      names("list show freeze")),
    *((f"npm {sub}", "-g --global --depth -a --all --json --long --parseable --prod --dev -l")
      for sub in names("ls list root prefix")),
    *((f"apt {sub}", "--installed --upgradable -a --all-versions") for sub in names("list show")),
    *((f"dpkg {option}", "") for option in ("-l", "-L", "-s")),
    ("brew list", "--versions --formula --cask -1 -l"),
    ("docker info", ""),
]  # fmt: skip
# What reads, if it is given no more than so many operands, and none of these options.
_EXACT_OPERANDS = [
    ("hostname", 0, "-F --file -b --boot"),
    ("uniq", 1, ""),
    ("date", 0, "-s --set -f --file"),
    ("xxd", 1, "-r --revert"),
    ("git branch", 0, _BRANCH),
    ("git remote", 0, "-v --verbose"),
    ("git reflog", 0, "--output --ext-diff"),
    ("git tag", 0, _TAG),
]
_PRINT_THEIR_VERSION = (
    "git docker make uv npm pip pip3 cargo rustc node python python3 ruby java gcc clang cmake "
    "pytest ruff mypy eslint tsc pnpm yarn bun deno kubectl bash zsh jq rg"
)


def readers() -> dict[Key, Entry]:
    found: dict[Key, Entry] = {}
    for key in _WIDE.split(","):
        found[tuple(key.split())] = Entry(Harm.NONE, READS, guards=())
    for key, rules in _GUARDED:
        found[tuple(key.split())] = Entry(Harm.NONE, READS, guards=rules)
    # The document wants a rule for it: reading from a cluster is what people do all day.
    found["kubectl", "get"] = Entry(Harm.NONE, "only reads from the cluster", guards=_KUBECTL)
    for key, unless in _EXACT_UNLESS:
        found[tuple(key.split())] = Entry(Harm.NONE, READS, names(unless))
    for key, only in _EXACT_ONLY:
        found[tuple(key.split())] = Entry(Harm.NONE, READS, only=names(only))
    for key, operands, unless in _EXACT_OPERANDS:
        found[tuple(key.split())] = Entry(Harm.NONE, READS, names(unless), operands=operands)
    for name in names(_PRINT_THEIR_VERSION):
        for option in ("--version", "--help"):
            found[name, option] = Entry(Harm.NONE, READS, operands=-1)
    for name, option in [("python", "-V"), ("python3", "-V"), ("node", "-v"), ("npm", "-v")]:
        found[name, option] = Entry(Harm.NONE, READS, operands=-1)
    return found
