"""A conversation: streaming, tools, queue, stop, several tabs, and hostile content."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import expect

from navi.live.store.engine.tables import messages
from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.planted import plant
from tests.acceptance.contract.conftest import finished
from tests.server import Client, ServerProcess

pytestmark = in_browser

WIDTHS = [1280, 390]


@pytest.mark.parametrize("width", WIDTHS)
async def test_a_turn_streams_with_thinking_and_a_tool(
    client: Client, open_tab: OpenTab, width: int
) -> None:
    session_id = await client.session(name="streaming")
    tab = await open_tab(width=width)
    await tab.session(session_id)
    await tab.send(
        "[[think: I look first.]] [[say: Looking.]] [[bash: seq 2000]] "
        "[[say: There are **many**.]] [[sleep: 3]]"
    )

    await expect(tab.button("Stop")).to_be_visible()
    await expect(tab.conversation).to_contain_text("You")
    await expect(tab.conversation).to_contain_text("There are many.")
    await expect(tab.button("Stop")).to_be_hidden()
    await expect(tab.page.locator(".markdown strong")).to_have_text("many")

    # Collapsed by default.
    thinking = tab.page.get_by_role("button", name="Thinking")
    assert await thinking.get_attribute("aria-expanded") == "false"
    await thinking.click()
    await expect(tab.page.locator(".body .markdown")).to_have_text("I look first.")
    tool = tab.page.get_by_role("button", name="terminal seq 2000")
    await tool.click()
    await expect(tab.conversation).to_contain_text("Result")
    assert "2000" not in (await tab.page.locator(".result").inner_text()).split()
    await tab.page.locator(".result").get_by_role("button", name="Show all").click()
    assert "2000" in (await tab.page.locator(".result").inner_text()).split()
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width


async def test_code_can_be_copied(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="code")
    tab = await open_tab()
    await tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await tab.session(session_id)
    await tab.send("[[say: ```python\nprint(1 < 2)\n```]]")
    # Rendered again with each delta.
    await expect(tab.page.locator(".code code")).to_have_text("print(1 < 2)")
    await expect(tab.button("Stop")).to_be_hidden()
    await tab.copy("Copy")
    assert await tab.page.evaluate("navigator.clipboard.readText()") == "print(1 < 2)"


async def test_code_has_colours_and_columns_their_alignment(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="colours")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.send("[[say: ```python\nreturn 'a < b'\n```\n\n|a|b|\n|---|--:|\n|x|1|]]")
    code = tab.page.locator(".code code")
    await expect(code.locator(".hljs-keyword")).to_have_text("return")
    await expect(code.locator(".hljs-string")).to_have_text("'a < b'")
    for cell, align in (("x", "left"), ("1", "right")):
        await expect(tab.page.get_by_role("cell", name=cell)).to_have_css("text-align", align)


async def test_an_answer_has_its_time_and_agent_and_is_copied_as_markdown(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="copied", model="scripted")
    tab = await open_tab()
    await tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await tab.session(session_id)
    await tab.send("[[say: Looking.]] [[bash: echo 1]] [[say: It is **one**.]]")
    for _ in range(2):
        # Under the answer, not under what was said on the way.
        foot = tab.page.locator(".text footer")
        await expect(foot).to_have_text([re.compile(r"\d\d:\d\d.*scripted.*Copy answer")])
        await tab.copy("Copy answer")
        copied = await tab.page.evaluate("navigator.clipboard.readText()")
        assert copied == "It is **one**."
        # The transcript renders the same as the events, also when the next model is another.
        await client.call("PATCH", f"/sessions/{session_id}", {"model": "openai:another"})
        await tab.page.reload()


async def test_equal_tool_calls_share_a_line_that_opens(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="calls")
    tab = await open_tab()
    await tab.session(session_id)
    number = "12345678901234567890"
    calls = [f'echo \'{{"n":[{number}],"e":{{}}}}\'', "echo two", "exit 3", "echo four"]
    await tab.send(" ".join(f"[[bash: {command}]]" for command in calls) + " [[say: all]]")
    line = tab.page.get_by_role("button", name="terminal × 4")
    await expect(line).to_contain_text("1 failed")
    await expect(tab.page.get_by_role("button", name="terminal echo")).to_have_count(0)

    await line.click()
    await expect(tab.page.get_by_role("button", name="terminal echo")).to_have_count(3)
    await tab.page.get_by_role("button", name="terminal echo '{").click()
    # Indented, with every digit as it was.
    pretty = f'{{\n  "n": [\n    {number}\n  ],\n  "e": {{}}\n}}'
    await expect(tab.page.get_by_role("region", name="Result")).to_have_text(pretty)
    await line.click()
    await expect(tab.page.get_by_role("button", name="terminal echo")).to_have_count(0)


@pytest.mark.parametrize("width", WIDTHS)
async def test_inputs_queue_while_a_turn_runs(
    client: Client, open_tab: OpenTab, width: int
) -> None:
    session_id = await client.session(name="queue")
    tab, other = await open_tab(width=width), await open_tab()
    await tab.session(session_id)
    await other.session(session_id)
    await tab.send("[[say: begun]] [[sleep: 600]]")
    await expect(tab.conversation).to_contain_text("begun")
    await expect(tab.button("Queue")).to_be_visible()
    for text in ("first", "second", "third"):
        await tab.send(text)
        await expect(tab.page.get_by_label("Queued inputs")).to_contain_text(text)
    chips = tab.page.get_by_label("Queued inputs").get_by_role("listitem")
    # While one is still being sent, the list grows, and its buttons move.
    await expect(chips.get_by_label("Edit")).to_have_count(3)

    await chips.filter(has_text="first").get_by_label("Edit").click()
    await tab.page.get_by_label("Text of the queued input").fill("first, better")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(chips.first).to_contain_text("first, better")
    await chips.filter(has_text="second").get_by_label("Remove").click()
    await expect(chips).to_have_count(2)
    await chips.filter(has_text="third").get_by_label("Send as important").click()
    await expect(chips.first).to_contain_text("third")
    others = other.page.get_by_label("Queued inputs").get_by_role("listitem")
    await expect(others.first).to_contain_text("third")
    await expect(others.nth(1)).to_contain_text("first, better")

    await chips.filter(has_text="first, better").get_by_label("Send as urgent").click()
    await expect(tab.conversation).to_contain_text("ok: first, better")
    await expect(tab.conversation).to_contain_text("ok: third")
    await expect(chips).to_have_count(0)
    prompts = [m["content"] for m in await client.messages(session_id) if m["role"] == "user"]
    assert prompts[1:] == ["first, better", "third"]
    await expect(tab.button("Send")).to_be_visible()


async def test_stop_ends_the_turn_and_says_so(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="stop")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.send("[[say: begun]] [[bash: sleep 600]]")
    await expect(tab.page.get_by_text("running…")).to_be_visible()
    await tab.button("Stop").click()
    await expect(tab.page.locator("p.note")).to_have_text("Stopped")
    await tab.send("[[fail: the model is gone]]")
    await expect(tab.page.locator("p.error")).to_contain_text("the model is gone")


async def test_every_turn_says_why_it_exists(client: Client, open_tab: OpenTab) -> None:
    sender = await client.session(name="the sender")
    session_id = await client.session(name="why")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.send("mine")
    await expect(tab.conversation).to_contain_text("ok: mine")
    await client.say(session_id, "[[say: heard]]", sender_session_id=sender)
    await expect(tab.page.locator(".markdown").last).to_have_text("heard")
    recall = {"call_type": "immediate", "additional_context_message": "[[say: awake]]"}
    await client.call("POST", f"/sessions/{session_id}/recall", recall, expect=201)
    await expect(tab.conversation).to_contain_text("awake")
    await expect(tab.button("Stop")).to_be_hidden()
    for _ in range(2):
        heads = [h.split() for h in await tab.page.locator("article header").all_inner_texts()]
        assert [" ".join(words[:-1]) for words in heads] == ["You", "From the sender", "Recall"]
        # The transcript renders the same as the events.
        await tab.page.reload()
        await expect(tab.conversation).to_contain_text("awake")


HOSTILE = """\
<script>window.harmed = 1</script>

<img src=x onerror="window.harmed = 1"> <iframe src="https://example.com"></iframe>

[click](javascript:window.harmed=1) [data](data:text/html,<script>window.harmed=1</script>)

![picture](https://example.com/x.png) [fine](https://example.com/fine)

<a href="javascript:window.harmed=1" onclick="window.harmed=1">link</a>
<style>body { display: none }</style> <form action="https://example.com"><input name=a></form>
"""


async def test_hostile_markdown_stays_harmless(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="hostile")
    tab = await open_tab()
    await tab.session(session_id)
    # As the agent's answer, its thinking, a tool's result and a user's message.
    command = "cat <<'END'\n" + HOSTILE + "END"
    call = json.dumps({"command": command})
    await client.say(
        session_id,
        f"[[think: {HOSTILE}]] [[tool: terminal | {call}]] [[say: {HOSTILE}]] [[say: end]]",
    )
    await expect(tab.conversation).to_contain_text("end")
    await expect(tab.button("Stop")).to_be_hidden()
    page = tab.page
    for name in ("Thinking", "terminal"):
        await page.get_by_role("button", name=name).click()
    await expect(page.locator(".fold.open")).to_have_count(2)
    assert await page.evaluate("window.harmed") is None
    for link in await page.locator(".markdown a").all():
        assert (await link.get_attribute("href") or "").startswith("https://example.com/")
        assert await link.get_attribute("rel") == "noopener noreferrer"
    inside = "script, img, iframe, style, form, [onerror], [onclick]"
    assert await page.locator(".viewport").locator(inside).count() == 0
    assert await page.locator("body").is_visible()
    await expect(tab.conversation).to_contain_text("<script>window.harmed = 1</script>")


HUGE = ["x" * 300_000, "[" * 30_000, "*_" * 20_000, "> " * 10_000 + "deep", "`" * 30_000]


async def test_huge_lines_do_not_hang_the_page(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="huge")
    tab = await open_tab(width=390)
    await tab.session(session_id)
    for number, line in enumerate(HUGE):
        await client.say(session_id, line)
        await tab.send(f"[[say: still here {number}]]")
        await expect(tab.page.locator(".markdown").last).to_have_text(f"still here {number}")
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 390


async def test_the_reading_position_is_kept_while_text_arrives(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="reading")
    tab = await open_tab()
    await tab.session(session_id)
    paragraphs = "\n\n".join(f"paragraph {number}" for number in range(60))
    await tab.send(f"[[say: {paragraphs}]]")
    await expect(tab.conversation).to_contain_text("paragraph 59")
    await expect(tab.button("Stop")).to_be_hidden()
    view = tab.page.locator(".viewport")
    while not await tab.page.get_by_label("Jump to the end").is_visible():
        # Repeat: while rows are being measured, the page may still scroll to its end.
        await view.evaluate("each => { each.scrollTop = each.scrollHeight * 0.6 }")
    line = tab.page.get_by_text("paragraph 30", exact=True)
    before = await line.bounding_box()
    height = await view.evaluate("each => each.scrollHeight")
    steps = " ".join(f"[[say: more {number}\n\n]] [[sleep: 0.03]]" for number in range(20))
    await client.say(session_id, steps)
    await tab.page.wait_for_function(
        "height => document.querySelector('.viewport').scrollHeight > height + 300", arg=height
    )
    await expect(tab.button("Stop")).to_be_hidden()
    assert await line.bounding_box() == before
    await tab.page.get_by_label("Jump to the end").click()
    await expect(tab.conversation).to_contain_text("more 19")
    # At the end it follows.
    await client.say(session_id, "[[say: the very last]]")
    await expect(tab.page.get_by_text("the very last", exact=True)).to_be_in_viewport()


async def test_two_tabs_stay_equal(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="two tabs")
    tab, other = await open_tab(), await open_tab()
    await tab.session(session_id)
    await other.session(session_id)
    await tab.send("[[think: a]] [[bash: echo b]] [[say: c]]")
    await expect(other.conversation).to_contain_text("terminal")
    await other.send("[[say: from the other]]")
    for each in (tab, other):
        await expect(each.conversation).to_contain_text("from the other")
        await expect(each.button("Stop")).to_be_hidden()
    late = await open_tab()
    await late.session(session_id)
    await expect(late.conversation).to_contain_text("from the other")
    assert await tab.text() == await other.text() == await late.text()


async def test_a_tab_that_comes_in_the_middle_of_a_turn_shows_all_of_it(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="middle")
    await client.say(session_id, "before")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.send("[[say: begun]] [[bash: echo tool]] [[say: and on]] [[sleep: 600]]")
    # exact: the user's own message contains these words too.
    await expect(tab.conversation.get_by_text("and on", exact=True)).to_be_visible()
    late = await open_tab()
    await late.session(session_id)
    await expect(late.conversation.get_by_text("and on", exact=True)).to_be_visible()
    assert await late.text() == await tab.text()
    await late.button("Stop").click()
    await expect(tab.page.locator("p.note")).to_have_text("Stopped")


async def test_a_draft_survives_a_reload(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="draft")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.page.get_by_label("Message", exact=True).fill("half a thought")
    await tab.page.reload()
    await expect(tab.page.get_by_label("Message", exact=True)).to_have_value("half a thought")


@pytest.mark.parametrize(
    ("outcome", "error", "content", "expected"),
    [
        ("denied", "refused: Bash", "(refused: Bash)", "Refused: Bash"),
        ("limit", "back at 9:00", "(usage limit: back at 9:00)", "Usage limit: back at 9:00"),
        ("max_iterations", "stopped after 2 steps", "Here.", "Stopped after 2 steps"),
    ],
)
async def test_a_turn_that_was_refused_or_limited_is_not_called_failed(
    server: ServerProcess,
    client: Client,
    open_tab: OpenTab,
    outcome: str,
    error: str,
    content: str,
    expected: str,
) -> None:
    session_id = await client.session(name=outcome)
    tab = await open_tab()
    await tab.session(session_id)
    await tab.send("[[fail: no model]]")
    await expect(tab.page.locator("p.error")).to_have_text("Failed: no model")
    await expect(tab.button("Stop")).to_be_hidden()
    *_, last = await client.messages(session_id)
    metadata = {**last["metadata"], "outcome": outcome, "error": error}
    await plant(server, messages, last["id"], content=content, metadata=metadata)
    await tab.page.reload()
    await expect(tab.page.locator("p.warning")).to_have_text(expected)
    await expect(tab.page.locator("p.error")).to_have_count(0)
    # Only once: the closing line of the transcript is not repeated.
    assert (await tab.text()).lower().count(error.removeprefix("refused: ").lower()) == 1


TRACEBACK = """Traceback (most recent call last):
  File "model.py", line 3, in ask
    raise NoModel("no model is set up")
navi.base.errors.NoModel: no model is set up"""


@pytest.mark.parametrize("error", [TRACEBACK, f"no model is set up\n{TRACEBACK}"])
async def test_a_failure_is_one_sentence_and_the_traceback_is_folded(
    server: ServerProcess, client: Client, open_tab: OpenTab, error: str
) -> None:
    session_id = await client.session(name="traceback")
    await client.say(session_id, "[[fail: no model]]")
    await finished(client, session_id)
    *_, last = await client.messages(session_id)
    metadata = {**last["metadata"], "error": error}
    await plant(server, messages, last["id"], content=f"(failed: {error})", metadata=metadata)
    tab = await open_tab()
    await tab.session(session_id)
    await expect(tab.page.locator("p.error")).to_have_text("Failed: no model is set up")
    await expect(tab.page.get_by_text("model.py")).to_be_hidden()
    await tab.page.get_by_text("Details").click()
    await expect(tab.page.get_by_text("model.py")).to_be_visible()


async def test_an_address_of_no_session_says_so_in_the_words_of_the_page(
    open_tab: OpenTab,
) -> None:
    tab = await open_tab()
    tab.expected.append("404")
    await tab.go("#/sessions/gone")
    heading = tab.page.get_by_role("heading", name="There is no session gone: choose another")
    await expect(heading).to_be_visible()
    await tab.page.get_by_role("link", name="All sessions").click()
    await expect(heading).to_be_hidden()
