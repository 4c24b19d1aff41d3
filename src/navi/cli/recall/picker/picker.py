"""The application: terminal, layout, keys and tasks around a `PickerState`."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from navi.base.errors import NaviError
from navi.cli import formats
from navi.cli.recall.options import ProjectPath
from navi.cli.recall.picker import actions, freshness, updates, view
from navi.cli.recall.picker.bindings import bindings
from navi.cli.recall.picker.meaning_search import MeaningSearch, remark
from navi.cli.recall.picker.screen import STYLE, layout
from navi.cli.recall.picker.state import (
    DEFAULT_WHEN,
    Item,
    ListRequest,
    MeaningAnswer,
    PickerState,
    PreviewRequest,
    SessionListing,
)
from navi.cli.recall.picker.terminal import Terminal

if TYPE_CHECKING:
    from navi.cli.recall.picker.session_reader import SessionReader
    from navi.memory.read.excerpts import Excerpt

Request = TypeVar("Request")
Answer = TypeVar("Answer")

ESCAPE_SECONDS = 0.05
"""How long to wait after Escape: it also begins the codes of other keys."""
SWITCH_SECONDS = 0.0005
"""How long a search may delay a key; Python's default is 10 times as long."""


class Picker:
    """Shows the sessions until somebody chooses one or quits."""

    def __init__(
        self, terminal: Terminal, reader: SessionReader, query: str, *, prints: bool
    ) -> None:
        size = terminal.output.get_size()
        self.state = PickerState(
            size.columns, size.rows, query=query, typed_at=time.monotonic(), prints=prints
        )
        self._reader, self._meaning = reader, MeaningSearch(reader.paths)
        self._reader_thread = ThreadPoolExecutor(1, "picker-reader")
        self._meaning_thread = ThreadPoolExecutor(1, "picker-meaning")
        self._changed: list[asyncio.Event] = []
        self._is_choosing = False
        """Whether Enter was pressed before the list for the query was there."""
        document = Document(query, len(query))
        self.line = Buffer(multiline=False, document=document, on_text_changed=self._text_changed)
        self._application: Application[Item | None] = Application(
            layout=layout(self),
            key_bindings=bindings(self),
            style=STYLE,
            full_screen=True,
            input=terminal.input,
            output=terminal.output,
        )
        self._application.ttimeoutlen = self._application.timeoutlen = ESCAPE_SECONDS
        self._application.before_render += self._measure
        self._application.after_render += self._notify_tasks

    def run(self) -> Item | None:
        """The chosen session; None if there is none."""
        sys.setswitchinterval(SWITCH_SECONDS)
        # The list must be on the first screen already.
        request = self.state.list_request
        self.state = updates.show_listing(self.state, request, self._reader.listing(request))
        try:
            return self._application.run(pre_run=self._start_tasks)
        finally:
            self._reader_thread.shutdown(wait=False, cancel_futures=True)
            self._meaning_thread.shutdown(wait=False, cancel_futures=True)

    def update(self, state: PickerState) -> None:
        """Show a new state. What it needs is read after it was drawn."""
        self.state = state
        if self._is_choosing and not state.is_searching:
            self._is_choosing = False
            self._choose()
        self._application.invalidate()

    def note(self, text: str) -> None:
        self.update(updates.note(self.state, text))

    @cached_property
    def here(self) -> str:
        """The project of the current folder, as shown to people."""
        return formats.short_path(ProjectPath().convert(".", None, None).rstrip("/") or "/")

    def enter(self) -> None:
        if self.state.dialog is not None:
            self._answer_dialog()
        elif self.state.shows_keys:
            self.update(updates.toggle_keys(self.state))
        else:
            self._choose()

    def escape(self) -> None:
        """Close the dialog, the list of keys or the picker."""
        if self.state.dialog is not None:
            self._close_dialog()
        elif self.state.shows_keys:
            self.update(updates.toggle_keys(self.state))
        else:
            self.quit()

    def clear(self) -> None:
        self.line.text = ""

    def scroll_preview(self, count: int) -> None:
        _, scroll = view.preview_lines(self.state)
        self.update(updates.scroll_preview(self.state, scroll + count))

    def _choose(self) -> None:
        """Leave with the selected session, if it can be resumed."""
        # Enter applies to the list for the typed query, not to the older one still on screen.
        self._is_choosing = self.state.is_searching
        item = self.state.item
        if self._is_choosing or self.state.problem or item is None:
            return
        problem = "" if self.state.prints else actions.why_not_resumable(item.session)
        if problem:
            self.note(problem)
        else:
            self._leave(item)

    def quit(self) -> None:
        self._leave(None)

    def copy_id(self) -> None:
        if self.state.item is not None and self.state.dialog is None:
            self.note(actions.copy(self._application.output, self.state.item.id))

    def open_page(self) -> None:
        if (item := self.state.item) is not None:
            self._act(lambda: actions.open_page(item), self.note)

    def ask_when(self) -> None:
        """Ask when to wake the selected session."""
        if (item := self.state.item) is None or self.state.dialog is not None:
            return
        self.update(updates.ask_when(self.state, item))
        self._replace_line(DEFAULT_WHEN)
        # Open the dialog at once, so that it gets the next keys; close it if no server runs.
        self._act(actions.require_server, lambda _: None, self._close_dialog)

    def _answer_dialog(self) -> None:
        """Take the answer to the open question, and ask the next one or wake the session."""
        dialog, text = self.state.dialog, self.line.text.strip()
        if dialog is None or not text:
            return
        if dialog.when is None:
            self.update(updates.ask_what(self.state, text))
            self.line.text = ""
            return
        session, when = dialog.item.session, dialog.when
        self._close_dialog()
        self.note("waking …")
        self._act(lambda: actions.wake(session, when, text), self.note)

    def _close_dialog(self) -> None:
        if self.state.dialog is None:
            return
        self.update(updates.close_dialog(self.state))
        self._replace_line(self.state.query)

    def _leave(self, item: Item | None) -> None:
        if not self._application.is_done:  # a second key may have arrived with the first
            self._application.exit(result=item)

    def _replace_line(self, text: str) -> None:
        self.line.text = text
        self.line.cursor_position = len(text)

    def _text_changed(self, line: Buffer) -> None:
        if self.state.dialog is None:
            self._is_choosing = False
            self.update(updates.type_query(self.state, line.text, time.monotonic()))

    def _measure(self, application: Application[Any]) -> None:
        size = application.output.get_size()
        if (size.columns, size.rows) != (self.state.columns, self.state.lines):
            self.state = updates.resize(self.state, size.columns, size.rows)

    def _notify_tasks(self, application: Application[Any]) -> None:
        """Let the tasks see the new state: after drawing, so that no search delays typing."""
        for event in self._changed:
            event.set()

    def _start_tasks(self) -> None:
        loop = asyncio.get_running_loop()
        for ending in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(ending, self.quit)
        self._task(
            self._follow(lambda: self.state.preview_request, self._excerpt, updates.show_excerpt)
        )
        self._task(self._load())
        self._task(
            self._follow(lambda: self.state.words_request, self._by_words, updates.show_listing)
        )
        self._task(
            self._follow(lambda: self.state.meaning_request, self._by_meaning, updates.show_meaning)
        )
        self._task(self._notice_pauses())
        self._task(self._bring_up_to_date())

    async def _load(self) -> None:
        """Read all sessions before the first query needs them."""
        agents = await self._read(partial(self._reader.load, self.state.generation))
        self.update(updates.show_agents(self.state, agents))

    async def _bring_up_to_date(self) -> None:
        remark = await freshness.bring_up_to_date()
        if remark:
            self.note(remark)
        if self._reader.has_changed():
            self.update(updates.renew(self.state))
            await self._load()

    async def _notice_pauses(self) -> None:
        changed = asyncio.Event()
        self._changed.append(changed)
        while True:
            now = time.monotonic()
            if seconds := self.state.seconds_to_pause(now):
                await asyncio.sleep(seconds)
            elif seconds == 0:
                self.update(updates.pause(self.state, now))
            else:
                changed.clear()
                await changed.wait()

    async def _follow(
        self,
        current_request: Callable[[], Request | None],
        answer: Callable[[Request], Awaitable[Answer]],
        show: Callable[[PickerState, Request, Answer], PickerState],
    ) -> None:
        """Answer the state's requests; of those that came during an answer, only the last."""
        changed = asyncio.Event()
        self._changed.append(changed)
        answered = None
        while True:
            if (request := current_request()) != answered:
                answered = request
                if request is None:
                    continue
                try:
                    result = await answer(request)
                except NaviError as error:
                    self.note(error.sentence)
                else:
                    self.update(show(self.state, request, result))
            else:
                changed.clear()
                await changed.wait()

    async def _excerpt(self, request: PreviewRequest) -> Excerpt | None:
        return await self._read(partial(self._reader.excerpt, request))

    async def _by_words(self, request: ListRequest) -> SessionListing:
        return await self._read(partial(self._reader.listing, request))

    async def _by_meaning(self, request: ListRequest) -> MeaningAnswer:
        result = await asyncio.get_running_loop().run_in_executor(
            self._meaning_thread, self._meaning.find, request
        )
        if result.problem is not None:
            return MeaningAnswer(None, remark(result.problem))
        # Only the reader's thread uses the reader.
        return MeaningAnswer(await self._read(partial(self._reader.listing, request, result)))

    async def _read(self, work: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._reader_thread, work)

    def _act(
        self,
        work: Callable[[], Answer],
        done: Callable[[Answer], None],
        undo: Callable[[], None] = lambda: None,
    ) -> None:
        """Run slow work in a thread; show its error in the last line."""

        async def act() -> None:
            try:
                result = await asyncio.to_thread(work)
            except NaviError as error:
                undo()
                self.note(error.sentence)
            else:
                done(result)

        self._task(act())

    def _task(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            try:
                await work
            except Exception as error:
                if not self._application.is_done:
                    self._application.exit(exception=error)

        self._application.create_background_task(run())
