"""Commands that only read: with any arguments, with guards, or only exactly as run.

A wide rule may show files only if Claude Code itself limits the command to the session's folders,
as it does for cat, grep and similar ones (measured with 2.1.325). bat, xxd, zcat and others could
read the whole disk, so they are allowed only exactly as run.
"""

from __future__ import annotations

from navi.permissions.guards import bundled, guards
from navi.permissions.shell.shell_command import names
from navi.permissions.verdict import Entry, Harm, Key

READS = "only reads"

# With any arguments, these change nothing and show nothing unexpected.
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
    # -o json, yaml, a template or columns show everything, including passwords in variables.
    "~secret ~json ~yaml ~template ~custom-col ~:// "
    "--raw --kubeconfig --cache-dir --profile --log --server --token "
    f"{bundled('fks', behind='Aw')}",
)
# The guards catch arguments that could write, run or reveal something.
_GUARDED: list[tuple[str, tuple[str, ...]]] = [
    *((f"git {sub}", _GIT) for sub in (
        *("log", "diff", "show", "shortlog", "rev-list", "whatchanged", "diff-tree", "diff-index"),
        *("diff-files", "range-diff", "stash list", "stash show", "reflog show"))),
    *((f"git {sub}", (*_GIT, *guards(f"git {sub}", "--con"))) for sub in ("blame", "annotate")),
    ("rg", guards("rg", "--pre$ --pre= --hostname-b")),
    ("find", guards("find", "-exec -ok -del -fprint -fls -files0")),
    # Claude Code does not notice that these options name files, which may be in any folder.
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
# Allowed only exactly as run, and only without these options.
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
# Allowed only exactly as run, and with no options other than these.
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
# These only read if they have at most this many operands and none of these options.
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
_VERSION_PRINTERS = (
    "git docker make uv npm pip pip3 cargo rustc node python python3 ruby java gcc clang cmake "
    "pytest ruff mypy eslint tsc pnpm yarn bun deno kubectl bash zsh jq rg"
)


def readers() -> dict[Key, Entry]:
    table: dict[Key, Entry] = {}
    for key in _WIDE.split(","):
        table[tuple(key.split())] = Entry(Harm.NONE, READS, guards=())
    for key, rules in _GUARDED:
        table[tuple(key.split())] = Entry(Harm.NONE, READS, guards=rules)
    # Allowed widely, because people read from clusters all day.
    table["kubectl", "get"] = Entry(Harm.NONE, "only reads from the cluster", guards=_KUBECTL)
    for key, unless in _EXACT_UNLESS:
        table[tuple(key.split())] = Entry(Harm.NONE, READS, names(unless))
    for key, only in _EXACT_ONLY:
        table[tuple(key.split())] = Entry(Harm.NONE, READS, only=names(only))
    for key, operands, unless in _EXACT_OPERANDS:
        table[tuple(key.split())] = Entry(Harm.NONE, READS, names(unless), operands=operands)
    for name in names(_VERSION_PRINTERS):
        for option in ("--version", "--help"):
            table[name, option] = Entry(Harm.NONE, READS, operands=-1)
    for name, option in [("python", "-V"), ("python3", "-V"), ("node", "-v"), ("npm", "-v")]:
        table[name, option] = Entry(Harm.NONE, READS, operands=-1)
    return table
