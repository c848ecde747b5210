"""A call in progress, opened by the lock: makes a resident whose phone is PORTERO_TEST_PHONE, prints the number to call as JSON, waits
for the ring, unlocks, and prints the events of the doorbell as JSON. The caller is another program."""
from __future__ import annotations

import asyncio
import json
import os

import aiohttp

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from sandbox import FINGERPRINT, URL, Resident

from custom_components.portero.api import SCOPES, normal_fingerprint


async def until(condition: object, what: str) -> None:
    for _ in range(3000):
        if condition():  # type: ignore[operator]
            return
        await asyncio.sleep(0.02)
    raise SystemExit(f"never happened: {what}")


async def main() -> None:
    async with aiohttp.ClientSession() as session:
        person = await Resident(session).move_in()
        path = f"/v1/buildings/{person.building}/settings"
        version = (await person.ask("GET", path))["version"]
        await person.ask("PATCH", path, {"ring": {"numbers": [os.environ["PORTERO_TEST_PHONE"]], "accept": False}}, If_Match=version)
        hass = HomeAssistant(session)
        data = {"url": URL, "fingerprint": normal_fingerprint(FINGERPRINT), "api_key": await person.agent(SCOPES), "building_id": person.building}
        entry: ConfigEntry[object] = ConfigEntry(domain="portero", title="Home", data=data, options={}, unique_id=person.building)
        await hass.config_entries.async_setup(entry)
        bell, lock = hass.entities["event"][0], hass.entities["lock"][0]
        await until(lambda: entry.runtime_data.streaming, "the stream")
        print(json.dumps({"number": person.number}), flush=True)
        await until(lambda: entry.runtime_data.calls.openable, "a call with the resident")
        await lock.async_unlock()
        await until(lambda: any(kind == "ended" for kind, _ in bell.triggered), "the end of the call")
        grants = (await person.ask("GET", "/v1/unlock"))["data"]
        print(json.dumps({"events": [kind for kind, _ in bell.triggered], "grants": len(grants), "openable": entry.runtime_data.calls.openable}), flush=True)
        await hass.config_entries.async_unload(entry)


asyncio.run(main())
