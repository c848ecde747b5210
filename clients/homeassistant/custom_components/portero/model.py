"""What the service's answers mean for the entities: pure functions. Knows nothing of Home Assistant."""
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .api import KEY_PREFIX

#: Events of the stream and events of the entity for visitors, whose first one is Home Assistant's name of a doorbell's ring.
VISITOR_EVENTS = {
    "call.ring": "ring", "call.released": "released", "call.code_wrong": "wrong_code", "call.forwarded": "forwarded", "call.answered": "answered",
    "call.opened": "opened", "call.unanswered": "unanswered", "call.message": "message", "call.ended": "ended",
}
#: Attributes that an event may have; none is a code.
EVENT_MEMBERS = ("call_id", "caller", "number", "reason", "label", "outcome", "ended_by", "at")
#: After these the data are read again.
CHANGING = ("grant.created", "grant.changed", "grant.revoked", "settings.changed", "call.released", "call.ended", "reset")

_WITH_RESIDENT = ("call.forwarded", "call.ringing", "call.answered", "call.opened")
_CALLS_MAX = 32

_POLL_S = 60
_POLL_OPEN_S = 30
_POLL_STREAMING_S = 300
_POLL_MIN_S = 5


def timestamp(text: str) -> datetime:
    """RFC 3339, as the service writes it."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@dataclass(frozen=True)
class State:
    """A building as it was read."""

    decision: dict[str, Any]
    setup: dict[str, Any]
    grants: dict[str, Any]
    last_visit: dict[str, Any] | None

    @property
    def is_locked(self) -> bool:
        """Whoever presses the call box now without a code does not get in. Calls that the resident answers are another matter."""
        return bool(self.decision["verdict"] != "release")

    @property
    def opened_by(self) -> str | None:
        """Label of the grant that opens the door now."""
        return self.decision["grant_label"] if not self.is_locked else None

    @property
    def is_set_up(self) -> bool:
        """A grant has opened the door before, so number, key and call box fit each other."""
        return bool(self.setup["status"] == "previous_buzz_recorded")

    @property
    def active_grants(self) -> int:
        """At most 100."""
        return len(self.grants["data"])

    @property
    def own_timers(self) -> list[dict[str, Any]]:
        """The timers that this integration made and that are active."""
        return [grant for grant in self.grants["data"] if grant["type"] == "timer" and grant.get("request_id", "").startswith(KEY_PREFIX)]

    @property
    def next_routine(self) -> tuple[datetime, str] | None:
        """When a routine begins next, and its label."""
        begins = [(timestamp(grant["next_at"]), str(grant["label"])) for grant in self.decision["grants"]
                  if grant["type"] == "routine" and grant["result"] == "outside_window" and grant["next_at"]]
        return min(begins) if begins else None

    @property
    def last_visit_at(self) -> datetime | None:
        return timestamp(self.last_visit["created_at"]) if self.last_visit else None


def poll_after(state: State | None, streaming: bool) -> float:
    """Seconds until the data are read again without an event. The ends of windows and timers make no event: while the door opens by itself
    they are read often, and when the next grant begins."""
    if state is None:
        return _POLL_S
    if not state.is_locked:
        return _POLL_OPEN_S
    now = timestamp(state.decision["at"])
    begins = [(timestamp(grant["next_at"]) - now).total_seconds() + 1 for grant in state.decision["grants"] if grant["next_at"]]
    return max(_POLL_MIN_S, min([_POLL_STREAMING_S if streaming else _POLL_S, *begins]))


@dataclass
class Calls:
    """The calls in progress, as the stream tells them."""

    with_resident: dict[str, bool] = field(default_factory=dict)

    def take(self, event: dict[str, Any]) -> None:
        call = event.get("call_id")
        if event["type"] == "reset":
            self.with_resident.clear()
        elif event["type"] in ("call.ended", "call.unanswered"):
            self.with_resident.pop(str(call), None)
        elif event["type"] in _WITH_RESIDENT and isinstance(call, str):
            self.with_resident.pop(call, None)
            self.with_resident[call] = True
            while len(self.with_resident) > _CALLS_MAX:
                del self.with_resident[next(iter(self.with_resident))]

    def clear(self) -> None:
        self.with_resident.clear()

    @property
    def openable(self) -> str | None:
        """The newest call in which the resident may open the door."""
        return next(reversed(self.with_resident), None)


def timer_body(minutes: int, single_use: bool) -> dict[str, Any]:
    return {"type": "timer", "label": "Home Assistant", "expires_in_minutes": minutes, **({"remaining_uses": 1} if single_use else {})}


def passcode_body(label: str | None, minutes: int | None, uses: int | None, code: str | None) -> dict[str, Any]:
    members = {"label": label, "expires_in_minutes": minutes, "remaining_uses": uses, "access_code": code}
    return {"type": "passcode", **{name: value for name, value in members.items() if value is not None}}
