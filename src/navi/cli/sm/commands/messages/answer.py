"""`sm answer`: answer an agent's question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from navi.cli import output
from navi.cli.sm.inbox_completion import QuestionId

if TYPE_CHECKING:
    from navi.cli.sm.answer_words import AnswerPlan
    from navi.client import Client
    from navi.live.model.wire_format import QuestionJson

HELP = """Answer an agent's question. `sm inbox` lists the open questions.

\b
sm answer 523e allow
sm answer 523e allow --input '{"command": "ls"}'
sm answer 523e always
sm answer 523e deny "Keep it until tomorrow."
sm answer builder 2
sm answer builder "SQLite, PostgreSQL"
sm answer builder "Neither: use a file."

QUESTION is the question's id, at least its first 4 characters, or the session that asked. `always`
also allows such calls in future: it adds the rule that `sm inbox` shows. For a choice, give an
option's number or label; if you may choose several, separate them with commas. Any other text is a
reply in your own words; put it in quotes if it starts with `allow`, `always` or `deny`. Use `-` to
read the answer from standard input. Only the first answer counts. Agents can't answer.
"""


@click.command("answer", help=HELP)
@click.argument("question", type=QuestionId())
@click.argument("words", nargs=-1, metavar="ANSWER")
@click.option(
    "--input",
    "updated_input",
    metavar="JSON",
    help="With `allow`: call the tool with this input instead.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    question: str, words: tuple[str, ...], updated_input: str | None, as_json: bool
) -> None:
    from navi.base.errors import NotAllowed
    from navi.cli.sm import answer_words, lines, question_target, target
    from navi.cli.sm.words import text_of
    from navi.client import Client, find_server

    if target.own_id_or_none() is not None:
        raise NotAllowed(
            "an agent can't answer questions", hint="the person you work for can, with `sm answer`"
        )
    text = text_of(words, "the answer is missing", f"`sm answer {question} allow`, or a text")
    client = Client(find_server())
    record = question_target.find(client, question)
    if record["state"] != "open":
        raise answer_words.AlreadyClosed(record, client.now())
    plan = answer_words.read(record, words if words != ("-",) else (text,), updated_input)
    closed = _answer(client, record, plan)
    if as_json:
        output.say_json(closed)
        return
    session = client.session(closed["session_id"])
    title = lines.plain(closed["title"], lines.LONGEST)
    output.say(f"{answer_words.outcome(closed)} ({title}); {lines.title_and_id(session)} continues")


def _answer(client: Client, question: QuestionJson, plan: AnswerPlan) -> QuestionJson:
    from navi.cli.sm.answer_words import AlreadyClosed
    from navi.client import ServerRefused

    try:
        return client.answer_question(
            question["id"],
            plan.decision,
            text=plan.text,
            choices=plan.choices,
            updated_input=plan.updated_input,
        )
    except ServerRefused as error:
        if error.server_kind != AlreadyClosed.kind:
            raise
        raise AlreadyClosed(client.question(question["id"]), client.now()) from error
