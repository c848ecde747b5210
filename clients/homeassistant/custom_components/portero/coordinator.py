"""Keeps the building's state: fed by its stream of events, and by polling where there is none."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
import random
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .api import PorteroApi, PorteroApiError, PorteroAuthError, PorteroError
from .const import CONF_BUILDING, DOMAIN, LOGGER
from .model import CHANGING, Calls, State, poll_after

_AGAIN_S = 2
_AGAIN_MAX_S = 60

EventListener = Callable[[dict[str, Any]], None]


class PorteroCoordinator(DataUpdateCoordinator[State]):
    """One building."""

    config_entry: ConfigEntry[Any]

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry[Any], api: PorteroApi) -> None:
        super().__init__(hass, LOGGER, config_entry=entry, name=DOMAIN, update_interval=timedelta(seconds=poll_after(None, False)))
        self.api = api
        self.building: str = entry.data[CONF_BUILDING]
        self.calls = Calls()
        self.streaming = False
        self._last: int | None = None
        self._event_listeners: list[EventListener] = []

    async def _async_update_data(self) -> State:
        try:
            state = State(*await asyncio.gather(
                self.api.decision(self.building), self.api.setup(self.building), self.api.active_grants(self.building),
                self.api.last_visit(self.building)))
        except PorteroAuthError as error:
            raise ConfigEntryAuthFailed(str(error)) from error
        except PorteroError as error:
            raise UpdateFailed(str(error)) from error
        self.update_interval = timedelta(seconds=poll_after(state, self.streaming))
        return state

    @callback
    def async_add_event_listener(self, listener: EventListener) -> Callable[[], None]:
        """`listener` gets each fresh event of the stream, until the returned function is called."""
        self._event_listeners.append(listener)
        return lambda: self._event_listeners.remove(listener)

    async def async_follow(self) -> None:
        """Reads the stream until it is cancelled, or the service refuses for good."""
        failures = 0
        while True:
            try:
                async for event, fresh in self.api.events(self.building, self._last):
                    failures = 0
                    await self._take(event, fresh)
            except PorteroAuthError:
                self.config_entry.async_start_reauth(self.hass)
                return
            except PorteroApiError as error:
                if error.status not in (429, 503):
                    LOGGER.warning("No stream of events, reading regularly instead: %s", error)
                    return
                failures += 1
            except PorteroError as error:
                LOGGER.debug("The stream ended: %s", error)
                failures += 1
            finally:
                self.streaming = False
                self.calls.clear()
            await asyncio.sleep(min(_AGAIN_MAX_S, _AGAIN_S * 2.0**min(failures, 6)) * random.uniform(0.5, 1))

    async def _take(self, event: dict[str, Any], fresh: bool) -> None:
        if event["type"] == "open":
            self.streaming = True
            return
        self._last = event["seq"]
        if event["type"] == "begin":
            return
        if fresh:
            self.calls.take(event)
            for listener in list(self._event_listeners):
                listener(event)
        if event["type"] in CHANGING:
            await self.async_request_refresh()


PorteroConfigEntry = ConfigEntry[PorteroCoordinator]
