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
    passes: dict[str, Any]  # read before `decision`
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

    def _opens_later(self, grant: dict[str, Any]) -> bool:
        opening = grant["pass"]["next_opening"]
        return opening is not None and timestamp(opening) > timestamp(self.decision["at"])

    def _pass_status(self, grant: dict[str, Any]) -> str:
        """The grant's, but "open" and "outside_hours" of one that is active."""
        if grant["status"] != "active":
            return str(grant["status"])
        return "outside_hours" if grant["pass"]["next_opening"] is None or self._opens_later(grant) else "open"

    @property
    def pass_list(self) -> list[dict[str, Any]]:
        """The passes as they are now, without codes and notes."""
        return [{"label": grant["label"], "status": self._pass_status(grant), "next_opening": grant["pass"]["next_opening"] if self._opens_later(grant) else None}
                for grant in self.passes["data"]]

    @property
    def next_pass(self) -> tuple[datetime, str] | None:
        """When a pass that does not open the door now opens it next, and its label."""
        opens = [(timestamp(one["next_opening"]), str(one["label"])) for one in self.pass_list if one["next_opening"]]
        return min(opens) if opens else None

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


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def pass_body(given: dict[str, Any], timezone: str) -> dict[str, Any]:
    """Of the action's fields, whose times are in `timezone` unless they have an offset. Days without hours are whole days, hours without days
    those of every day."""
    members = (("label", "label"), ("code", "access_code"), ("uses", "remaining_uses"), ("note", "note"))
    body: dict[str, Any] = {"timezone": timezone, **{member: given[name] for name, member in members if name in given}}
    body |= {name: given[name].isoformat() for name in ("from", "until") if name in given}
    if given.keys() & {"days", "start", "end"}:
        hours = {name: f"{given[name]:%H:%M}" if name in given else "00:00" for name in ("start", "end")}
        body["windows"] = [{"days": list(given.get("days", DAYS)), **hours}]
    return body
