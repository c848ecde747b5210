from dataclasses import dataclass
from enum import Enum
from typing import Any, Optional

from ..helpers.entity import Entity, EntityDescription


class SensorDeviceClass(str, Enum):
    TIMESTAMP = "timestamp"


class SensorStateClass(str, Enum):
    MEASUREMENT = "measurement"


@dataclass(frozen=True)
class SensorEntityDescription(EntityDescription):
    device_class: Optional[SensorDeviceClass] = None
    state_class: Optional[SensorStateClass] = None


class SensorEntity(Entity):
    @property
    def native_value(self) -> Any:
        return None
