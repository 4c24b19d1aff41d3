"""Four thousand ordinary commands, as an agent runs in a few weeks; always the same ones."""

from __future__ import annotations

from collections import Counter
from random import Random

from navi.permissions.suggestions import CountedCommand

SIZE = 4_000
FILES = [
    f"{folder}/{name}.{suffix}"
    for folder in ("src", "src/app", "src/api", "tests", "docs")
    for name in ("user", "cart", "index", "handler", "token", "parser", "order", "config")
    for suffix in ("py", "ts", "rs")
]
WORDS = [
    *("TODO", "handleLogin", "def main", "class Cart", "import os", "user_id", "timeout", "retry"),
    *("process.env", "fn parse", "async def", "secretary", "'foo(bar)'", "'a|b'", "useState"),
]
# How often, and what: {f} a file, {g} another one, {w} a word, {n} a number, {c} a commit.
TEMPLATES: list[tuple[int, str]] = [
    (60, "git status"),
    (20, "git status --short"),
    (25, "git diff"),
    (30, "git diff {f}"),
    (15, "git diff --stat HEAD~{n}"),
    (12, "git --no-pager diff HEAD~{n} -- {f}"),
    (40, "git log --oneline -{n}"),
    (12, "git log -p -{n} -- {f}"),
    (20, "git show {c}"),
    (12, "git show {c} --stat"),
    (10, "git blame {f}"),
    (12, "git branch"),
    (8, "git branch -a"),
    (8, "git rev-parse HEAD"),
    (8, "git ls-files | grep {w}"),
    (30, "git add {f}"),
    (30, "git add -A && git commit -m 'change {n}'"),
    (15, "git commit -m \"$(cat <<'EOF'\nfix: {w}\n\nlonger text\nEOF\n)\""),
    (10, "git push"),
    (8, "git stash list"),
    (80, "rg {w}"),
    (60, "rg -n {w} src"),
    (25, "rg -l {w} | head -{n}"),
    (40, "grep -rn {w} src"),
    (20, "grep -n {w} {f}"),
    (40, "ls"),
    (40, "ls -la src"),
    (20, "ls {f}"),
    (50, "cat {f}"),
    (20, "cat {f} | head -{n}"),
    (30, "head -{n} {f}"),
    (30, "tail -{n} {f}"),
    (60, "sed -n '{n},20p' {f}"),
    (50, "find . -name '*.py' -not -path './node_modules/*'"),
    (30, "find src -type f -name {w}"),
    (15, "wc -l {f}"),
    (12, "wc -l {f} {g}"),
    (10, "diff {f} {g}"),
    (10, "tree -L {n}"),
    (40, "cd /p/proj && git status"),
    (30, "cd /p/proj/web && npm test"),
    (20, "cd src && ls"),
    (25, "pwd"),
    (40, "pytest -q"),
    (60, "pytest {f} -x -q"),
    (30, "pytest {f} -k test_{n} 2>&1 | tail -{n}"),
    (40, "python -m pytest {f}"),
    (25, "python -m pytest -q tests 2>&1 | tail -5"),
    (20, "CI=1 pytest {f}"),
    (25, "uv run pytest {f} -q"),
    (30, "cargo test"),
    (25, "cargo test {w}"),
    (15, "cargo test -- --nocapture 2>&1 | tail -{n}"),
    (15, "cargo check"),
    (15, "cargo clippy -- -D warnings"),
    (12, "cargo build"),
    (30, "npm test"),
    (20, "npm test -- cart"),
    (10, "npm test -- user"),
    (30, "npm run build 2>&1 | tail -20"),
    (15, "npm run lint"),
    (12, "npm install"),
    (25, "npx tsc --noEmit"),
    (30, "ruff check ."),
    (25, "ruff check {f}"),
    (12, "ruff check --fix {f}"),
    (15, "ruff format ."),
    (20, "mypy src"),
    (15, "mypy {f}"),
    (12, "go test ./..."),
    (12, "go test ./pkg/{w} -run Test -count=1"),
    (15, "make test"),
    (20, "kubectl get pods"),
    (15, "kubectl get pods -n prod"),
    (12, "kubectl get deploy -A -o wide"),
    (6, "kubectl get pods -o yaml"),
    (10, "kubectl logs web-{n}"),
    (15, "docker ps"),
    (12, "docker ps -a"),
    (12, "docker logs web --tail {n}"),
    (10, "docker build -t x ."),
    (20, "sleep {n}"),
    (25, "echo done"),
    (15, "echo '--- {w} ---'"),
    (15, "echo {n} > notes.txt"),
    (10, "cat > {f} <<'EOF'\nprint(1)\nEOF"),
    (20, "python scripts/x.py {n}"),
    (15, "python -c 'print({n})'"),
    (10, "python3 - <<'EOF'\nprint({n})\nEOF"),
    (10, "rm -rf build"),
    (8, "mkdir -p src/new{n}"),
    (8, "chmod +x run.sh"),
    (15, "curl -s http://127.0.0.1:8000/health | jq ."),
    (8, "cat .env"),
    (12, "which node"),
    (10, "ps aux | grep node"),
    (10, "for f in src/*.py; do wc -l $f; done"),
    (10, "sort {f} | uniq -c | sort -rn | head -{n}"),
    (10, "find . -name '*.ts' | xargs grep -l {w}"),
    (8, "NODE_ENV=test npm test"),
    (8, "timeout 60 pytest {f}"),
    (6, "awk '{{print $1}}' {f}"),
    (5, "jq .version package.json"),
    (5, "stat {f}"),
    (5, "du -sh ."),
    (5, "date"),
]


def ordinary_history() -> list[CountedCommand]:
    random = Random(2026)
    weights = [weight for weight, _ in TEMPLATES]
    seen: Counter[str] = Counter()
    for _, template in random.choices(TEMPLATES, weights, k=SIZE):
        f, g = random.sample(FILES, 2)
        commit = f"{random.randrange(16**7):07x}"
        line = template.format(f=f, g=g, w=random.choice(WORDS), n=random.randint(1, 40), c=commit)
        seen[line] += 1
    return [CountedCommand(line, count, ("/p/proj",)) for line, count in seen.items()]
