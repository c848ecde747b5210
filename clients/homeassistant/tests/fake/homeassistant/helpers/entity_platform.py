from typing import Any, Callable, Dict, Iterable, Optional

import voluptuous as vol

from ..core import HomeAssistant, SupportsResponse
from .entity import Entity

AddConfigEntryEntitiesCallback = Callable[[Iterable[Entity]], None]


class EntityPlatform:
    def __init__(self, hass: HomeAssistant) -> None:
        self.hass = hass

    def async_register_entity_service(self, name: str, schema: Dict[Any, Any], func: str, required_features: Any = None,
                                      supports_response: SupportsResponse = SupportsResponse.NONE) -> None:
        self.hass.services[name] = (vol.Schema(schema), func, supports_response)


current: Optional[EntityPlatform] = None


def async_get_current_platform() -> EntityPlatform:
    assert current is not None
    return current
