"""Commands that do harm, and commands that people must decide about, with the reason.

Commands that may run unasked have their own tables (readers_table.py, checks_table.py). A command
in no table is unknown, never harmless. An entry's key is the beginning of the command. If several
entries fit, the longest key counts first: `git stash list` before `git stash`.
"""

from __future__ import annotations

from navi.permissions.checks_table import checks
from navi.permissions.judgement import Entry, Harm, Words
from navi.permissions.readers_table import readers
from navi.permissions.shell.shell_command import word_set

_HARMFUL = {
    "deletes": "rm rmdir unlink shred srm trash wipe",
    "writes files": """
        mv cp dd tee touch mkdir ln install truncate mkfifo mknod patch split csplit tar unzip zip
        gzip gunzip bzip2 xz 7z cpio ar vi vim nvim nano ed ex emacs code mktemp rename""",
    "changes permissions or users": """
        sudo su doas runuser pkexec chmod chown chgrp chattr setfacl setcap passwd useradd usermod
        userdel groupadd groupdel visudo chsh chroot unshare nsenter""",
    "accesses the network": """
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
        osascript arch""",
    "shows the environment, with the secrets in it": "printenv env",
    "installs or removes software": """
        apt-get yum dnf pacman apk zypper snap flatpak port gem pipx choco winget rustup nvm pyenv
        rbenv asdf mise conda mamba""",
}
# One tool per line.
_HARMFUL_SUBCOMMANDS = {
    "changes the repository": """
        git: add commit merge rebase cherry-pick revert am apply stash checkout switch restore \
        reset clean rm mv tag branch gc prune filter-branch filter-repo update-ref config init \
        worktree bisect notes replace reflog remote submodule update-index symbolic-ref read-tree \
        commit-tree mktag mktree hash-object fast-import repack lfs sparse-checkout rerere \
        format-patch archive bundle maintenance""",
    "accesses the network": """
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
# Neither harmless nor clearly harmful: people decide, one command at a time.
_UNDECIDED = {
    "installs the packages in a lock file or list, from the network": [
        "npm install", "npm i", "npm ci", "yarn install", "pnpm install", "pnpm i", "bun install",
        "uv sync", "bundle install", "cargo fetch", "go mod", "composer install", "poetry install",
        "pip install",
    ],
    "reads from a cluster over the network": [
        "kubectl describe", "kubectl logs", "kubectl top", "kubectl explain", "kubectl version",
        "kubectl config", "kubectl cluster-info", "kubectl api-resources",
    ],
    "may show a password in an address": ["git remote -v", "git remote get-url", "git remote show"],
    "shows variables, with the secrets in them": [
        "docker inspect", "docker container inspect", "docker compose config", "systemctl show",
        "systemctl cat", "git var",
    ],
    "leaves the folders Claude Code confines commands to": ["pushd", "popd", "dirs"],
    # They can run code: `read 'a[$(x)]'` runs `x`.
    "sets variables of the shell": [
        "export", "declare", "typeset", "local", "readonly", "read", "unset", "let", "mapfile",
        "readarray", "getopts",
    ],
    "runs the repository's code, and a rule would apply to every repository": [
        *(f"{tool} run" for tool in ("npm", "yarn", "pnpm", "bun")),
        "npm run-script", "yarn lint", "pnpm lint", "yarn build", "pnpm build", "make", "just",
        "task", "tox", "nox", "mvn", "./mvnw", "gradle", "./gradlew", "cargo build", "cargo bench",
        "cargo run", "go build", "go run", "go generate", "dotnet test", "dotnet build",
        "swift test", "swift build", "deno test", "deno check", "deno lint", "mocha", "rspec",
        "phpunit", "mix test", "ctest", "docker compose up",
    ],
    "builds an image, running the commands in its file": ["docker build", "docker compose build"],
    "runs a file in this shell": ["source", "."],
}  # fmt: skip


def _table() -> dict[Words, Entry]:
    table: dict[Words, Entry] = {}
    for reason, commands in _HARMFUL.items():
        for name in word_set(commands):
            table[(name,)] = Entry(Harm.CERTAIN, reason)
    for reason, lines in _HARMFUL_SUBCOMMANDS.items():
        for line in lines.strip().splitlines():
            name, _, subs = line.partition(":")
            for sub in word_set(subs):
                table[(name.strip(), sub)] = Entry(Harm.CERTAIN, reason)
    for reason, beginnings in _UNDECIDED.items():
        for beginning in beginnings:
            table[tuple(beginning.split())] = Entry(Harm.UNKNOWN, reason)
    return {**table, **readers(), **checks()}


TABLE: dict[Words, Entry] = _table()
LONGEST_KEY = max(len(key) for key in TABLE)

# By tool, the options before the subcommand that do not change its effect: first those without a
# value, then those with one.
LEADING_OPTIONS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "git": (word_set("--no-pager -P --no-optional-locks"), word_set("-C")),
    "npm": (word_set("-s --silent"), word_set("--prefix -w --workspace")),
    "pnpm": (word_set("-s --silent -r -w"), word_set("-C --dir --filter -F")),
    "yarn": (word_set("-s --silent"), word_set("--cwd")),
    "cargo": (word_set("-q --quiet -v"), frozenset()),
    "go": (frozenset(), word_set("-C")),
    "uv": (word_set("-q --quiet"), word_set("--directory --project")),
    "make": (word_set("-s -k -j"), word_set("-C")),
    "systemctl": (word_set("--user --no-pager"), frozenset()),
    "kubectl": (frozenset(), word_set("-n --namespace --context")),
}
# Variables that can be set for a command without changing what it does.
HARMLESS_VARIABLES = word_set(
    "CI NODE_ENV FORCE_COLOR NO_COLOR CLICOLOR LANG LANGUAGE LC_ALL LC_CTYPE TZ TERM "
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR "
    "TF_IN_AUTOMATION DEBIAN_FRONTEND HUSKY PIP_NO_INPUT"
)
HARMFUL_VARIABLES = word_set(
    "PATH IFS ENV BASH_ENV SHELLOPTS PROMPT_COMMAND PS4 LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT "
    "PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS NODE_PATH PERL5LIB PERL5OPT RUBYOPT "
    "RUBYLIB EDITOR VISUAL PAGER BROWSER GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER "
    "GIT_EDITOR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_DIR LESSOPEN JAVA_TOOL_OPTIONS CLASSPATH "
    "RUSTC_WRAPPER GOFLAGS SHELL HOME"
)
