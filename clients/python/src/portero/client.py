"""The client: a method for each operation (operations.py), and what several operations make together."""
from __future__ import annotations

import json
import re
import secrets
import ssl
from typing import Any, Callable, Dict, Iterator, Optional, Union
from urllib.parse import quote, urlencode

from . import types as t
from .errors import PorteroError
from .events import Events
from .operations import OPERATIONS, Methods, Operation
from .transport import Answer, Connections, Limits, Request, carry_out

_SILENCE_S = 45.0


class Portero(Methods):
    """A client of one service with one key. Threads may share it. Use it in a `with` statement, or close it."""

    def __init__(self, base_url: str, api_key: Optional[str] = None, *, building_id: Optional[str] = None, timeout_s: float = 30.0,
                 retries: int = 2, wait_max_s: float = 60.0, ca_file: Optional[str] = None,
                 ssl_context: Optional[ssl.SSLContext] = None) -> None:
        """`base_url`: https://door.example.com, without /v1. `building_id`: the building of calls that name none. `timeout_s`: for each wait
        of an attempt. `retries`: attempts after the first. `wait_max_s`: a longer Retry-After fails at once. `ca_file`: a
        certificate to trust instead of the system's."""
        context = ssl_context if ssl_context is not None else ssl.create_default_context(cafile=ca_file)
        self._connections = Connections(base_url, context)
        self._key = api_key
        self._building_id = building_id
        self._limits = Limits(timeout_s, retries, wait_max_s)

    def __enter__(self) -> "Portero":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections; later calls fail."""
        self._connections.close()

    def __repr__(self) -> str:
        return f"<Portero {'with' if self._key else 'without'} a key>"

    def change_unlock(self, id: str, edit: Callable[[t.Unlock], Optional[t.UnlockUpdate]], *, building_id: Optional[str] = None) -> t.Unlock:
        """Reads a grant and changes it at that version. `edit` gets it as it was read and returns the change, or None for none. If
        somebody was faster, it fails with VersionConflict: read again, then decide."""
        changed: t.Unlock = self._change("updateUnlock", {"id": id}, edit, building_id)
        return changed

    def change_pass(self, id: str, edit: Callable[[t.Unlock], Optional[t.PassUpdate]]) -> t.Unlock:
        """The same for a pass, whose times change only so."""
        changed: t.Unlock = self._change("updatePass", {"id": id}, edit, None)
        return changed

    def change_settings(self, building_id: str, edit: Callable[[t.BuildingSettings], Optional[t.SettingsPatch]]) -> t.BuildingSettings:
        """The same for a building's settings."""
        changed: t.BuildingSettings = self._change("updateSettings", {"buildingId": building_id}, edit, None)
        return changed

    def events(self, building_id: str, *, after: Optional[int] = None, silence_s: float = _SILENCE_S) -> Events:
        """A building's events as they happen, resumed after interruptions: iterate over it. `after`: the last event that is known;
        default: begin with the next one. `silence_s`: the connection is made again if nothing arrives for so long."""
        target = f"{self._connections.prefix}/v1/buildings/{quote(building_id, safe='')}/events"
        return Events(self._connections, target, self._headers(), after, silence_s)

    def _headers(self) -> Dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "portero-client-python"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        return headers

    def _target(self, operation: Operation, values: Dict[str, Any]) -> str:
        def fill(match: "re.Match[str]") -> str:
            value = values[match.group(1)]
            if not isinstance(value, str) or value == "":
                raise PorteroError(f"{match.group(1)} is missing")
            return quote(value, safe="")

        path = re.sub(r"\{(\w+)\}", fill, operation.path)
        words = {True: "true", False: "false"}
        given = {name: words[values[name]] if isinstance(values[name], bool) else values[name]
                 for name in operation.query if values.get(name) is not None}
        return f"{self._connections.prefix}{path}{'?' + urlencode(given) if given else ''}"

    def _call(self, operation: Operation, values: Dict[str, Any], body: Any, *, if_match: Optional[Union[str, int]] = None,
              idempotency_key: Optional[str] = None, building_id: Optional[str] = None, timeout_s: Optional[float] = None,
              retries: Optional[int] = None) -> Answer:
        headers = self._headers()
        building = building_id or self._building_id
        if operation.building and building:
            headers["X-Service-Building-Id"] = building
        if operation.key:
            headers["Idempotency-Key"] = idempotency_key or secrets.token_hex(16)
        if if_match is not None:
            headers["If-Match"] = f'"{if_match}"' if isinstance(if_match, int) else if_match
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        repeatable = operation.key or operation.method in ("GET", "DELETE")
        request = Request(operation.method, self._target(operation, values), headers, content, operation.answer, repeatable)
        limits = Limits(self._limits.timeout_s if timeout_s is None else timeout_s, self._limits.retries if retries is None else retries,
                        self._limits.wait_max_s)
        return carry_out(self._connections, request, limits)

    def _iterate(self, operation: Operation, values: Dict[str, Any], body: Any, **options: Any) -> Iterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = self._call(operation, {**values, "cursor": cursor}, body, **options).data
            yield from page["data"]
            pagination = page["pagination"]
            if not pagination["has_more"]:
                return
            if pagination["cursor"] is None or pagination["cursor"] == cursor:
                raise PorteroError("the list does not advance")
            cursor = pagination["cursor"]

    def _change(self, name: str, values: Dict[str, Any], edit: Callable[[Any], Any], building_id: Optional[str]) -> Any:
        change = OPERATIONS[name]
        assert change.reads is not None
        current = self._call(OPERATIONS[change.reads], values, None, building_id=building_id)
        body = edit(current.data)
        if body is None:
            return current.data
        version = current.headers.get("ETag")
        if version is None:
            raise PorteroError("what was read has no version")
        return self._call(change, values, body, building_id=building_id, if_match=version).data
