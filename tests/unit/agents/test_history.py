"""What the model sees of a session's past."""

from __future__ import annotations

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from navi.live.agents.builtin.model_context import (
    LONGEST_VALUE,
    TURN_ENDED,
    ModelContext,
    estimated_tokens,
    model_context,
    model_messages,
    needs_compaction,
    split,
)
from navi.live.model.message import NOT_FINISHED, Message, MessageRole, ToolCall
from tests.unit.agents.messages import a_message, from_agent, from_user


def messages_to_model(*history: Message) -> list[ModelMessage]:
    return model_messages(model_context(history))


def prompts(messages: list[ModelMessage]) -> list[object]:
    parts = [part for message in messages for part in message.parts]
    return [part.content for part in parts if isinstance(part, UserPromptPart)]


def calls(messages: list[ModelMessage]) -> list[ToolCallPart]:
    parts = [part for message in messages for part in message.parts]
    return [part for part in parts if isinstance(part, ToolCallPart)]


def returns(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    parts = [part for message in messages for part in message.parts]
    return [part for part in parts if isinstance(part, ToolReturnPart)]


def test_a_step_is_what_was_said_and_called_and_then_the_results():
    first = ToolCall("a", "terminal", {"command": "ls"}, "x.py")
    second = ToolCall("b", "terminal", {"command": "rm /"}, "refused", is_error=True)
    request, response, results, last = messages_to_model(
        from_user(0, "look"), from_agent(1, "I look", first, second), from_agent(2, "done")
    )

    assert isinstance(request, ModelRequest)
    assert prompts([request]) == ["look"]
    assert isinstance(response, ModelResponse)
    assert response.parts[0] == TextPart("I look")
    assert [(c.tool_name, c.args, c.tool_call_id) for c in calls([response])] == [
        ("terminal", {"command": "ls"}, "a"),
        ("terminal", {"command": "rm /"}, "b"),
    ]
    assert isinstance(results, ModelRequest)
    assert [(r.content, r.tool_call_id, r.outcome) for r in returns([results])] == [
        ("x.py", "a", "success"),
        ("refused", "b", "failed"),
    ]
    assert last.parts == [TextPart("done")]


def test_thinking_is_not_sent_back():
    message = a_message(1, MessageRole.ASSISTANT, "out loud", thinking="to myself")
    assert "to myself" not in repr(messages_to_model(from_user(0, "hi"), message))


def test_a_call_that_never_finished_still_has_a_result():
    [result] = returns(
        messages_to_model(from_user(0, "hi"), from_agent(1, "", ToolCall("a", "terminal", {})))
    )
    assert (result.content, result.outcome) == (NOT_FINISHED, "failed")


def test_the_agent_has_the_last_word_of_a_turn_that_ended_with_a_tool():
    step = from_agent(1, "", ToolCall("a", "terminal", {}, "one"))
    for history in ([step], [step, from_user(2, "go on")]):
        messages = messages_to_model(*history)
        assert [type(message) for message in messages[:3]] == [
            ModelResponse,
            ModelRequest,
            ModelResponse,
        ]
        assert messages[2].parts == [TextPart(TURN_ENDED)]


def test_a_message_with_nothing_to_show_is_left_out():
    assert (
        len(messages_to_model(from_user(0, "hi"), from_agent(1, "  "), from_user(2, "hello?"))) == 2
    )


def test_ids_that_a_provider_would_refuse_are_replaced_in_the_call_and_its_result():
    history = [
        from_agent(1, "", ToolCall("no spaces!", "terminal", {}, "one")),
        from_agent(2, "", ToolCall("twice", "terminal", {}, "two")),
        from_agent(3, "", ToolCall("twice", "terminal", {}, "three")),
    ]
    messages = messages_to_model(*history)
    ids = [call.tool_call_id for call in calls(messages)]
    assert ids == ["call_1_0", "twice", "call_3_0"]
    assert [result.tool_call_id for result in returns(messages)] == ids


def test_a_name_that_a_provider_would_refuse_is_made_acceptable():
    [call] = calls(messages_to_model(from_agent(1, "", ToolCall("a", "my tool?", {}, "one"))))
    assert call.tool_name == "my_tool_"


def test_an_overlong_result_is_shortened_in_the_middle():
    long = "begin" + "x" * 10 * LONGEST_VALUE + "end"
    [result] = returns(messages_to_model(from_agent(1, "", ToolCall("a", "terminal", {}, long))))
    text = str(result.content)
    assert text.startswith("begin")
    assert text.endswith("end")
    assert "characters left out" in text
    assert len(text) < LONGEST_VALUE + 100


def test_an_overlong_argument_is_shortened_too():
    arguments = {"path": "x", "lines": 3, "content": "y" * 10 * LONGEST_VALUE}
    [call] = calls(
        messages_to_model(from_agent(1, "", ToolCall("a", "filesystem", arguments, "ok")))
    )
    assert isinstance(call.args, dict)
    assert (call.args["path"], call.args["lines"]) == ("x", 3)
    assert len(call.args["content"]) < LONGEST_VALUE + 100


def test_the_newest_summary_stands_first_and_replaces_what_it_covers():
    old = a_message(2, MessageRole.SYSTEM, "OLD", compacted_up_to=0)
    new = a_message(6, MessageRole.SYSTEM, "NEW", compacted_up_to=4)
    history = [from_user(i, f"q{i}") for i in (0, 1, 3, 4, 5)] + [old, new, from_user(7, "q7")]
    history.sort(key=lambda message: message.idx)

    context = model_context(history)

    assert context.summary == "NEW"
    assert [message.idx for message in context.messages] == [5, 7]
    summary, *rest = prompts(model_messages(context))
    assert "NEW" in str(summary)
    assert rest == ["q5", "q7"]


def test_another_system_message_is_shown_in_brackets():
    assert prompts(messages_to_model(a_message(0, MessageRole.SYSTEM, "server restarted"))) == [
        "[server restarted]"
    ]


def test_the_estimate_counts_words_arguments_and_results_but_no_thinking():
    call = ToolCall("a", "t" * 40, {}, "r" * 400)
    message = a_message(1, MessageRole.ASSISTANT, "c" * 4000, call, thinking="x" * 40_000)
    assert estimated_tokens(ModelContext("s" * 40_000, (message,))) == 10_000 + 1000 + 100 + 10


def test_the_past_is_compacted_only_above_the_budget():
    past = model_context([from_user(0, "x" * 400)])
    assert not needs_compaction(past, budget=100)
    assert needs_compaction(past, budget=99)


def test_the_newest_half_of_the_budget_is_kept_from_the_beginning_of_a_user_message():
    # Four turns of 20 tokens each, and a budget of 70: one whole turn fits into half of it.
    history = []
    for turn in range(4):
        history += [from_user(2 * turn, "q" * 40), from_agent(2 * turn + 1, "a" * 40)]
    older, kept = split(model_context(history), budget=70)
    assert [message.idx for message in kept] == [6, 7]
    assert [message.idx for message in older] == [0, 1, 2, 3, 4, 5]


def test_a_last_turn_that_is_too_long_is_summarised_whole():
    history = [from_user(0, "q"), from_agent(1, "a" * 4000), from_agent(2, "b" * 4000)]
    older, kept = split(model_context(history), budget=100)
    assert ([message.idx for message in older], kept) == ([0, 1, 2], ())


def test_a_summary_longer_than_the_budget_does_not_stop_compaction():
    summary = a_message(3, MessageRole.SYSTEM, "s" * 4000, compacted_up_to=0)
    older, kept = split(model_context([from_user(1, "q"), from_agent(2, "a"), summary]), budget=100)
    assert [message.idx for message in older] == [1, 2]
    assert kept == ()
