"""Figures of the building."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity, SensorEntityDescription, SensorStateClass
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import PorteroConfigEntry, PorteroCoordinator
from .entity import PorteroEntity
from .model import State

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class PorteroSensorDescription(SensorEntityDescription):
    """`value` and `more` read the state and the attributes."""

    value: Callable[[State], datetime | int | None]
    more: Callable[[State], dict[str, Any]] = lambda state: {}


def _visit(state: State) -> dict[str, Any]:
    return {name: state.last_visit[name] for name in ("type", "name", "succeeded") if name in state.last_visit} if state.last_visit else {}


def _passes(state: State) -> dict[str, Any]:
    return {**({"label": state.next_pass[1]} if state.next_pass else {}), "passes": state.pass_list, "more": state.passes["pagination"]["has_more"]}


SENSORS = (
    PorteroSensorDescription(key="last_visit", device_class=SensorDeviceClass.TIMESTAMP, value=lambda state: state.last_visit_at, more=_visit),
    PorteroSensorDescription(key="active_grants", state_class=SensorStateClass.MEASUREMENT, value=lambda state: state.active_grants,
                             more=lambda state: {"more": state.grants["pagination"]["has_more"]}),
    PorteroSensorDescription(key="next_routine", device_class=SensorDeviceClass.TIMESTAMP,
                             value=lambda state: state.next_routine[0] if state.next_routine else None,
                             more=lambda state: {"label": state.next_routine[1]} if state.next_routine else {}),
    PorteroSensorDescription(key="next_pass", device_class=SensorDeviceClass.TIMESTAMP,
                             value=lambda state: state.next_pass[0] if state.next_pass else None, more=_passes),
)


async def async_setup_entry(hass: HomeAssistant, entry: PorteroConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    async_add_entities([PorteroSensor(entry.runtime_data, description) for description in SENSORS])


class PorteroSensor(PorteroEntity, SensorEntity):
    """One of the table."""

    entity_description: PorteroSensorDescription

    def __init__(self, coordinator: PorteroCoordinator, description: PorteroSensorDescription) -> None:
        super().__init__(coordinator, description.key)
        self.entity_description = description

    @property
    def native_value(self) -> datetime | int | None:
        return self.entity_description.value(self.coordinator.data)

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        return self.entity_description.more(self.coordinator.data)
