"""The sandbox that the tests run against: PORTERO_TEST_URL, and the certificate's PORTERO_TEST_FINGERPRINT."""
from __future__ import annotations

import os
from typing import Any
import uuid

import aiohttp

URL = os.environ["PORTERO_TEST_URL"]
FINGERPRINT = os.environ["PORTERO_TEST_FINGERPRINT"]
TLS = aiohttp.Fingerprint(bytes.fromhex(FINGERPRINT.replace(":", "")))


class Resident:
    """An account with a subscription, a number and a release tone."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session
        self.email = f"home-{uuid.uuid4().hex}@example.com"
        self.key = self.building = self.number = ""

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        all_headers = {**({"Authorization": f"Bearer {self.key}"} if self.key else {}), **{name.replace("_", "-"): value for name, value in headers.items()}}
        async with self.session.request(method, URL + path, json=body, headers=all_headers, ssl=TLS) as answer:
            content = await answer.json()
            assert answer.status < 300, f"{method} {path}: {content}"
            return content

    async def code(self) -> str:
        return str((await self.ask("GET", f"/sandbox/messages?to={self.email}&channel=email&limit=1"))["data"][0]["code"])

    async def move_in(self) -> Resident:
        challenge = (await self.ask("POST", "/v1/auth/otp", {"email": self.email}))["challenge"]
        signed_in = {"email": self.email, "challenge": challenge, "otp": await self.code(), "purpose": "web"}
        self.key = (await self.ask("POST", "/v1/auth/verify", signed_in))["apiKey"]
        await self.ask("POST", "/sandbox/subscriptions", {"email": self.email, "status": "active"})
        home = (await self.ask("GET", "/v1/buildings"))["data"][0]
        self.building, self.number = home["id"], home["virtual_number"]
        settings = await self.ask("GET", f"/v1/buildings/{self.building}/settings")
        await self.ask("PATCH", f"/v1/buildings/{self.building}/settings", {"unlock_tone": "9"}, If_Match=settings["version"])
        return self

    async def agent(self, scopes: list[str]) -> str:
        return str((await self.ask("POST", "/v1/auth/keys", {"scopes": scopes}))["api_key"])

    async def grant(self, body: dict[str, Any]) -> dict[str, Any]:
        return dict(await self.ask("POST", "/v1/unlock", body, Idempotency_Key=uuid.uuid4().hex))

    async def visit(self, **call: Any) -> dict[str, Any]:
        return dict(await self.ask("POST", "/sandbox/calls", {"to": self.number, "from": "+15550001111", **call}))

    async def advance(self, seconds: int) -> None:
        await self.ask("POST", "/sandbox/clock", {"advance_seconds": seconds})
