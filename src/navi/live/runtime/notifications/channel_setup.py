"""Makes the channels and rules that the settings describe."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time, timedelta, tzinfo

from navi.live.model.notification import NotificationKind
from navi.live.model.notification_rules import QuietHours, Rules
from navi.live.runtime.notifications.apprise_url import AppriseUrl
from navi.live.runtime.notifications.channel import Channel
from navi.live.runtime.notifications.desktop import Desktop
from navi.live.runtime.notifications.ntfy import Ntfy
from navi.live.runtime.notifications.webhook import Webhook
from navi.live.runtime.settings import NotificationSettings


def channels_of(settings: NotificationSettings) -> list[Channel]:
    channels: list[Channel] = []
    if settings.desktop:
        channels.append(Desktop())
    if settings.webhook is not None:
        channels.append(Webhook(settings.webhook, settings.webhook_token))
    if settings.ntfy is not None:
        channels.append(Ntfy(settings.ntfy, settings.ntfy_token))
    for number, url in enumerate(settings.apprise, start=1):
        name = "apprise" if len(settings.apprise) == 1 else f"apprise-{number}"
        channels.append(AppriseUrl(url, name))
    return channels


def rules_of(settings: NotificationSettings, channels: Sequence[Channel], zone: tzinfo) -> Rules:
    by_kind = {
        NotificationKind.QUESTION: settings.question,
        NotificationKind.FAILED: settings.failed,
        NotificationKind.FINISHED: settings.finished,
        NotificationKind.AUTOMATION_OFF: settings.automation_off,
    }
    # A digest goes wherever any of its parts goes.
    by_kind[NotificationKind.DIGEST] = [name for names in by_kind.values() for name in names]
    return Rules(
        channels={
            kind: [each.name for each in channels if each.name.partition("-")[0] in names]
            for kind, names in by_kind.items()
        },
        users=frozenset(settings.users if channels else ()),
        zone=zone,
        quiet=_quiet_hours(settings),
        active_for=timedelta(minutes=settings.active_minutes),
        give_up_after=timedelta(hours=settings.give_up_hours),
    )


def _quiet_hours(settings: NotificationSettings) -> QuietHours | None:
    if settings.quiet_from is None or settings.quiet_until is None:
        return None
    exempt = frozenset(map(NotificationKind, settings.quiet_except))
    begin, end = (time.fromisoformat(each) for each in (settings.quiet_from, settings.quiet_until))
    return QuietHours(begin, end, exempt)
