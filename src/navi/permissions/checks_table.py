"""The test and lint commands that may run without asking: the only ones that run other code.

They run code from the repository, and a rule in the user's settings applies to every repository,
even an untrusted one. So this table has only the standard test and check commands of languages and
tools. Commands that run whatever a file calls "build" or "lint" (make, just, tox, nox, gradle, mvn,
`npm run x`) and build commands are left to people (risk_table.py).
"""

from __future__ import annotations

from navi.permissions.guards import bundled, make_guards
from navi.permissions.judgement import Entry, Harm, Words
from navi.permissions.shell.shell_command import word_set

TESTS = "runs the repository's own tests"
CHECKS = "checks the repository's code"

_PYTEST_GUARDS = make_guards(
    "*pytest",
    # -p imports any module, -c and @file read options from any file.
    f"{bundled('pco', after='xvqsl')} @ --basetemp --junit --debug --log-file --pastebin --pdbcls "
    "--rootdir --confcutdir --config --override --cov-report --cov-config --html --json --report "
    "--benchmark --tx --px --rsync ~log_file ~cache_dir ~addopts ~pythonpath "
    # Plugin options that write or delete.
    "--snapshot --inline-snapshot --update --regen --force-regen --output --allure --clean --csv "
    "--md --profile --memray --store",
)
_RUFF_GUARDS = make_guards(
    "*ruff check",
    f"{bundled('o', after='qvsenw')} --fix --unsafe --output-file --add- --config --cache-dir",
)
_MYPY_GUARDS = make_guards(
    "*mypy",
    # argparse also accepts unambiguous abbreviations of options.
    "@ --ins --an --co --ht --li --tx --ti --x --j --python-e --ca --cu",
)
_CARGO_GUARDS = make_guards(
    "cargo",
    # From --logfile on, these follow `--` and go to rustc or to the tests.
    "--config --target --manifest-path --out --artifact --lockfile --fix --logfile --emit "
    "--codegen --extern --sysroot --print -C -L -Z -o @",
)
_GO_GUARDS = make_guards(
    "go",
    "~toolexec ~vettool ~profile ~modfile ~overlay ~ldflags ~gcflags ~asmflags ~gccgoflags "
    "~pkgdir ~-test. -exec --exec -o --o -trace --trace -C --C -c$ --c$ -mod --mod -fuzz --fuzz "
    "-fix --fix",
)
# Allowed with any arguments except those that the guards catch.
_GUARDED: list[tuple[str, str, tuple[str, ...]]] = [
    ("pytest", TESTS, _PYTEST_GUARDS),
    *((f"{python} -m pytest", TESTS, _PYTEST_GUARDS) for python in ("python", "python3")),
    *((f"{python} -m mypy", CHECKS, _MYPY_GUARDS) for python in ("python", "python3")),
    ("mypy", CHECKS, _MYPY_GUARDS),
    ("ruff check", CHECKS, _RUFF_GUARDS),
    ("cargo test", TESTS, _CARGO_GUARDS),
    *((f"cargo {sub}", CHECKS, _CARGO_GUARDS) for sub in ("check", "clippy")),
    ("go test", TESTS, _GO_GUARDS),
    ("go vet", CHECKS, _GO_GUARDS),
    # The repository decides which program gets these arguments, so no option is safe.
    *((f"{tool} test --", TESTS, make_guards(f"{tool} test --", "-")) for tool in ("npm", "pnpm")),
]
_SCRIPT_OPTIONS = "-s --silent -- --run --watch=false --watchAll=false --ci --verbose --bail"
# Allowed only exactly as run, and with no options other than these.
_EXACT_WITH = [
    *((f"{tool} test", TESTS, _SCRIPT_OPTIONS) for tool in ("npm", "pnpm", "yarn")),
    ("npm t", TESTS, _SCRIPT_OPTIONS),
    ("bun test", TESTS, "--bail --timeout -t --test-name-pattern --only --todo"),
    *((f"{python} -m unittest", TESTS, "-v -q -f -b -k") for python in ("python", "python3")),
    ("jest", TESTS, "--ci --verbose --silent --bail -i --runInBand -t --testNamePattern "
     "--passWithNoTests"),
    ("vitest run", TESTS, "-t --testNamePattern --bail --no-color --passWithNoTests"),
    ("pyright", CHECKS, "--warnings --stats --level --pythonversion"),
    ("flake8", CHECKS, "--max-line-length --select --ignore --extend-ignore --count --statistics "
     "--show-source --exclude"),
    ("pylint", CHECKS, "--disable --enable -E --errors-only --score -rn --max-line-length"),
    ("eslint", CHECKS, "--quiet --max-warnings --ext --no-color --color"),
    ("shellcheck", CHECKS, "-x -a -s --shell -S --severity -e --exclude -C --color"),
    ("golangci-lint run", CHECKS, "--timeout -v -E -D --enable --disable --fast"),
]  # fmt: skip
# Each row has two lists of options. Without an option from the first list, the command would change
# files. It is allowed only exactly as run, with at least one option from the first list, and with
# no option outside the two lists.
_EXACT_WITH_ONE_OF = [
    ("ruff format", "--check --diff", "-q --quiet"),
    ("black", "--check --diff", "-q --quiet -l --line-length"),
    ("isort", "--check --check-only -c --diff", "--profile -q --quiet"),
    ("prettier", "--check -c --list-different -l", ""),
    ("tsc", "--noEmit", "-p --project --pretty --skipLibCheck --strict"),
    ("cargo fmt", "--check", "--all -q --quiet -- -v"),
    ("gofmt", "-l -d", "-s -e"),
]
_WRITING_OPTIONS = word_set("--fix --write -w")


def checks() -> dict[Words, Entry]:
    table: dict[Words, Entry] = {}
    for command, reason, guards in _GUARDED:
        table[tuple(command.split())] = Entry(Harm.RUNS_CHECKS, reason, guards=guards)
    for command, reason, harmless in _EXACT_WITH:
        table[tuple(command.split())] = Entry(
            Harm.RUNS_CHECKS, reason, _WRITING_OPTIONS, word_set(harmless)
        )
    for command, needs, harmless in _EXACT_WITH_ONE_OF:
        table[tuple(command.split())] = Entry(
            Harm.RUNS_CHECKS,
            CHECKS,
            _WRITING_OPTIONS,
            word_set(f"{needs} {harmless}"),
            needs_one_of=word_set(needs),
        )
    return table
