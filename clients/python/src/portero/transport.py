"""HTTPS connections that are kept, and one logical call: its attempts and the waits between them."""
from __future__ import annotations

import http.client
import json
import random
import re
import select
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional
from urllib.parse import urlsplit

from .errors import ApiError, ConnectionFailed, PorteroError, TimedOut, UnexpectedAnswer, error_of

ANSWER_MAX = 64 << 20
_IDLE_MAX = 8
_FIRST_WAIT_S = 0.25
_WAIT_S = 8.0


class Answer(NamedTuple):
    data: Any
    status: int
    headers: http.client.HTTPMessage


class Request(NamedTuple):
    method: str
    target: str
    headers: Dict[str, str]
    body: Optional[bytes]
    answer: str
    #: Repeating it after it may have been carried out does no harm.
    repeatable: bool


class Limits(NamedTuple):
    timeout_s: float
    retries: int
    #: A longer Retry-After is left to the caller.
    wait_max_s: float


def backoff(attempt: int) -> float:
    """Exponential, with full jitter."""
    return float(random.uniform(0, min(_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(attempt, 16))))


def retry_after(headers: http.client.HTTPMessage) -> Optional[int]:
    """Retry-After in seconds; the service sends no dates."""
    value = headers.get("Retry-After", "")
    return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else None


def _is_json(headers: http.client.HTTPMessage) -> bool:
    return headers.get_content_type() == "application/json"


def refusal_of(status: int, headers: http.client.HTTPMessage, text: bytes) -> PorteroError:
    """The error that an unsuccessful answer is."""
    try:
        body = json.loads(text) if _is_json(headers) else None
    except ValueError:
        body = None
    return error_of(status, headers.get("Content-Type"), body, retry_after(headers))


class Connections:
    """Connections to one service. Threads may share it; a connection serves one request at a time."""

    def __init__(self, base_url: str, context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(base_url)
        if parts.scheme != "https" or not parts.hostname:
            raise PorteroError("base_url must begin with https://: keys are sent encrypted only")
        self._host, self._port = parts.hostname, parts.port or 443
        self.prefix = parts.path.rstrip("/")
        self._context = context or ssl.create_default_context()
        self._idle: List[http.client.HTTPSConnection] = []
        self._lock = threading.Lock()
        self._closed = False

    def connect(self, timeout_s: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._host, self._port, timeout=timeout_s, context=self._context)

    def take(self, timeout_s: float) -> http.client.HTTPSConnection:
        """A connection that the service has not closed, or a new one."""
        while True:
            with self._lock:
                if self._closed:
                    raise PorteroError("the client is closed")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self.connect(timeout_s)
            sock: Optional[socket.socket] = connection.sock
            if sock is not None and not select.select([sock], [], [], 0)[0]:
                sock.settimeout(timeout_s)
                return connection
            connection.close()

    def give_back(self, connection: http.client.HTTPSConnection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _IDLE_MAX and connection.sock is not None:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _decode(request: Request, status: int, headers: http.client.HTTPMessage, content: bytes) -> Any:
    if request.answer == "bytes":
        return content
    try:
        if request.answer == "text":
            return content.decode("utf-8")
        if _is_json(headers):
            return json.loads(content)
    except ValueError:
        pass
    raise UnexpectedAnswer(status, headers.get("Content-Type"))


def _attempt(connections: Connections, request: Request, timeout_s: float) -> Answer:
    connection = connections.take(timeout_s)
    try:
        connection.request(request.method, request.target, body=request.body, headers=request.headers)
        response = connection.getresponse()
        content = response.read(ANSWER_MAX + 1)
    except socket.timeout as error:
        connection.close()
        raise TimedOut(f"no answer in {timeout_s} s: {request.method} {request.target.partition('?')[0]}") from error
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        raise ConnectionFailed(f"connection failed: {request.method} {request.target.partition('?')[0]}: {error}") from error
    except BaseException:
        connection.close()
        raise
    if len(content) > ANSWER_MAX or not response.isclosed():
        connection.close()
        raise UnexpectedAnswer(response.status, response.headers.get("Content-Type"))
    connections.give_back(connection)
    if not 200 <= response.status < 300:
        raise refusal_of(response.status, response.headers, content)
    return Answer(_decode(request, response.status, response.headers, content), response.status, response.headers)


def _wait_after(error: PorteroError, request: Request, tried: int, limits: Limits) -> Optional[float]:
    """Seconds before the next attempt; None: do not make it. A request that is not repeatable is repeated only after 429, since the
    service then has not carried it out."""
    if tried >= limits.retries:
        return None
    if isinstance(error, ConnectionFailed):
        return backoff(tried) if request.repeatable else None
    status = getattr(error, "status", None)
    asked = error.retry_after_s if isinstance(error, ApiError) else None
    if asked is not None and asked > limits.wait_max_s:
        return None
    if status == 429:
        return asked
    if status in (502, 503, 504) and request.repeatable:
        return asked if asked is not None else backoff(tried)
    return None


def carry_out(connections: Connections, request: Request, limits: Limits, sleep: Callable[[float], None] = time.sleep) -> Answer:
    """Makes attempts until one succeeds, or none may follow."""
    tried = 0
    while True:
        try:
            return _attempt(connections, request, limits.timeout_s)
        except PorteroError as error:
            wait = _wait_after(error, request, tried, limits)
            if wait is None:
                raise
        sleep(wait)
        tried += 1
