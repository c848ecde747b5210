"""Visitors as events: a ring, and how it ends."""
from __future__ import annotations

from typing import Any

from homeassistant.components.event import EventDeviceClass, EventEntity
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import PorteroConfigEntry, PorteroCoordinator
from .entity import PorteroEntity
from .model import EVENT_MEMBERS, VISITOR_EVENTS

PARALLEL_UPDATES = 0


async def async_setup_entry(hass: HomeAssistant, entry: PorteroConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    async_add_entities([PorteroVisitor(entry.runtime_data)])


class PorteroVisitor(PorteroEntity, EventEntity):
    """The doorbell."""

    _attr_device_class = EventDeviceClass.DOORBELL
    _attr_event_types = list(VISITOR_EVENTS.values())

    def __init__(self, coordinator: PorteroCoordinator) -> None:
        super().__init__(coordinator, "visitor")

    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        self.async_on_remove(self.coordinator.async_add_event_listener(self._take))

    @callback
    def _take(self, event: dict[str, Any]) -> None:
        kind = VISITOR_EVENTS.get(event["type"])
        if kind is not None:
            self._trigger_event(kind, {name: event[name] for name in EVENT_MEMBERS if name in event})
            self.async_write_ha_state()
