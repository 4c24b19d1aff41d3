"""What is kept of a tool's output."""

from __future__ import annotations

import pytest

from navi.base.secrets.masking import mask
from navi.memory.ingest.derived.output_excerpts import (
    HEAD,
    LONGEST_LINE,
    MOST_ERRORS,
    TAIL,
    WHOLE,
    excerpt,
)
from tests.secret_samples import SAMPLES, Sample, is_readable

NOISE = "\n".join(f"src/part{number}/file.py ok" for number in range(400))


def test_a_short_output_is_kept_whole() -> None:
    assert excerpt("\nREADME.md\napp.py\n") == "README.md\napp.py"
    assert excerpt("x" * WHOLE) == "x" * WHOLE


def test_a_long_output_keeps_its_beginning_and_its_end() -> None:
    kept = excerpt(f"collecting\n{NOISE}\n3 passed in 2 s")
    assert kept.startswith("collecting\n")
    assert kept.endswith("3 passed in 2 s")
    assert len(kept) <= HEAD + TAIL + 10


@pytest.mark.parametrize(
    "line",
    [
        "E   ValueError: no such column",
        "npm ERR! code ERESOLVE",
        "FAILED tests/test_cart.py::test_discount",
        "bash: jq: command not found",
        "Permission denied (publickey)",
    ],
)
def test_a_line_that_looks_like_an_error_is_kept_with_the_line_after_it(line: str) -> None:
    kept = excerpt(f"{NOISE}\n{line}\ndetail 4711\n{NOISE}").splitlines()
    assert line in kept
    assert "detail 4711" in kept


def test_the_last_errors_are_kept_if_there_are_many() -> None:
    errors = "\n".join(f"error {number}" for number in range(100, 200))
    kept = [line for line in excerpt(f"{NOISE}\n{errors}\n{NOISE}").splitlines() if "error" in line]
    assert kept == [f"error {number}" for number in range(200 - MOST_ERRORS, 200)]


def test_an_excerpt_stays_short_whatever_is_printed() -> None:
    most = HEAD + TAIL + 2 * MOST_ERRORS * (LONGEST_LINE + 1) + 20
    for output in ("error " * 100_000, "error\n" * 100_000, "İ" * 50_000 + " error " + NOISE):
        assert len(excerpt(output)) <= most


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
@pytest.mark.parametrize("words_before", [5, 16])
def test_no_part_of_a_secret_survives_a_cut(sample: Sample, words_before: int) -> None:
    around = "plum jam, " * words_before
    for output in (
        f"{around}{sample.text} {'walnut ' * 300}",
        f"{'walnut ' * 300}{sample.text} {around}",
        f"{NOISE}\nerror: {around}{sample.text} {'walnut ' * 40}\n{NOISE}",
    ):
        assert not is_readable(sample, mask(excerpt(output)))
