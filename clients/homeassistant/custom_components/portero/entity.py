"""The device that all entities belong to."""
from __future__ import annotations

from homeassistant.const import CONF_URL
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN
from .coordinator import PorteroCoordinator


class PorteroEntity(CoordinatorEntity[PorteroCoordinator]):
    """An entity of a building."""

    _attr_has_entity_name = True

    def __init__(self, coordinator: PorteroCoordinator, key: str) -> None:
        super().__init__(coordinator)
        entry = coordinator.config_entry
        self._attr_unique_id = f"{coordinator.building}_{key}"
        self._attr_translation_key = key
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, coordinator.building)}, name=entry.title, manufacturer="Portero", entry_type=DeviceEntryType.SERVICE,
            configuration_url=entry.data[CONF_URL])
