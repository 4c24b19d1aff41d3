"""A long session, and how quickly the page handles it and a fast stream."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from playwright.async_api import expect
from sqlalchemy import Connection, insert, update

from navi.live.store.engine.tables import lanes, messages
from navi.live.store.engine.transactions import Store
from tests.acceptance.browser.tab import Tab
from tests.server import Client, ServerProcess

MESSAGES = 5_000
PHRASE = "The quick brown fox jumps. "

OPENED = """async (id) => {
    location.hash = "#/";
    await new Promise((done) => setTimeout(done, 100));
    const start = performance.now();
    location.hash = `#/sessions/${id}`;
    while (!(document.querySelector("[role=log]")?.textContent.includes("answer 2499")
        && document.querySelector("textarea[aria-label=Message]"))) {
        await new Promise(requestAnimationFrame);
    }
    document.querySelector("textarea[aria-label=Message]").focus();
    await new Promise(requestAnimationFrame);
    return performance.now() - start;
}"""

# The time from each key press to the next frame.
WATCH_KEYS = """() => {
    window.times = [];
    document.querySelector("textarea[aria-label=Message]").addEventListener("keydown",
        (event) => requestAnimationFrame(() => setTimeout(() =>
            window.times.push(performance.now() - event.timeStamp))));
}"""


async def make_long_session(server: ServerProcess) -> str:
    """Write the messages straight into the store: sending them would take minutes."""
    async with server.client() as client:
        session_id = await client.session(name="long")
    store = Store(server.database_url)
    store.start()
    await store.transact(_fill, session_id)
    await store.close()
    return session_id


async def opened_ms(tab: Tab, session_id: str) -> float:
    """How long the long session takes to open, from the click to the field that can be typed in."""
    return float(await tab.page.evaluate(OPENED, session_id))


async def stream_quickly(client: Client, tab: Tab, session_id: str) -> None:
    """Stream about a hundred deltas a second to the tab, for about ten seconds."""
    await tab.session(session_id)
    steps = " ".join(f"[[say: some **words** {number}. ]] [[sleep: 0.01]]" for number in range(900))
    await client.say(session_id, steps)
    await expect(tab.conversation).to_contain_text("words 5.")
    await tab.page.get_by_label("Message", exact=True).focus()
    await tab.page.evaluate(WATCH_KEYS)


async def key_times_ms(tab: Tab) -> list[float]:
    """Type a phrase and return the time from each key press to the frame that shows it."""
    await tab.page.keyboard.type(PHRASE, delay=15)
    return list(await tab.page.evaluate("window.times.splice(0)"))


def _fill(connection: Connection, session_id: str) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    rows = []
    for idx in range(MESSAGES):
        turn, is_answer = divmod(idx, 2)
        content = f"answer {turn}\n\n{'Some **words** and `code`. ' * (turn % 30)}"
        rows.append(
            {
                "id": f"{session_id}.{idx}",
                "session_id": session_id,
                "idx": idx,
                "turn_id": f"long-{turn}",
                "role": "assistant" if is_answer else "user",
                "content": content if is_answer else f"question {turn}",
                "thinking": "I think." if turn % 3 == 0 and is_answer else "",
                "tool_calls": [],
                "is_recall": False,
                "source": "user",
                "metadata": {},
                "compacted_up_to": None,
                "timestamp": begun + timedelta(minutes=idx),
            }
        )
    connection.execute(insert(messages), rows)
    of_session = lanes.c.session_id == session_id
    connection.execute(update(lanes).where(of_session).values(next_idx=MESSAGES))
