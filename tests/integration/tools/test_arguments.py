from __future__ import annotations

from typing import Any

import pytest

from navi.base.errors import InvalidInput
from navi.live.model.tool import Tool, ToolContext
from navi.live.model.tool_call import call, read_arguments
from navi.live.model.validation import schema
from navi.live.tools.cron import Cron
from navi.live.tools.files.filesystem import Filesystem
from navi.live.tools.manage_recall import ManageRecall
from navi.live.tools.processes.terminal import Terminal
from navi.live.tools.read_session import ReadSession
from navi.live.tools.report_status import ReportStatus
from navi.live.tools.schedule_recall import ScheduleRecall
from navi.live.tools.search_sessions import SearchSessions
from navi.live.tools.send_message import SendMessage
from navi.live.tools.sessions_of_file import SessionsOfFile
from navi.live.tools.web.http_request import HttpRequest


class NoMemory:
    async def search(self, query: str, **_: Any) -> str:
        raise AssertionError("nothing is searched here")

    async def read(self, id: str, **_: Any) -> str:
        raise AssertionError("nothing is read here")

    async def file_history(self, path: str, **_: Any) -> str:
        raise AssertionError("nothing is searched here")


TOOLS: list[Any] = [
    *(Cron, Filesystem, HttpRequest, ManageRecall, ReportStatus, ScheduleRecall),
    *(SearchSessions(NoMemory(), ["claude_code"]), SendMessage, Terminal),
    *(ReadSession(NoMemory()), SessionsOfFile(NoMemory())),
]
EACH_TOOL = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


@EACH_TOOL
def test_a_schema_is_flat_and_complete_so_that_every_model_api_takes_it(tool: Any) -> None:
    parameters = schema(tool.arguments)
    assert parameters.keys() == {"type", "properties", "required", "additionalProperties"}
    assert (parameters["type"], parameters["additionalProperties"]) == ("object", False)
    assert set(parameters["required"]) <= set(parameters["properties"])
    for argument in parameters["properties"].values():
        assert isinstance(argument["type"], str)
        assert not argument.keys() & {"anyOf", "allOf", "$ref", "title"}


@EACH_TOOL
def test_every_tool_refuses_an_argument_that_its_schema_does_not_name(tool: Any) -> None:
    with pytest.raises(InvalidInput, match="there is no argument 'surprise'") as refusal:
        read_arguments(tool, {"surprise": 1})
    names = ", ".join(schema(tool.arguments)["properties"])
    assert refusal.value.hint == f"the arguments are: {names}"


@EACH_TOOL
def test_every_tool_refuses_a_call_without_its_required_arguments(tool: Any) -> None:
    required = schema(tool.arguments)["required"]
    for values in ({}, dict.fromkeys(required)):
        with pytest.raises(InvalidInput, match=f"{required[0]} is missing"):
            read_arguments(tool, values)


def test_null_counts_as_left_out() -> None:
    arguments = read_arguments(Filesystem(), {"action": "list", "offset": None, "limit": None})
    assert (arguments.offset, arguments.limit) == (1, None)


def test_a_whole_number_may_be_written_as_a_float() -> None:
    arguments = read_arguments(Filesystem(), {"action": "list", "limit": 10.0})
    assert (arguments.limit, type(arguments.limit)) == (10, int)


@pytest.mark.parametrize("text", ["", " \n", "a\0b"])
def test_the_operating_system_gets_no_blank_text_and_no_nul(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^command (is blank|contains a NUL)"):
        read_arguments(Terminal(), {"command": text})


def test_half_a_surrogate_pair_is_refused() -> None:
    values = {"action": "write", "path": "a", "content": "a\ud800"}
    with pytest.raises(InvalidInput, match="content contains half of a surrogate pair"):
        read_arguments(Filesystem(), values)


def test_a_file_may_contain_what_the_store_could_not_keep() -> None:
    values = {"action": "write", "path": "a", "content": "a\0b"}
    assert read_arguments(Filesystem(), values).content == "a\0b"


def test_headers_are_texts_only() -> None:
    with pytest.raises(InvalidInput, match=r"headers\.a is 1"):
        read_arguments(HttpRequest(), {"url": "http://a", "headers": {"a": 1}})
    with pytest.raises(InvalidInput, match="headers is a list"):
        read_arguments(HttpRequest(), {"url": "http://a", "headers": ["a"]})


async def test_a_call_that_goes_wrong_ends_in_a_result(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Terminal):
        async def run(self, context: ToolContext, arguments: Any) -> Any:
            raise ZeroDivisionError("what now")

    tool: Tool[Any] = Broken()
    refused = await call(tool, context, {"command": 7})
    assert (refused.text, refused.is_error) == ("command is 7; it must be text", True)
    failed = await call(tool, context, {"command": "true"})
    assert (failed.text, failed.is_error) == ("the tool terminal failed: what now", True)
    assert "ZeroDivisionError" in caplog.text
