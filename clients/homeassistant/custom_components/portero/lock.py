"""The door as a lock: unlocked while whoever presses the call box gets in without a code."""
from __future__ import annotations

from typing import Any

import voluptuous as vol

from homeassistant.components.lock import LockEntity, LockEntityFeature
from homeassistant.core import HomeAssistant, SupportsResponse
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, entity_platform
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .api import PorteroAuthError, PorteroError
from .const import DEFAULT_MINUTES, DEFAULT_SINGLE_USE, DOMAIN, OPTION_MINUTES, OPTION_SINGLE_USE, SERVICE_CREATE_PASS, SERVICE_CREATE_PASSCODE
from .coordinator import PorteroConfigEntry, PorteroCoordinator
from .entity import PorteroEntity
from .model import DAYS, pass_body, passcode_body, timer_body

PARALLEL_UPDATES = 1

PASSCODE_SCHEMA: dict[Any, Any] = {
    vol.Optional("label"): vol.All(cv.string, vol.Length(min=1, max=120)),
    vol.Optional("minutes"): vol.All(vol.Coerce(int), vol.Range(min=1, max=10080)),
    vol.Optional("uses"): vol.All(vol.Coerce(int), vol.Range(min=1, max=100)),
    vol.Optional("code"): vol.All(cv.string, vol.Match(r"^(?!1$)[0-9]{1,4}$")),
}

PASS_SCHEMA: dict[Any, Any] = {
    vol.Optional("label"): vol.All(cv.string, vol.Length(min=1, max=120)),
    vol.Optional("days"): vol.All(cv.ensure_list, vol.Length(min=1), [vol.In(DAYS)]),
    vol.Optional("start"): cv.time,
    vol.Optional("end"): cv.time,
    vol.Optional("from"): cv.datetime,
    vol.Optional("until"): cv.datetime,
    vol.Optional("uses"): vol.All(vol.Coerce(int), vol.Range(min=1, max=100)),
    vol.Optional("code"): vol.All(cv.string, vol.Match(r"^[0-9]{4,8}$")),
    vol.Optional("note"): vol.All(cv.string, vol.Length(max=500)),
}


async def async_setup_entry(hass: HomeAssistant, entry: PorteroConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    async_add_entities([PorteroLock(entry.runtime_data)])
    platform = entity_platform.async_get_current_platform()
    platform.async_register_entity_service(SERVICE_CREATE_PASSCODE, PASSCODE_SCHEMA, "async_create_passcode", supports_response=SupportsResponse.OPTIONAL)
    platform.async_register_entity_service(SERVICE_CREATE_PASS, PASS_SCHEMA, "async_create_pass", supports_response=SupportsResponse.OPTIONAL)


class PorteroLock(PorteroEntity, LockEntity):
    """The door."""

    _attr_name = None
    _attr_supported_features = LockEntityFeature.OPEN

    def __init__(self, coordinator: PorteroCoordinator) -> None:
        super().__init__(coordinator, "door")

    @property
    def is_locked(self) -> bool:
        return self.coordinator.data.is_locked

    @property
    def changed_by(self) -> str | None:
        return self.coordinator.data.opened_by

    async def async_unlock(self, **kwargs: Any) -> None:
        """Opens the door in a call in progress; without one, lets in who comes within the next minutes."""
        if self.coordinator.calls.openable is not None:
            await self.async_open()
            return
        options = self.coordinator.config_entry.options
        body = timer_body(int(options.get(OPTION_MINUTES, DEFAULT_MINUTES)), bool(options.get(OPTION_SINGLE_USE, DEFAULT_SINGLE_USE)))
        await self._ask(self.coordinator.api.create_grant(self.coordinator.building, body))
        await self.coordinator.async_refresh()

    async def async_lock(self, **kwargs: Any) -> None:
        """Revokes the timers that this integration made. Fails if the door opens by itself all the same."""
        await self.coordinator.async_refresh()
        for timer in self.coordinator.data.own_timers:
            await self._ask(self.coordinator.api.revoke(self.coordinator.building, timer["id"]))
        await self.coordinator.async_refresh()
        if not self.coordinator.data.is_locked:
            raise HomeAssistantError(translation_domain=DOMAIN, translation_key="still_open",
                                     translation_placeholders={"label": self.coordinator.data.opened_by or ""})

    async def async_open(self, **kwargs: Any) -> None:
        """Opens the door in a call that is with the resident."""
        call = self.coordinator.calls.openable
        if call is None:
            raise HomeAssistantError(translation_domain=DOMAIN, translation_key="nobody_at_the_door")
        await self._ask(self.coordinator.api.open_call(self.coordinator.building, call))

    async def async_create_passcode(self, label: str | None = None, minutes: int | None = None, uses: int | None = None,
                                    code: str | None = None) -> dict[str, Any]:
        """A new passcode, with its code."""
        grant = await self._ask(self.coordinator.api.create_grant(self.coordinator.building, passcode_body(label, minutes, uses, code)))
        await self.coordinator.async_request_refresh()
        return {"id": grant["id"], "access_code": grant["access_code"], "label": grant["label"], "ends_at": grant.get("ends_at"),
                "remaining_uses": grant.get("remaining_uses")}

    async def async_create_pass(self, **given: Any) -> dict[str, Any]:
        """A new pass with a code, as the schema describes it."""
        grant = await self._ask(self.coordinator.api.create_pass(self.coordinator.building, pass_body(given, self.hass.config.time_zone)))
        await self.coordinator.async_request_refresh()
        return {"id": grant["id"], "access_code": grant["access_code"], "label": grant["label"], "status": grant["status"],
                "remaining_uses": grant["remaining_uses"], "next_opening": grant["pass"]["next_opening"], "until": grant["pass"]["until"]}

    async def _ask(self, request: Any) -> Any:
        try:
            return await request
        except PorteroAuthError as error:
            self.coordinator.config_entry.async_start_reauth(self.hass)
            raise self._failed(error) from error
        except PorteroError as error:
            raise self._failed(error) from error

    @staticmethod
    def _failed(error: PorteroError) -> HomeAssistantError:
        return HomeAssistantError(translation_domain=DOMAIN, translation_key="refused", translation_placeholders={"message": str(error)})
