"""Commands that only read, allowed with any arguments, with guards, or only exactly as run.

A command that shows files gets a wide rule only if Claude Code itself limits it to the session's
folders, as it does for cat, grep and others (measured with 2.1.325). bat, xxd, zcat and the like
could read the whole disk, so they are allowed only exactly as run.
"""

from __future__ import annotations

from navi.permissions.guards import bundled, make_guards
from navi.permissions.judgement import NO_ARGUMENTS, Entry, Harm, Words
from navi.permissions.shell.shell_command import word_set

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

_GIT_GUARDS = make_guards("git", "--ou --ext")
_KUBECTL_GUARDS = make_guards(
    "kubectl",
    # -o json, yaml, a template or columns show everything, including passwords in variables.
    "~secret ~json ~yaml ~template ~custom-col ~:// "
    "--raw --kubeconfig --cache-dir --profile --log --server --token "
    f"{bundled('fks', after='Aw')}",
)
# The guards catch arguments that could write, run or reveal something.
_GUARDED: list[tuple[str, tuple[str, ...]]] = [
    *((f"git {sub}", _GIT_GUARDS) for sub in (
        *("log", "diff", "show", "shortlog", "rev-list", "whatchanged", "diff-tree", "diff-index"),
        *("diff-files", "range-diff", "stash list", "stash show", "reflog show"))),
    *((f"git {sub}", (*_GIT_GUARDS, *make_guards(f"git {sub}", "--con")))
      for sub in ("blame", "annotate")),
    ("rg", make_guards("rg", "--pre$ --pre= --hostname-b")),
    ("find", make_guards("find", "-exec -ok -del -fprint -fls -files0")),
    # Claude Code does not notice that these options name files, which may be in any folder.
    ("wc", make_guards("wc", "--f")),
    ("du", make_guards("du", "--f")),
    ("diff", make_guards("diff", "--fr --to")),
    ("strings", make_guards("strings", "@")),
]  # fmt: skip

_BRANCH_WRITES = (
    "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --track -t "
    "--unset-upstream --edit-description --create-reflog"
)
_TAG_WRITES = (
    "-d --delete -a -s -u -f -m -F -e --annotate --sign --local-user --force --edit --trailer"
)
# Allowed only exactly as run, and without these options.
_EXACT_WITHOUT = [
    *((f"git {sub}", _BRANCH_WRITES) for sub in ("branch --list", "branch -l")),
    *((f"git {sub}", _TAG_WRITES) for sub in ("tag --list", "tag -l")),
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
_EXACT_WITH = [
    ("bat", "-n -p -pp -A --plain --number --show-all --style --language -l --line-range -r "
     "--color --no-pager"),
    ("ss", "-t -u -l -n -p -a -tl -tln -tlnp -tulpn -tulnp -ltnp -lntp -tn -tnp -s -4 -6"),
    ("journalctl", "-u --unit -n --lines --no-pager -f --follow --since --until -b -k --user -r "
     "-x -e -xe -p --priority -o"),
    *((f"systemctl {sub}", "--no-pager -l --full -n --lines --user -a --all --type --state")
      for sub in word_set("status is-active is-enabled list-units")),
    *((f"pip {sub}", "-f --files --format --user -l --local --all --path") for sub in
      word_set("show freeze list")),
    *((f"uv pip {sub}", "-f --files --format --strict -q --quiet --offline") for sub in
      word_set("list show freeze")),
    *((f"npm {sub}", "-g --global --depth -a --all --json --long --parseable --prod --dev -l")
      for sub in word_set("ls list root prefix")),
    *((f"apt {sub}", "--installed --upgradable -a --all-versions")
      for sub in word_set("list show")),
    *((f"dpkg {option}", "") for option in ("-l", "-L", "-s")),
    ("brew list", "--versions --formula --cask -1 -l"),
    ("docker info", ""),
]  # fmt: skip
# Allowed only exactly as run, with at most this many operands and without these options.
_EXACT_WITH_FEW_OPERANDS = [
    ("hostname", 0, "-F --file -b --boot"),
    ("uniq", 1, ""),
    ("date", 0, "-s --set -f --file"),
    ("xxd", 1, "-r --revert"),
    ("git branch", 0, _BRANCH_WRITES),
    ("git remote", 0, "-v --verbose"),
    ("git reflog", 0, "--output --ext-diff"),
    ("git tag", 0, _TAG_WRITES),
]
_VERSION_PRINTERS = (
    "git docker make uv npm pip pip3 cargo rustc node python python3 ruby java gcc clang cmake "
    "pytest ruff mypy eslint tsc pnpm yarn bun deno kubectl bash zsh jq rg"
)


def readers() -> dict[Words, Entry]:
    table: dict[Words, Entry] = {}
    for command in _WIDE.split(","):
        table[tuple(command.split())] = Entry(Harm.NONE, READS, guards=())
    for command, guards in _GUARDED:
        table[tuple(command.split())] = Entry(Harm.NONE, READS, guards=guards)
    # Allowed widely, because people read from clusters all day.
    table["kubectl", "get"] = Entry(
        Harm.NONE, "only reads from the cluster", guards=_KUBECTL_GUARDS
    )
    for command, harmful in _EXACT_WITHOUT:
        table[tuple(command.split())] = Entry(Harm.NONE, READS, word_set(harmful))
    for command, harmless in _EXACT_WITH:
        table[tuple(command.split())] = Entry(Harm.NONE, READS, harmless_options=word_set(harmless))
    for command, max_operands, harmful in _EXACT_WITH_FEW_OPERANDS:
        table[tuple(command.split())] = Entry(
            Harm.NONE, READS, word_set(harmful), max_operands=max_operands
        )
    for name in word_set(_VERSION_PRINTERS):
        for option in ("--version", "--help"):
            table[name, option] = Entry(Harm.NONE, READS, max_operands=NO_ARGUMENTS)
    for name, option in [("python", "-V"), ("python3", "-V"), ("node", "-v"), ("npm", "-v")]:
        table[name, option] = Entry(Harm.NONE, READS, max_operands=NO_ARGUMENTS)
    return table
