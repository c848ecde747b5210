from enum import Enum
from typing import Any, Dict, List, Optional, Tuple

from ..helpers.entity import Entity


class EventDeviceClass(str, Enum):
    DOORBELL = "doorbell"
    BUTTON = "button"
    MOTION = "motion"


class EventEntity(Entity):
    """`triggered` has the events."""

    _attr_device_class: Optional[EventDeviceClass] = None
    _attr_event_types: List[str]

    def _trigger_event(self, event_type: str, event_attributes: Optional[Dict[str, Any]] = None) -> None:
        if event_type not in self._attr_event_types:
            raise ValueError(f"Invalid event type {event_type}")
        self.triggered.append((event_type, event_attributes or {}))

    @property
    def triggered(self) -> List[Tuple[str, Dict[str, Any]]]:
        events: List[Tuple[str, Dict[str, Any]]] = self.__dict__.setdefault("events", [])
        return events
