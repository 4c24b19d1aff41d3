"""When a notification is sent, and where: quiet hours, silence for active people, channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from navi.live.model.notification import Notification, NotificationKind

QUIET = "quiet hours"
ACTIVE = "you are active"
NO_CHANNEL = "no channel is set up for it"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one time of day to another, perhaps past midnight."""

    begin: time
    end: time
    exempt: frozenset[NotificationKind] = frozenset()

    def end_of(self, now: datetime, zone: tzinfo) -> datetime | None:
        """When the quiet hours around `now` end; None outside of them."""
        local = now.astimezone(zone)
        clock = local.time().replace(tzinfo=None)
        is_past_midnight = self.end <= self.begin
        if is_past_midnight:
            is_quiet = clock >= self.begin or clock < self.end
        else:
            is_quiet = self.begin <= clock < self.end
        if not is_quiet:
            return None
        days = 1 if is_past_midnight and clock >= self.begin else 0
        day = local.date() + timedelta(days=days)
        end = datetime.combine(day, self.end, zone).astimezone(UTC)
        # The end may fall in the hour that the change to summer time skips.
        return max(end, now + timedelta(seconds=1))


@dataclass(frozen=True, slots=True)
class Rules:
    """The server's settings for notifications."""

    channels: Mapping[NotificationKind, Sequence[str]]
    """The names of the channels that deliver each kind."""
    users: frozenset[str]
    """The users whose notifications these channels deliver; empty if there is no channel."""
    zone: tzinfo = UTC
    quiet: QuietHours | None = None
    active_for: timedelta = timedelta(0)
    """How long a person who wrote or answered here counts as active."""
    give_up_after: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Send:
    """Send it now, over these channels."""

    channels: Sequence[str]


@dataclass(frozen=True, slots=True)
class Hold:
    until: datetime
    why: str


@dataclass(frozen=True, slots=True)
class Skip:
    why: str


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the rules need to know about a notification that is due."""

    still_applies: bool
    last_active_at: datetime | None = None
    """When its user last wrote or answered, on the page or in `sm`."""


def decide(
    notification: Notification, circumstances: Circumstances, rules: Rules, now: datetime
) -> Send | Hold | Skip:
    """What to do with a notification that is due."""
    if not circumstances.still_applies:
        return Skip("it was settled before it was sent")
    channels = channels_for(notification, rules)
    if not channels:
        return Skip(NO_CHANNEL)
    if rules.quiet is not None and notification.kind not in rules.quiet.exempt:
        quiet_until = rules.quiet.end_of(now, rules.zone)
        if quiet_until is not None:
            return Hold(quiet_until, QUIET)
    if circumstances.last_active_at is not None and notification.reason != QUIET:
        silent_until = circumstances.last_active_at + rules.active_for
        if silent_until > now:
            return Hold(silent_until, ACTIVE)
    return Send(channels)


def channels_for(notification: Notification, rules: Rules) -> list[str]:
    """The channels that still have to deliver it."""
    settled = {name for name, each in notification.deliveries.items() if each.is_settled}
    return [name for name in rules.channels.get(notification.kind, ()) if name not in settled]
