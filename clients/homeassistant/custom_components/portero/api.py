"""The service's API, over a session of aiohttp. Knows nothing of Home Assistant."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
import json
import random
import re
from typing import Any
from urllib.parse import quote, urlsplit
import uuid

import aiohttp

#: Marks the grants of this integration in their `request_id`.
KEY_PREFIX = "home-assistant-"
SCOPES = ["account:read", "access:read", "access:write", "logs:read"]
KEY_DAYS = 90  # the service allows no more

_TIMEOUT_S = 30
_SILENCE_S = 45  # the service sends something every 15 seconds
_ATTEMPTS = 3
_WAIT_MAX_S = 30
_BODY_MAX = 8 << 20


class PorteroError(Exception):
    """The base of all errors of this module."""


class PorteroConnectionError(PorteroError):
    """The service was not reached, or its answer was no answer of the service."""


class PorteroCertificateError(PorteroConnectionError):
    """The certificate is not trusted, or not the one with the fingerprint."""


class PorteroApiError(PorteroError):
    """The service refused."""

    def __init__(self, status: int, body: dict[str, Any], retry_after_s: int | None) -> None:
        error = body["error"]
        super().__init__(error["message"])
        self.status = status
        self.code: str = error["code"]
        self.next_action: str = error.get("next_action", "")
        self.request_id: str | None = body.get("requestId")
        self.retry_after_s = retry_after_s


class PorteroAuthError(PorteroApiError):
    """The key is not valid any more."""


def normal_url(text: str) -> str:
    """The address without a slash at its end. Raises ValueError unless it is one of HTTPS."""
    parts = urlsplit(text.strip())
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.query or parts.fragment or parts.port == 0:
        raise ValueError("not an https:// address")
    return f"https://{parts.netloc}{parts.path.rstrip('/')}"


def normal_fingerprint(text: str) -> str:
    """A SHA-256 fingerprint as 64 hexadecimal digits, or "". Raises ValueError."""
    digits = re.sub(r"[\s:]", "", text).lower()
    if digits and not re.fullmatch(r"[0-9a-f]{64}", digits):
        raise ValueError("not a SHA-256 fingerprint")
    return digits


def _retry_after(headers: Any) -> int | None:
    value = headers.get("Retry-After", "")
    return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else None


class PorteroApi:
    """One service with one key. `fingerprint`: trust this certificate alone; "": trust the system's certificates."""

    def __init__(self, session: aiohttp.ClientSession, url: str, key: str | None = None, fingerprint: str = "") -> None:
        self._session = session
        self._url = url
        self._key = key
        self._options: dict[str, Any] = {"allow_redirects": False}
        if fingerprint:
            self._options["ssl"] = aiohttp.Fingerprint(bytes.fromhex(fingerprint))

    def with_key(self, key: str | None) -> PorteroApi:
        """The same service with another key."""
        other = PorteroApi(self._session, self._url, key)
        other._options = self._options
        return other

    def _headers(self, more: dict[str, str]) -> dict[str, str]:
        return {**({"Authorization": f"Bearer {self._key}"} if self._key else {}), **more}

    async def _refusal(self, answer: aiohttp.ClientResponse) -> PorteroError:
        try:
            body = json.loads(await read_bounded(answer.content))
            if not isinstance(body["error"]["code"], str) or not isinstance(body["error"]["message"], str):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            return PorteroConnectionError(f"unexpected answer: status {answer.status}")
        kind = PorteroAuthError if answer.status == 401 else PorteroApiError
        return kind(answer.status, body, _retry_after(answer.headers))

    async def _once(self, method: str, path: str, headers: dict[str, str], body: Any, params: dict[str, str] | None) -> Any:
        try:
            async with self._session.request(method, self._url + path, headers=self._headers(headers), json=body, params=params,
                                             timeout=aiohttp.ClientTimeout(total=_TIMEOUT_S), **self._options) as answer:
                if not 200 <= answer.status < 300:
                    raise await self._refusal(answer)
                return json.loads(await read_bounded(answer.content))
        except (aiohttp.ServerFingerprintMismatch, aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
            raise PorteroCertificateError("the certificate is not trusted") from error
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError) as error:
            raise PorteroConnectionError(f"no answer: {type(error).__name__}") from error

    async def request(self, method: str, path: str, *, body: Any = None, params: dict[str, str] | None = None, building: str | None = None,
                      idempotency_key: str | None = None) -> Any:
        """The JSON of the answer. Repeats what may be repeated: reads, deletions, and creations under one key; everything after a 429."""
        headers = {**({"X-Service-Building-Id": building} if building else {}), **({"Idempotency-Key": idempotency_key} if idempotency_key else {})}
        repeatable = idempotency_key is not None or method in ("GET", "DELETE")
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._once(method, path, headers, body, params)
            except PorteroCertificateError:
                raise
            except PorteroError as error:
                wait = self._wait(error, attempt, repeatable)
                if wait is None or attempt == _ATTEMPTS:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    @staticmethod
    def _wait(error: PorteroError, attempt: int, repeatable: bool) -> float | None:
        if isinstance(error, PorteroApiError):
            asked = error.retry_after_s
            if error.status == 429 or (error.status == 503 and repeatable):
                return asked if asked is not None and asked <= _WAIT_MAX_S else None
            return None
        return random.uniform(0, 0.25 * 2.0**attempt) if repeatable else None

    # ---- signing in ----

    async def check(self) -> None:
        """The address belongs to a service. Raises PorteroConnectionError."""
        answer = await self.request("GET", "/v1/health")
        if not isinstance(answer, dict) or answer.get("status") != "ok":
            raise PorteroConnectionError("not the address of the service")

    async def send_code(self, email: str) -> str:
        """Has a code sent: the challenge that it belongs to."""
        return str((await self.request("POST", "/v1/auth/otp", body={"email": email}))["challenge"])

    async def exchange_code(self, email: str, challenge: str, code: str) -> str:
        """A key of this integration. The website session that makes it ends with that."""
        session = await self.request("POST", "/v1/auth/verify", body={"email": email, "challenge": challenge, "otp": code, "purpose": "web"})
        owner = self.with_key(session["apiKey"])
        made = await owner.request("POST", "/v1/auth/keys", body={"name": "Home Assistant", "scopes": SCOPES, "expires_in_days": KEY_DAYS})
        try:
            await owner.request("DELETE", "/v1/auth/key")
        except PorteroError:
            pass  # it ends by itself
        return str(made["api_key"])

    async def buildings(self) -> list[dict[str, Any]]:
        return list((await self.request("GET", "/v1/buildings"))["data"])

    async def missing_scopes(self) -> list[str]:
        """The scopes that this integration needs and the key lacks."""
        scopes = (await self.request("GET", "/v1/account"))["capabilities"]["scopes"]
        return [] if "owner" in scopes else [scope for scope in SCOPES if scope not in scopes]

    # ---- a building ----

    async def decision(self, building: str) -> dict[str, Any]:
        return dict(await self.request("GET", f"/v1/buildings/{building}/decision"))

    async def setup(self, building: str) -> dict[str, Any]:
        return dict(await self.request("GET", f"/v1/buildings/{building}/setup"))

    async def active_grants(self, building: str) -> dict[str, Any]:
        """The newest 100, as a page."""
        return dict(await self.request("GET", "/v1/unlock", params={"status": "active", "limit": "100"}, building=building))

    async def passes(self, building: str) -> dict[str, Any]:
        """The newest 100 that are not revoked, as a page."""
        return dict(await self.request("GET", "/v1/passes", params={"limit": "100"}, building=building))

    async def last_visit(self, building: str) -> dict[str, Any] | None:
        data = (await self.request("GET", "/v1/logs", params={"limit": "1"}, building=building))["data"]
        return data[0] if data else None

    async def create_grant(self, building: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._create("/v1/unlock", building, body)

    async def create_pass(self, building: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._create("/v1/passes", building, body)

    async def _create(self, path: str, building: str, body: dict[str, Any]) -> dict[str, Any]:
        return dict(await self.request("POST", path, body=body, building=building, idempotency_key=KEY_PREFIX + uuid.uuid4().hex))

    async def revoke(self, building: str, grant: str) -> None:
        await self.request("DELETE", f"/v1/unlock/{quote(grant, safe='')}", building=building)

    async def open_call(self, building: str, call: str) -> None:
        await self.request("POST", f"/v1/calls/{quote(call, safe='')}/open", building=building)

    async def events(self, building: str, after: int | None) -> AsyncIterator[tuple[dict[str, Any], bool]]:
        """One connection to the building's stream: each event, and whether it is fresh, not sent again after an interruption. First comes
        ({"type": "open"}, True)."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(after)} if after is not None else {})}
        try:
            async with self._session.get(f"{self._url}/v1/buildings/{building}/events", headers=self._headers(headers),
                                         timeout=aiohttp.ClientTimeout(total=None, sock_connect=_TIMEOUT_S, sock_read=_SILENCE_S), **self._options) as answer:
                if answer.status != 200:
                    raise await self._refusal(answer)
                if answer.content_type != "text/event-stream":
                    raise PorteroConnectionError("unexpected answer: not a stream")
                opened = parsedate_to_datetime(answer.headers["Date"]).timestamp()
                yield {"type": "open"}, True
                async for event in read_events(answer.content):
                    yield event, not is_stale(event, opened)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError, KeyError) as error:
            raise PorteroConnectionError(f"the stream was cut off: {type(error).__name__}") from error


async def read_bounded(content: aiohttp.StreamReader) -> bytes:
    """All of a body. Raises ValueError if it is too long."""
    body = bytearray()
    async for chunk in content.iter_chunked(1 << 16):
        body += chunk
        if len(body) > _BODY_MAX:
            raise ValueError("the answer is too long")
    return bytes(body)


_STALE_S = 30


def is_stale(event: dict[str, Any], opened: float) -> bool:
    """It happened so long before the stream was opened, by the service's clock, that nobody should be told as if it were now."""
    from .model import timestamp  # model knows nothing of this module

    return "at" in event and timestamp(event["at"]).timestamp() < opened - _STALE_S


async def read_events(content: aiohttp.StreamReader) -> AsyncIterator[dict[str, Any]]:
    """The JSON of each event of a stream; {"seq": n, "type": "begin"} where a block has an id alone."""
    identifier: str | None = None
    data: list[str] = []
    while line := await content.readline():
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        name, _, value = text.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id":
            identifier = value
        elif name == "data":
            data.append(value)
        elif text == "" and data:
            yield json.loads("\n".join(data))
            data = []
        elif text == "" and identifier is not None and re.fullmatch(r"[0-9]{1,18}", identifier):
            yield {"seq": int(identifier), "type": "begin"}
