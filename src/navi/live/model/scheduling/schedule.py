"""When something happens: once, at an interval, or by a cron expression in a time zone.

If a clock change skips a local time, the occurrence moves to the next minute that exists. If a
local time comes twice, only one is an occurrence. Cron expressions like "every 15 minutes" follow
real time instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import timezone as fixed_offset

from navi.base.errors import InvalidInput
from navi.base.stored_text import require_storable
from navi.base.time_expressions import describe_length, describe_moment, parse_when
from navi.base.timezone import parse_timezone, request_timezone, timezone_or_utc, zone_name
from navi.live.model.scheduling.limits import require_seconds
from navi.live.model.scheduling.schedule_request import SCHEDULE_FIELDS, ScheduleRequest

SHORTEST_EVERY_SECONDS = 10
CRON_LIMIT = 200
"""Characters of a cron expression; even long ones rarely have more than 60."""
COUNT_LIMIT = 10_000
"""Past occurrences are counted only up to this number; nobody needs a more exact one."""
LONGEST_GAP = timedelta(days=366 * 100)
"""Longer than the time from any occurrence to the next."""
NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


@dataclass(frozen=True, slots=True)
class At:
    """Once."""

    at: datetime
    tz: str = "UTC"
    """The zone in which it was written, and in which it is shown unless the reader has another."""

    kind = "at"

    def next_after(self, moment: datetime) -> datetime | None:
        return self.at if self.at > moment else None

    def latest(self, moment: datetime) -> datetime:
        """The last occurrence up to `moment`; there must be one."""
        return self.at

    def count_occurrences(self, since: datetime, until: datetime) -> int:
        """The number of occurrences from `since`, itself an occurrence, up to `until`."""
        return 1

    def in_words(self, timezone: tzinfo | None = None) -> str:
        return f"once, {describe_moment(self.at, timezone or timezone_or_utc(self.tz))}"


@dataclass(frozen=True, slots=True)
class Every:
    """A fixed interval counted from the anchor; it never drifts."""

    seconds: int
    anchor: datetime

    kind = "every"

    def next_after(self, moment: datetime) -> datetime | None:
        return self._occurrence((moment - self.anchor) // timedelta(seconds=self.seconds) + 1)

    def latest(self, moment: datetime) -> datetime:
        return self._occurrence((moment - self.anchor) // timedelta(seconds=self.seconds))

    def count_occurrences(self, since: datetime, until: datetime) -> int:
        return (until - since) // timedelta(seconds=self.seconds) + 1

    def in_words(self, timezone: tzinfo | None = None) -> str:
        return f"every {describe_length(timedelta(seconds=self.seconds))}"

    def _occurrence(self, number: int) -> datetime:
        # The anchor is when it was created, not its first occurrence.
        return self.anchor + timedelta(seconds=self.seconds) * max(1, number)


@dataclass(frozen=True, slots=True)
class Cron:
    expr: str
    tz: str

    kind = "cron"

    def next_after(self, moment: datetime) -> datetime | None:
        return next(self._occurrences(moment), None)

    def latest(self, moment: datetime) -> datetime:
        # Search forwards from further and further back, because the library misses occurrences
        # before a repeated hour when it searches backwards.
        span = timedelta(hours=1)
        while span < LONGEST_GAP:
            latest = None
            for occurrence in self._occurrences(moment - span):
                if occurrence > moment:
                    break
                latest = occurrence
            if latest is not None:
                return latest
            span *= 2
        raise ValueError(f"{self.expr} never happened before {moment}")

    def count_occurrences(self, since: datetime, until: datetime) -> int:
        count = 1
        for occurrence in self._occurrences(since):
            if occurrence > until or count >= COUNT_LIMIT:
                break
            count += 1
        return count

    def in_words(self, timezone: tzinfo | None = None) -> str:
        from cronsim import CronSim

        words = CronSim(self.expr, datetime(2000, 1, 1, tzinfo=UTC)).explain()
        return f"{words[0].lower()}{words[1:]}, {self.tz}"

    def _occurrences(self, after: datetime) -> Iterator[datetime]:
        from cronsim import CronSim

        zone = parse_timezone(self.tz)
        if any(field.startswith("*") for field in self.expr.split()[:2]):
            yield from self._in_real_time(after, zone)
            return
        for match in CronSim(self.expr, after.astimezone(zone)):
            occurrence = match.astimezone(UTC)
            if occurrence > after:
                yield occurrence

    def _in_real_time(self, after: datetime, zone: tzinfo) -> Iterator[datetime]:
        """Occurrences, computed with a fixed UTC offset between clock changes.

        Given a zone instead, the library steps by whole hours, which goes wrong if clocks change by
        half an hour or not on the hour.
        """
        from cronsim import CronSim

        offset_at = after
        while True:
            offset = fixed_offset(_offset(offset_at, zone))
            for match in CronSim(self.expr, after.astimezone(offset)):
                occurrence = match.astimezone(UTC)
                if (change := _next_change(zone, offset_at, occurrence)) is not None:
                    after, offset_at = change - timedelta(seconds=1), change
                    break
                offset_at = occurrence
                yield occurrence
            else:
                return


def _next_change(zone: tzinfo, since: datetime, until: datetime) -> datetime | None:
    """The first instant after `since` with another UTC offset; None if there is none by `until`."""
    before = _offset(since, zone)
    while since < until:
        later = min(since + timedelta(days=1), until)
        if _offset(later, zone) != before:
            first, last = int(since.timestamp()), int(later.timestamp())
            while last - first > 1:
                middle = (first + last) // 2
                is_changed = _offset(datetime.fromtimestamp(middle, UTC), zone) != before
                first, last = (first, middle) if is_changed else (middle, last)
            return datetime.fromtimestamp(last, UTC)
        since = later
    return None


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


Schedule = At | Every | Cron


def is_equivalent(one: Schedule, other: Schedule) -> bool:
    """Whether both mean the same times, ignoring the anchor of an interval."""
    match one, other:
        case Every(), Every():
            return one.seconds == other.seconds
        case At(), At():
            return one.at == other.at
    return one == other


def is_instant_of(schedule: At, at: str, zone: tzinfo) -> bool:
    """Whether a client's text `at` means the schedule's instant, even if that is in the past."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return False
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    # Clients only see milliseconds.
    return abs(moment - schedule.at) < timedelta(milliseconds=1)


def preview(schedule: Schedule, now: datetime, count: int = 5) -> list[datetime]:
    """The next occurrences, at most `count`."""
    upcoming: list[datetime] = []
    while len(upcoming) < count:
        following = schedule.next_after(upcoming[-1] if upcoming else now)
        if following is None:
            break
        upcoming.append(following)
    return upcoming


def require_schedule(now: datetime, timezone: tzinfo, request: ScheduleRequest) -> Schedule:
    """The schedule that the request describes, or an error that says what would work.

    Times and cron expressions without a `tz` are in `timezone`.
    """
    fields = [name for name in SCHEDULE_FIELDS if getattr(request, name) is not None]
    if len(fields) != 1:
        problem = f"{' and '.join(fields)} can't be combined" if fields else "no schedule given"
        raise InvalidInput(
            problem, hint="give one of: at (with tz), every_seconds, cron_expr (with tz)"
        )
    zone = request_timezone(timezone, request.tz)
    if request.at is not None:
        return At(parse_when(request.at, now, zone), zone_name(zone))
    if request.every_seconds is not None:
        return Every(require_every("every_seconds", request.every_seconds), now)
    assert request.cron_expr is not None
    return require_cron(request.cron_expr, zone_name(zone), now)


def require_every(name: str, seconds: int) -> int:
    return require_seconds(name, seconds, SHORTEST_EVERY_SECONDS)


def require_cron(expr: str, tz: str, now: datetime) -> Cron:
    from cronsim import CronSim, CronSimError

    parse_timezone(tz)
    require_storable("cron_expr", expr, CRON_LIMIT)
    plain = NICKNAMES.get(expr.strip().lower(), " ".join(expr.split()))
    hint = "give minute, hour, day, month and weekday, as in '0 9 * * 1-5' for weekdays at 9"
    if len(plain.split()) != 5:
        raise InvalidInput(
            f"{expr!r} is not a valid cron expression: it needs five fields", hint=hint
        )
    try:
        CronSim(plain, now)
    except CronSimError as error:
        part = str(error).removeprefix("Bad ").replace("-", " ")
        raise InvalidInput(
            f"{expr!r} is not a valid cron expression: check the {part}", hint=hint
        ) from error
    cron = Cron(plain, tz)
    if cron.next_after(now) is None:
        raise InvalidInput(f"{expr!r} never matches", hint="there is no such day; " + hint)
    return cron
