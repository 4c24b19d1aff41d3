"""Which commands only read, which run a project's own checks, and which do harm, with the reason.

What only reads is a list of what is allowed: a command that is in no table is unknown, never
harmless. An entry's key is how the command begins: `git log` has one of its own beside `git`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from navi.domain.shell_command import names


class Harm(IntEnum):
    """From best to worst, so that the worst of several is their maximum."""

    NONE = 0
    """It only reads."""
    PROJECT = 1
    """It runs the project's own tests, checks or build: what those do is in the user's hands."""
    UNKNOWN = 2
    DONE = 3
    """It writes, deletes, reaches out to the network, changes rights, or runs any given code."""


class Entry(NamedTuple):
    harm: Harm
    reason: str
    unless: frozenset[str] = frozenset()
    """Options with which it writes a file or runs something."""
    operands: int | None = None
    """With more operands than this it writes. -1: nothing at all may follow."""
    needs: frozenset[str] = frozenset()
    """It is what the entry says only with one of these options."""


READS = "only reads"
TESTS = "runs the project's own tests"
CHECKS = "checks the project's code"
BUILDS = "builds the project"

Key = tuple[str, ...]

# With any arguments whatsoever these change nothing.
_READERS = (
    "ls cat pwd wc head tail echo true false : test [ [[ which whoami id groups uname arch "
    "nproc free uptime df du stat basename dirname realpath readlink cut tr paste comm cmp diff "
    "nl tac rev fold expand unexpand seq sleep md5sum sha1sum sha224sum sha256sum sha384sum "
    "sha512sum b2sum cksum shasum grep egrep fgrep strings od jq ps pgrep printenv tty lsblk "
    "lscpu lsof expr factor tsort readelf zcat cd pushd popd dirs exit return break continue "
    "wait jobs type shellcheck"
)
_READING_SUBCOMMANDS = (
    "git status, git ls-files, git ls-tree, git rev-parse, git describe, git merge-base, git "
    "cat-file, git count-objects, git check-ignore, git check-attr, git name-rev, git show-ref, "
    "git for-each-ref, git version, git worktree list, git submodule status, git remote "
    "get-url, git bisect log, docker ps, docker images, docker version, docker info, docker "
    "inspect, docker logs, docker top, docker port, docker compose ps, docker compose logs, "
    "docker compose ls, docker network ls, docker volume ls, docker image ls, docker container "
    "ls, npm ls, npm list, npm root, npm prefix, uv pip list, uv pip show, uv pip freeze, brew "
    "list, dpkg -l, dpkg -L, dpkg -s"
)  # fmt: skip
_OUTPUT = "--output --ext-diff"
# What reads, unless told to write or to run something.
_READERS_UNLESS = [
    *((f"git {sub}", _OUTPUT) for sub in names("log diff show shortlog rev-list whatchanged")),
    *((f"git {sub}", _OUTPUT) for sub in names("diff-tree diff-index diff-files range-diff")),
    *((f"git {sub}", _OUTPUT) for sub in names("blame annotate")),
    ("git stash list", _OUTPUT),
    *((f"git {sub}", "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to")
      for sub in ("branch --list", "branch -l", "tag --list", "tag -l")),
    ("nm", "--plugin"),
    *((f"pip {sub}", "--log --python --proxy") for sub in names("show freeze")),
    *((f"apt {sub}", "-o --option -c --config-file") for sub in names("list show")),
    *((f"systemctl {sub}", "-H --host -M --machine")
      for sub in names("status is-active is-enabled list-units show cat")),
    ("git grep", "-O --open-files-in-pager"),
    ("git stash show", _OUTPUT),
    ("git reflog show", _OUTPUT),
    ("printf", "-v"),
    ("rg", "--pre --pre-glob --hostname-bin -z --search-zip"),
    ("ag", "--pager"),
    ("sort", "-o --output --compress-program -T --temporary-directory"),
    ("shuf", "-o --output"),
    ("tree", "-o -R --output"),
    ("file", "-C --compile -m --magic-file"),
    ("ss", "-K --kill -D --diag"),
    ("journalctl", "--rotate --vacuum-size --vacuum-time --vacuum-files --flush --sync "
     "--relinquish-var --smart-relinquish-var --setup-keys --update-catalog"),
    ("pip list", "-o --outdated --uptodate -u --log --python --proxy"),
    ("go env", "-w -u --w --u"),
    ("yq", "-i --inplace --in-place --split-exp -s"),
    ("bat", "--pager --paging"),
]  # fmt: skip
# What reads, if it is given no more than so many operands.
_READERS_UP_TO = [("hostname", 0), ("uniq", 1), ("git branch", 0), ("git remote", 0), ("date", 0),
                  ("git reflog", 0), ("git tag", 0), ("xxd", 1), ("env", 0)]  # fmt: skip
_OPTIONS_THAT_CHANGE = {
    "hostname": "-F --file -b --boot",
    "uniq": "",
    "git branch": "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to "
    "--track -t --unset-upstream --edit-description --create-reflog",
    "git remote": "",
    "date": "-s --set -f --file",
    "git reflog": _OUTPUT,
    "git tag": "-d --delete -a -s -u -f -m -F -e --annotate --sign --local-user --force --edit",
    "xxd": "-r --revert",
    "env": "-S --split-string",
}

_VERSIONS = (
    "git docker make uv npm pip pip3 cargo rustc node python python3 ruby java gcc clang cmake "
    "pytest ruff mypy eslint tsc pnpm yarn bun deno kubectl bash zsh jq rg"
)
_PYTEST = "--basetemp --junitxml --junit-xml -p --pdbcls -c --config-file --rootdir --debug"
_FIX = "--fix --fix-dry-run --fix-type"
_PROJECT: list[tuple[str, str, str]] = [
    *((f"{tool} test", TESTS, "--script-shell") for tool in names("npm yarn pnpm bun")),
    ("npm t", TESTS, "--script-shell"),
    *(
        (f"{tool} run {script}", reason, "--script-shell")
        for tool in names("npm yarn pnpm bun")
        for scripts, reason in [
            ("test tests test:unit test:ci test:e2e test:integration test:coverage", TESTS),
            ("lint check typecheck type-check types tsc format:check lint:check", CHECKS),
            ("build compile", BUILDS),
        ]
        for script in sorted(names(scripts))
    ),
    *((f"{tool} lint", CHECKS, _FIX) for tool in names("yarn pnpm")),
    *((f"{tool} build", BUILDS, "") for tool in names("yarn pnpm")),
    *((runner, TESTS, _PYTEST) for runner in ("pytest", "py.test")),
    *((f"{python} -m pytest", TESTS, _PYTEST) for python in names("python python3")),
    *((f"{python} -m unittest", TESTS, "") for python in names("python python3")),
    *((f"{python} -m mypy", CHECKS, "") for python in names("python python3")),
    ("tox", TESTS, "-x --override --workdir"),
    ("nox", TESTS, "-f --noxfile --envdir"),
    ("mypy", CHECKS, "--install-types --junit-xml --html-report --txt-report --xml-report "
     "--python-executable --config-file --cache-dir --any-exprs-report --linecount-report "
     "--cobertura-xml-report --lineprecision-report --linecoverage-report --xslt-html-report"),
    ("pyright", CHECKS, "--createstub --watch -w --pythonpath"),
    ("ruff check", CHECKS, "--fix --fix-only --unsafe-fixes -o --output-file --add-noqa --config"),
    ("flake8", CHECKS, "--output-file --tee"),
    ("pylint", CHECKS, "--output --init-hook --load-plugins --rcfile"),
    ("eslint", CHECKS, f"{_FIX} -o --output-file --init --rulesdir -c --config --plugin"),
    ("jest", TESTS, "--outputFile -u --updateSnapshot --config -c --clearCache --init"),
    ("vitest run", TESTS, "-u --update --outputFile --config -c"),
    ("mocha", TESTS, "-r --require --reporter-option -O --config"),
    ("cargo test", TESTS, "--config --target-dir"),
    ("cargo bench", TESTS, "--config --target-dir"),
    ("cargo check", CHECKS, "--config --target-dir"),
    ("cargo clippy", CHECKS, "--config --target-dir --fix"),
    ("cargo build", BUILDS, "--config --target-dir --out-dir --artifact-dir"),
    ("go test", TESTS, "-exec -toolexec -o -vettool --exec --toolexec --vettool -coverprofile "
     "-cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir"),
    ("go vet", CHECKS, "-vettool -toolexec --vettool --toolexec -fix --fix"),
    ("go build", BUILDS, "-o -toolexec --toolexec"),
    ("golangci-lint run", CHECKS, "--fix -c --config --out-format"),
    *((f"{tool} {goal}", reason, "--eval -E -f --file --makefile -C --directory SHELL=")
      for tool in names("make just task")
      for goal, reason in [("test", TESTS), ("check", CHECKS), ("lint", CHECKS), ("build", BUILDS),
                           ("typecheck", CHECKS)]),
    *((f"{tool} {goal}", TESTS, "-D --define -f --file -s --settings")
      for tool in names("mvn ./mvnw") for goal in names("test verify")),
    *((f"{tool} {goal}", TESTS, "-I --init-script -b --build-file -c --settings-file -D -P")
      for tool in names("gradle ./gradlew") for goal in names("test check")),
    ("dotnet test", TESTS, "--logger --results-directory -r -o --output"),
    ("dotnet build", BUILDS, "-o --output"),
    ("swift test", TESTS, ""),
    ("swift build", BUILDS, ""),
    ("rspec", TESTS, "-r --require -o --out --init -O --options"),
    ("phpunit", TESTS, "--bootstrap -c --configuration --log-junit"),
    ("mix test", TESTS, ""),
    ("ctest", TESTS, "-S -SP --script"),
    ("deno test", TESTS, "-A --allow-all --allow-run --allow-write"),
    ("deno check", CHECKS, ""),
    ("deno lint", CHECKS, "--fix"),
]  # fmt: skip
# Only with one of these do they leave the files alone.
_PROJECT_NEEDS = [
    ("ruff format", "--check --diff", ""),
    ("black", "--check", "-c --code --config"),
    ("isort", "--check --check-only -c --diff", ""),
    ("prettier", "--check -c --list-different -l", "--write -w --plugin --config"),
    ("tsc", "--noEmit", "--outDir --outFile --declarationDir --generateTrace --generateCpuProfile"),
    ("cargo fmt", "--check", ""),
    ("gofmt", "-l -d", "-w --w -r"),
]

_HARM = {
    "deletes": "rm rmdir unlink shred srm trash wipe",
    "writes files": """
        mv cp dd tee touch mkdir ln install truncate mkfifo mknod patch split csplit tar unzip zip
        gzip gunzip bzip2 xz 7z cpio ar vi vim nvim nano ed ex emacs code mktemp rename""",
    "changes rights or users": """
        sudo su doas runuser pkexec chmod chown chgrp chattr setfacl setcap passwd useradd usermod
        userdel groupadd groupdel visudo chsh chroot unshare nsenter""",
    "reaches out to the network": """
        curl wget ssh scp sftp ftp nc ncat netcat telnet socat rsync ping dig nslookup host
        traceroute whois aria2c http https xh gh glab aws gcloud az helm terraform tofu ansible
        ansible-playbook heroku vercel netlify fly flyctl doctl mail sendmail psql mysql mongo
        redis-cli openssl rclone s3cmd gsutil firebase wrangler supabase""",
    "acts on the machine": """
        kill pkill killall xkill reboot shutdown halt poweroff service mount umount mkfs fdisk
        parted iptables nft ufw crontab at launchctl sysctl modprobe insmod rmmod swapoff swapon
        systemd-run loginctl timedatectl hostnamectl tmux screen defaults xdg-open open""",
    "runs code given as text": """
        eval alias trap enable parallel watch busybox toybox script flock nix-shell expect
        osascript""",
    "installs or removes software": """
        apt-get yum dnf pacman apk zypper snap flatpak port gem pipx choco winget rustup nvm pyenv
        rbenv asdf mise conda mamba""",
}
# One tool a line.
_HARMFUL_SUBCOMMANDS = {
    "changes the repository": """
        git: add commit merge rebase cherry-pick revert am apply stash checkout switch restore \
        reset clean rm mv tag branch gc prune filter-branch filter-repo update-ref config init \
        worktree bisect notes replace reflog remote submodule update-index symbolic-ref read-tree \
        commit-tree mktag mktree hash-object fast-import repack lfs sparse-checkout rerere \
        format-patch archive bundle maintenance""",
    "reaches out to the network": """
        git: push pull fetch clone ls-remote send-email svn p4 request-pull daemon
        npm: publish view info search login logout adduser owner deprecate dist-tag access audit \
        outdated ping profile team token unpublish whoami
        docker: push pull login logout search
        cargo: publish login owner search yank
        go: get install
        brew: update search
        apt: update
        uv: publish
        pip: download search""",
    "installs or removes software": """
        npm: uninstall remove rm link update upgrade init create exec x pack rebuild prune dedupe
        pnpm: add remove update up dlx exec publish link create store
        yarn: add remove upgrade dlx exec publish link create global up
        pip: uninstall wheel config cache
        cargo: install uninstall add remove update clean
        uv: add remove tool python self cache pip lock init venv
        brew: install uninstall upgrade reinstall tap untap link unlink cleanup services remove
        apt: install remove purge upgrade full-upgrade autoremove dist-upgrade
        go: clean""",
    "acts on containers": """
        docker: run exec rm rmi stop kill start restart cp commit tag load save import export \
        create rename update pause unpause prune system container image volume network compose \
        swarm stack service secret config node plugin attach buildx""",
    "acts on a cluster": """
        kubectl: apply create delete edit patch replace scale exec cp run expose set label \
        annotate rollout drain cordon uncordon taint attach port-forward proxy debug""",
    "acts on the machine": """
        systemctl: start stop restart reload enable disable mask unmask kill daemon-reload \
        daemon-reexec set-property edit isolate reboot poweroff halt suspend revert""",
}
# Neither harmless nor beyond discussion: it is for people to decide, one command at a time.
_OPEN = {
    "installs what a lock file or list names, from the network": [
        "npm install", "npm i", "npm ci", "yarn install", "pnpm install", "pnpm i", "bun install",
        "uv sync", "bundle install", "cargo fetch", "go mod", "composer install", "poetry install",
        "pip install",
    ],
    "reads from a cluster over the network": [
        "kubectl get", "kubectl describe", "kubectl logs", "kubectl top", "kubectl explain",
        "kubectl version", "kubectl config", "kubectl cluster-info", "kubectl api-resources",
    ],
    "builds an image: runs what its file says": ["docker build", "docker compose build"],
    "runs a file in this shell": ["source", "."],
}  # fmt: skip


def _table() -> dict[Key, Entry]:
    found: dict[Key, Entry] = {}
    for reason, commands in _HARM.items():
        for name in names(commands):
            found[(name,)] = Entry(Harm.DONE, reason)
    for reason, tools in _HARMFUL_SUBCOMMANDS.items():
        for tool in tools.strip().splitlines():
            name, _, subs = tool.partition(":")
            for sub in names(subs):
                found[(name.strip(), sub)] = Entry(Harm.DONE, reason)
    for reason, keys in _OPEN.items():
        for key in keys:
            found[tuple(key.split())] = Entry(Harm.UNKNOWN, reason)
    for name in names(_READERS):
        found[(name,)] = Entry(Harm.NONE, READS)
    for key in _READING_SUBCOMMANDS.split(","):
        found[tuple(key.split())] = Entry(Harm.NONE, READS)
    for key, unless in _READERS_UNLESS:
        found[tuple(key.split())] = Entry(Harm.NONE, READS, names(unless))
    for key, operands in _READERS_UP_TO:
        unless = _OPTIONS_THAT_CHANGE[key]
        found[tuple(key.split())] = Entry(Harm.NONE, READS, names(unless), operands)
    for name in names(_VERSIONS):
        for option in ("--version", "--help"):
            found[name, option] = Entry(Harm.NONE, READS, operands=-1)
    for name, option in [("python", "-V"), ("python3", "-V"), ("node", "-v"), ("npm", "-v")]:
        found[name, option] = Entry(Harm.NONE, READS, operands=-1)
    for key, reason, unless in _PROJECT:
        found[tuple(key.split())] = Entry(Harm.PROJECT, reason, names(unless))
    for key, needs, unless in _PROJECT_NEEDS:
        found[tuple(key.split())] = Entry(Harm.PROJECT, CHECKS, names(unless), needs=names(needs))
    return found


TABLE: dict[Key, Entry] = _table()
LONGEST_KEY = max(len(key) for key in TABLE)

# Options in front of the subcommand that change nothing of what it does.
LEADING_OPTIONS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "git": (names("--no-pager -P --no-optional-locks"), names("-C")),
    "npm": (names("-s --silent"), names("--prefix -w --workspace")),
    "pnpm": (names("-s --silent -r -w"), names("-C --dir --filter -F")),
    "yarn": (names("-s --silent"), names("--cwd")),
    "cargo": (names("-q --quiet -v"), frozenset()),
    "go": (frozenset(), names("-C")),
    "uv": (names("-q --quiet"), names("--directory --project")),
    "make": (names("-s -k -j"), names("-C")),
    "systemctl": (names("--user --no-pager"), frozenset()),
    "kubectl": (frozenset(), names("-n --namespace --context")),
}
# What may stand in front of a command without changing what it does.
HARMLESS_VARIABLES = names(
    "CI NODE_ENV FORCE_COLOR NO_COLOR CLICOLOR LANG LANGUAGE LC_ALL LC_CTYPE TZ TERM COLUMNS LINES "
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR "
    "TF_IN_AUTOMATION DEBIAN_FRONTEND HUSKY PIP_NO_INPUT"
)
HARMFUL_VARIABLES = names(
    "PATH IFS ENV BASH_ENV SHELLOPTS PROMPT_COMMAND PS4 LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT "
    "PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS NODE_PATH PERL5LIB PERL5OPT RUBYOPT "
    "RUBYLIB EDITOR VISUAL PAGER BROWSER GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER "
    "GIT_EDITOR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_DIR LESSOPEN JAVA_TOOL_OPTIONS CLASSPATH "
    "RUSTC_WRAPPER GOFLAGS SHELL HOME"
)
