import asyncio
from datetime import timedelta
import logging
from typing import Any, Callable, Generic, List, Optional, TypeVar

from ..core import HomeAssistant
from ..exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady
from .entity import Entity

Data = TypeVar("Data")


class UpdateFailed(Exception):
    pass


class DataUpdateCoordinator(Generic[Data]):
    """Without the timer and the debouncer: `refreshes` counts."""

    def __init__(self, hass: HomeAssistant, logger: logging.Logger, *, config_entry: Any = None, name: str, update_interval: Optional[timedelta] = None,
                 update_method: Any = None, setup_method: Any = None, request_refresh_debouncer: Any = None, always_update: bool = True) -> None:
        self.hass, self.logger, self.config_entry, self.name, self.update_interval = hass, logger, config_entry, name, update_interval
        self.data: Data = None  # type: ignore[assignment]
        self.last_update_success = True
        self.last_exception: Optional[BaseException] = None
        self.refreshes = 0
        self._listeners: List[Callable[[], None]] = []

    async def _async_update_data(self) -> Data:
        raise NotImplementedError

    def async_add_listener(self, update_callback: Callable[[], None], context: Any = None) -> Callable[[], None]:
        self._listeners.append(update_callback)
        return lambda: self._listeners.remove(update_callback)

    async def _refresh(self, first: bool = False) -> None:
        self.refreshes += 1
        try:
            self.data = await self._async_update_data()
            self.last_update_success = True
        except ConfigEntryAuthFailed as error:
            self.last_exception, self.last_update_success = error, False
            if first:
                raise
            self.config_entry.async_start_reauth(self.hass)
        except (UpdateFailed, asyncio.TimeoutError) as error:
            self.last_exception, self.last_update_success = error, False
        for listener in list(self._listeners):
            listener()

    async def async_config_entry_first_refresh(self) -> None:
        await self._refresh(first=True)
        if not self.last_update_success:
            raise ConfigEntryNotReady() from self.last_exception

    async def async_refresh(self) -> None:
        await self._refresh()

    async def async_request_refresh(self) -> None:
        await self._refresh()


Coordinator = TypeVar("Coordinator", bound="DataUpdateCoordinator[Any]")


class CoordinatorEntity(Entity, Generic[Coordinator]):
    def __init__(self, coordinator: Coordinator, context: Any = None) -> None:
        self.coordinator = coordinator

    @property
    def available(self) -> bool:
        return self.coordinator.last_update_success

    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        self.async_on_remove(self.coordinator.async_add_listener(self._handle_coordinator_update))

    def _handle_coordinator_update(self) -> None:
        self.async_write_ha_state()
