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
from homeassistant.helpers.debounce import Debouncer
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .api import PorteroApi, PorteroApiError, PorteroAuthError, PorteroError
from .const import CONF_BUILDING, DOMAIN, LOGGER
from .model import CHANGING, Calls, State, poll_after

_AGAIN_S = 2
_AGAIN_MAX_S = 60
_REFRESH_AGAIN_S = 1  # Home Assistant's own 10 s would show a door as open long after the visitor has gone in

EventListener = Callable[[dict[str, Any]], None]


class PorteroCoordinator(DataUpdateCoordinator[State]):
    """One building."""

    config_entry: ConfigEntry[Any]

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry[Any], api: PorteroApi) -> None:
        super().__init__(hass, LOGGER, config_entry=entry, name=DOMAIN, update_interval=timedelta(seconds=poll_after(None, False)),
                         request_refresh_debouncer=Debouncer(hass, LOGGER, cooldown=_REFRESH_AGAIN_S, immediate=True))
        self.api = api
        self.building: str = entry.data[CONF_BUILDING]
        self.calls = Calls()
        self.streaming = False
        self._last: int | None = None
        self._event_listeners: list[EventListener] = []

    async def _async_update_data(self) -> State:
        api, building = self.api, self.building
        try:
            async with asyncio.TaskGroup() as group:  # the first that fails ends the others
                passes_decision, setup = group.create_task(self._passes_and_decision()), group.create_task(api.setup(building))
                grants, last_visit = group.create_task(api.active_grants(building)), group.create_task(api.last_visit(building))
        except ExceptionGroup as errors:
            raise self._failure(errors) from errors
        passes, decision = passes_decision.result()
        state = State(decision, setup.result(), grants.result(), passes, last_visit.result())
        self.update_interval = timedelta(seconds=poll_after(state, self.streaming))
        return state

    async def _passes_and_decision(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The passes first: one that opens the door when they are read has a next opening that is not after the decision."""
        return await self.api.passes(self.building), await self.api.decision(self.building)

    @staticmethod
    def _failure(errors: ExceptionGroup[Exception]) -> Exception:
        """What Home Assistant is told: to ask for another key, or that the data could not be read."""
        if refused := errors.subgroup(PorteroAuthError):
            return ConfigEntryAuthFailed(str(refused.exceptions[0]))
        if failed := errors.subgroup(PorteroError):
            return UpdateFailed(str(failed.exceptions[0]))
        return errors

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
