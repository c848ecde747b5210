"""A building's events as they happen: server-sent events, resumed after the last one."""
from __future__ import annotations

import http.client
import json
import re
import socket
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from .errors import ApiError, ConnectionFailed, PorteroError, RateLimitError, ServiceError, TimedOut, UnexpectedAnswer
from .transport import Connections, backoff, refusal_of

_LINE_MAX = 1 << 20
_RETRY_S = 2.0
_RETRY_MAX_S = 60.0


class LiveEvent(NamedTuple):
    #: Rises by one with each event of the building.
    seq: int
    #: docs/api.md lists the types. `reset`: events were missed that cannot be sent any more; read the data again.
    type: str
    #: All members, `seq` and `type` among them.
    data: Dict[str, Any]


class EventParser:
    """Takes lines of a stream, https://html.spec.whatwg.org/multipage/server-sent-events.html."""

    def __init__(self) -> None:
        self.retry_s = _RETRY_S
        self.id: Optional[int] = None
        self._data: List[str] = []

    def take(self, line: str) -> Optional[str]:
        """A line without its end. The data of the event that it completes, which may be empty."""
        if line == "":
            data, self._data = "\n".join(self._data), []
            return data
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id" and re.fullmatch(r"[0-9]{1,18}", value):
            self.id = int(value)
        elif name == "data":
            self._data.append(value)
        elif name == "retry" and re.fullmatch(r"[0-9]{1,9}", value):
            self.retry_s = min(int(value) / 1000, _RETRY_MAX_S)
        return None


def _may_return(error: PorteroError) -> bool:
    """Waiting may help: the stream is asked for again."""
    if isinstance(error, UnexpectedAnswer):
        return error.status >= 500
    return isinstance(error, (ConnectionFailed, ServiceError, RateLimitError))


class Events:
    """Iterates over events for ever; fails when the service refuses. `close` ends it, also from another thread."""

    def __init__(self, connections: Connections, target: str, headers: Dict[str, str], after: Optional[int], silence_s: float) -> None:
        self._connections = connections
        self._target = target
        self._headers = headers
        self._last = after
        self._silence_s = silence_s
        self._connection: Optional[http.client.HTTPSConnection] = None
        self._closed = False
        self._retry_s = _RETRY_S
        self._failures = 0

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed = True
        sock = self._connection.sock if self._connection is not None else None
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
            except OSError:
                pass

    def __iter__(self) -> Iterator[LiveEvent]:
        while not self._closed:
            try:
                yield from self._connected()
                self._failures = 0
                wait = 0.0
            except PorteroError as error:
                if self._closed:
                    return
                if not _may_return(error):
                    raise
                self._failures += 1
                asked = error.retry_after_s if isinstance(error, ApiError) else None
                wait = min(asked or 0, _RETRY_MAX_S) + backoff(self._failures)
            self._pause(wait + self._retry_s)

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._closed and time.monotonic() < until:
            time.sleep(min(0.2, max(0.0, until - time.monotonic())))

    def _open(self) -> http.client.HTTPResponse:
        self._connection = self._connections.connect(self._silence_s)
        headers = {**self._headers, "Accept": "text/event-stream"}
        if self._last is not None:
            headers["Last-Event-ID"] = str(self._last)
        self._connection.request("GET", self._target, headers=headers)
        response = self._connection.getresponse()
        if response.status != 200:
            raise refusal_of(response.status, response.headers, response.read(1 << 16))
        if response.headers.get_content_type() != "text/event-stream":
            raise UnexpectedAnswer(response.status, response.headers.get("Content-Type"))
        return response

    def _connected(self) -> Iterator[LiveEvent]:
        parser = EventParser()
        try:
            response = self._open()
            while not self._closed:
                line = response.readline(_LINE_MAX)
                if not line.endswith(b"\n"):
                    return  # the end
                data = parser.take(line.decode("utf-8", "replace").rstrip("\r\n"))
                if data is None:
                    continue
                self._retry_s = parser.retry_s
                event = self._event(data, parser)
                if event is not None:
                    yield event
        except socket.timeout as error:
            raise TimedOut(f"no event for {self._silence_s} s") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ConnectionFailed(f"the stream was cut off: {error}") from error
        finally:
            if self._connection is not None:
                self._connection.close()

    def _event(self, data: str, parser: EventParser) -> Optional[LiveEvent]:
        if data == "":  # a block with an id alone says where the stream begins
            if parser.id is not None:
                self._last = max(self._last or 0, parser.id)
            return None
        members = json.loads(data)
        seq, kind = int(members["seq"]), str(members["type"])
        if kind != "reset" and self._last is not None and seq <= self._last:
            return None
        self._last = seq
        self._failures = 0
        return LiveEvent(seq, kind, members)
