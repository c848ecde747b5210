"""Whether the building is set up."""
from __future__ import annotations

from typing import Any

from homeassistant.components.binary_sensor import BinarySensorEntity
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import PorteroConfigEntry, PorteroCoordinator
from .entity import PorteroEntity

PARALLEL_UPDATES = 0


async def async_setup_entry(hass: HomeAssistant, entry: PorteroConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    async_add_entities([PorteroSetUp(entry.runtime_data)])


class PorteroSetUp(PorteroEntity, BinarySensorEntity):
    """On: a grant has opened the door before. Off: something is missing, and `instructions` says what."""

    _attr_entity_category = EntityCategory.DIAGNOSTIC

    def __init__(self, coordinator: PorteroCoordinator) -> None:
        super().__init__(coordinator, "set_up")

    @property
    def is_on(self) -> bool:
        return self.coordinator.data.is_set_up

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        return {"instructions": self.coordinator.data.setup["instructions"]}
