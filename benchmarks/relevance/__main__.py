"""`python -m benchmarks.relevance`: asks every question and prints one table."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common import VERDICTS, say, table, work_folder
from benchmarks.relevance import chatter, corpus, transcripts
from benchmarks.relevance.corpus import HALVES, Question
from benchmarks.relevance.measure import LIMIT, figures, ranks

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.read.search import Search

GOALS = {"paraphrase": 0.05, "keywords": -0.03, "exact": -0.03, "file": -0.03, "output": 0.20}
"""The least difference in MRR from the first release, by kind of question."""
SEMANTIC_GOALS = {**GOALS, "paraphrase": 0.10}
AROUND = 6
"""How many other sessions there are for each session with an answer."""


def main() -> None:
    arguments = _arguments()
    stories, questions = corpus.stories_and_questions()
    goals = SEMANTIC_GOALS if arguments.semantic else GOALS
    questions = [each for each in questions if arguments.half in (each.half, "both")]
    with work_folder() as folder:
        ids = _write_home(stories, folder, arguments.around)
        released, now = _ranks(folder, questions, ids, arguments)
    if arguments.json:
        rows = _rows(questions, released, now, goals)
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    if arguments.verbose:
        for question, before, after in zip(questions, released, now, strict=True):
            print(f"{before or '-':>3} {after or '-':>3}  {question.kind:<10}  {question.words}")
    print(_table(_rows(questions, released, now, goals)))


def _write_home(stories: list[corpus.Story], folder: Path, around: int) -> dict[str, str]:
    """Write the transcripts. Returns the agent's id of each session with an answer, by name."""
    everything = [chatter.filled(story) for story in stories]
    everything += [other for story in stories for other in chatter.sessions_around(story, around)]
    for story in everything:
        transcripts.write(story, folder)
    say(f"{len(everything)} sessions")
    return {story.name: transcripts.session_id(story) for story in stories}


def _ranks(
    folder: Path, questions: list[Question], ids: dict[str, str], arguments: argparse.Namespace
) -> tuple[list[int | None], list[int | None]]:
    os.environ.update(
        HOME=str(folder),
        NAVI_HOME=str(folder / "navi"),
        CLAUDE_CONFIG_DIR=str(folder / ".claude"),
        CODEX_HOME=str(folder / ".codex"),
    )
    # Imported late, because these modules read the environment.
    from benchmarks.relevance.released import FIELDS as RELEASED_FIELDS
    from benchmarks.relevance.released import ReleasedSearch
    from navi.base.system_clock import SystemClock
    from navi.memory.index_paths import IndexPaths
    from navi.memory.index_settings import FIELDS
    from navi.memory.ingest.refresh import Refresh
    from navi.memory.read.search import Search
    from navi.vendors.registry import sources

    for name, fields in (("released", RELEASED_FIELDS), ("now", FIELDS)):
        paths = IndexPaths(folder / name / "recall.duckdb")
        Refresh(paths, sources(), fields, SystemClock()).run()
    released = ReleasedSearch(IndexPaths(folder / "released" / "recall.duckdb"))
    paths = IndexPaths(folder / "now" / "recall.duckdb")
    search = _semantic_search(paths, arguments) if arguments.semantic else Search(paths)
    return (
        ranks(lambda words: released.hits(words, LIMIT), questions, ids),
        ranks(lambda words: search.find(words, limit=LIMIT).hits, questions, ids),
    )


def _semantic_search(paths: IndexPaths, arguments: argparse.Namespace) -> Search:
    """A search by words and by meaning, once everything has vectors."""
    from navi.base.system_clock import SystemClock
    from navi.memory.semantic.embedder import load_embedder
    from navi.memory.semantic.model.installation import install
    from navi.memory.semantic.open_search import SearchOpener
    from navi.memory.semantic.semantic_settings import SemanticSettings
    from navi.memory.semantic.vectors.backfill import Backfill

    now = SystemClock().now
    model = install(paths, arguments.model, now(), lambda step: say(f"{step} …"))
    made = Backfill(paths, load_embedder(paths, SemanticSettings()), now).run()
    say(f"{model.name}: {made.passages:,} vectors in {made.seconds:.0f} s")
    opened = SearchOpener().open(paths, arguments.alpha)
    assert opened.problem is None
    return opened.search


def _rows(
    questions: list[Question],
    released: list[int | None],
    now: list[int | None],
    goals: dict[str, float],
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for half in HALVES:
        for kind, goal in goals.items():
            chosen = [
                number
                for number, question in enumerate(questions)
                if (question.half, question.kind) == (half, kind)
            ]
            if not chosen:
                continue
            before = figures([released[number] for number in chosen])
            after = figures([now[number] for number in chosen])
            rows.append(
                {
                    "half": half,
                    "kind": kind,
                    "questions": len(chosen),
                    "released": before._asdict(),
                    "now": after._asdict(),
                    "difference": after.mrr - before.mrr,
                    "goal": goal,
                    # The tuning questions don't count, because the search was tuned on them.
                    "is_met": after.mrr - before.mrr >= goal if half == "test" else None,
                }
            )
    return rows


def _table(rows: list[dict[str, object]]) -> str:
    lines = [
        [
            str(row["half"]),
            str(row["kind"]),
            str(row["questions"]),
            "{mrr:.2f} / {recall:.2f}".format(**row["released"]),  # type: ignore[arg-type]
            "{mrr:.2f} / {recall:.2f}".format(**row["now"]),  # type: ignore[arg-type]
            f"{row['difference']:+.2f}",
            f"≥ {row['goal']:+.2f}",
            VERDICTS[row["is_met"]],  # type: ignore[index]
        ]
        for row in rows
    ]
    heads = ("half", "questions", "", "released: MRR@10 / recall@10", "now")
    return table((*heads, "MRR", "goal", ""), lines, right=(2, 5, 6))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.relevance",
        description="Ask the current and the released search questions with known answers.",
    )
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument(
        "--around",
        type=int,
        default=AROUND,
        metavar="N",
        help=f"other sessions for each one with an answer (default: {AROUND})",
    )
    parser.add_argument(
        "--semantic", action="store_true", help="search by words and by meaning; installs the model"
    )
    parser.add_argument(
        "--model", type=Path, metavar="PATH", help="as for recall model install --from"
    )
    parser.add_argument("--alpha", type=float, metavar="SHARE", help="instead of the default")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the rank of each")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
