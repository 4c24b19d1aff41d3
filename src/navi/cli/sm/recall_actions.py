"""What `sm recall` does, and what it prints."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from navi.cli import output
from navi.cli.sm import lines
from navi.cli.table import Column
from navi.client import Client

if TYPE_CHECKING:
    from navi.live.model.scheduling.recall_request import RecallRequest
    from navi.live.model.wire_format import RecallJson, SessionJson


COLUMNS = (
    Column("STATUS"),
    Column("TYPE", rank=2),
    Column("WHEN", needed_width=16),
    Column("RESULT", needed_width=8, rank=1),
    Column("INSTRUCTION", needed_width=16),
)


@dataclass(frozen=True, slots=True)
class RecallActions:
    """Acts on one session's recalls; times are read and printed in `zone`."""

    client: Client
    session: SessionJson
    zone: tzinfo
    as_json: bool

    def schedule(self, request: RecallRequest) -> None:
        recall = self.client.schedule_recall(self.session["id"], request)
        if self.as_json:
            output.say_json(recall)
            return
        when = f"{recall['reading']}{lines.repetition(recall)}"
        output.say(f"{lines.title_and_id(self.session)} wakes {when}")
        if recall["warning"]:
            output.note(f"warning: {recall['warning']}")

    def show(self) -> None:
        self._say(self.client.recall(self.session["id"]), "")

    def skip(self) -> None:
        self._say(self.client.skip_recall(self.session["id"]), "skipped one wake-up; ")

    def cancel(self) -> None:
        cancelled = self.client.cancel_recall(self.session["id"])
        if self.as_json:
            output.say_json(cancelled)
            return
        task = lines.plain(cancelled["additional_context_message"], lines.LONGEST)
        output.say(f"cancelled; {lines.title_and_id(self.session)} no longer wakes for: {task}")

    def list_all(self) -> None:
        recalls = self.client.recalls(self.session["id"])
        if self.as_json:
            output.say_json(recalls)
        elif not recalls:
            output.note(f"{lines.title_and_id(self.session)} has never had a recall")
        else:
            output.table(COLUMNS, [self._row(recall) for recall in recalls])

    def _say(self, recall: RecallJson, prefix: str) -> None:
        if self.as_json:
            output.say_json(recall)
            return
        wakes = lines.wakes(recall, self.client.now(), self.zone)
        output.say(f"{prefix}{lines.title_and_id(self.session)} {wakes}")
        output.say(f"  {lines.plain(recall['additional_context_message'])}")
        if recall["outcome"] == "limit":
            output.say(f"  its last turn hit a usage limit: {lines.plain(recall['error'] or '-')}")
        if recall["internal_comment"]:
            output.say(f"  comment: {lines.plain(recall['internal_comment'])}")

    def _row(self, recall: RecallJson) -> list[str]:
        return [
            recall["status"],
            lines.recall_type(recall),
            lines.time_of(recall, self.client.now(), self.zone),
            lines.outcome(recall),
            lines.plain(recall["additional_context_message"], lines.LONGEST),
        ]
