"""Home Assistant as it is, with the integration, against a running sandbox. Nothing of it is imitated."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_socket

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, State
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import MockConfigEntry
from sandbox import FINGERPRINT, URL, Resident

from custom_components.portero.api import SCOPES, normal_fingerprint

Until = Callable[..., Awaitable[Any]]


@pytest.fixture(autouse=True)
def services_of_this_machine(socket_enabled: None) -> Iterator[None]:
    """The plugin forbids connections; the sandbox is one on this machine."""
    pytest_socket.socket_allow_hosts(["127.0.0.1", "::1", "localhost"])
    yield


@pytest.fixture(autouse=True)
def expected_lingering_timers() -> bool:
    """A timer of asyncio lasts 30 seconds after a TLS connection that ended, as in tests of Home Assistant's own integrations. Tasks may not."""
    return True


@pytest.fixture(autouse=True)
def integration_is_found(enable_custom_integrations: None) -> None:
    """Home Assistant loads custom_components."""


@pytest.fixture
async def person() -> AsyncIterator[Resident]:
    async with aiohttp.ClientSession() as session:
        yield await Resident(session).move_in()


@pytest.fixture
def until(hass: HomeAssistant) -> Until:
    """Waits for a condition, and fails after a minute."""
    async def wait(condition: Callable[[], Any], what: str) -> Any:
        for _ in range(3000):
            if value := condition():
                return value
            await asyncio.sleep(0.02)
        states = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
        raise AssertionError(f"never happened: {what}; {states}")
    return wait


class Relay:
    """A port in front of the service that can be closed and opened again."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()
        while self._writers:
            await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        service = urlsplit(URL)
        far_reader, far_writer = await asyncio.open_connection(service.hostname, service.port)
        self._writers |= {writer, far_writer}
        try:
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
        finally:
            self._writers -= {writer, far_writer}

    @staticmethod
    async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
        except OSError:
            pass
        finally:
            writer.close()


@pytest.fixture
async def relay() -> AsyncIterator[Relay]:
    one = Relay()
    await one.open()
    yield one
    await one.close()


class House:
    """The integration as its user sees it: by the IDs of entities."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry[Any], person: Resident) -> None:
        self.hass, self.entry, self.person = hass, entry, person
        self.events: list[tuple[str, dict[str, Any]]] = []
        hass.bus.async_listen("state_changed", self._changed)

    def _changed(self, event: Event[EventStateChangedData]) -> None:
        new = event.data["new_state"]
        if new and new.domain == "event" and new.state not in ("unknown", "unavailable"):
            self.events.append((new.attributes["event_type"], dict(new.attributes)))

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.events]

    def entity_id(self, platform: str, key: str) -> str:
        found = er.async_get(self.hass).async_get_entity_id(platform, "portero", f"{self.person.building}_{key}")
        assert found, (platform, key)
        return found

    def state(self, platform: str, key: str) -> State:
        found = self.hass.states.get(self.entity_id(platform, key))
        assert found, (platform, key)
        return found

    @property
    def lock(self) -> str:
        return self.state("lock", "door").state

    async def act(self, service: str, domain: str = "lock", more: dict[str, Any] | None = None, response: bool = False) -> Any:
        return await self.hass.services.async_call(domain, service, {"entity_id": self.entity_id("lock", "door"), **(more or {})}, blocking=True,
                                                   return_response=response)


@pytest.fixture
async def connect(hass: HomeAssistant, person: Resident, until: Until) -> AsyncIterator[Callable[..., Awaitable[House]]]:
    """Sets up an entry, which is unloaded after the test, and waits for the stream of events."""
    entries: list[MockConfigEntry] = []

    async def set_up(url: str = URL, fingerprint: str = FINGERPRINT) -> House:
        data = {"url": url, "fingerprint": normal_fingerprint(fingerprint), "api_key": await person.agent(SCOPES), "building_id": person.building}
        entry = MockConfigEntry(domain="portero", title="Home", data=data, unique_id=person.building)
        entry.add_to_hass(hass)
        entries.append(entry)
        house = House(hass, entry, person)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        await until(lambda: entry.runtime_data.streaming, "the stream")
        return house

    yield set_up
    for entry in entries:
        if entry.state is ConfigEntryState.LOADED:
            assert await hass.config_entries.async_unload(entry.entry_id)


@pytest.fixture
async def house(connect: Callable[..., Awaitable[House]]) -> House:
    return await connect()
