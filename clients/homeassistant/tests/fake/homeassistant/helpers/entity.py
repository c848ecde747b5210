from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional

from ..core import HomeAssistant


@dataclass(frozen=True)
class EntityDescription:
    key: str
    name: Optional[str] = None
    translation_key: Optional[str] = None


class Entity:
    """`written` counts the states that were written."""

    hass: HomeAssistant
    written = 0
    _attr_has_entity_name = False
    _attr_name: Any = "by translation"
    _attr_unique_id: Optional[str] = None
    _attr_translation_key: Optional[str] = None
    _attr_device_info: Any = None
    _attr_entity_category: Any = None
    entity_description: Any

    @property
    def unique_id(self) -> Optional[str]:
        return self._attr_unique_id

    async def async_added_to_hass(self) -> None:
        pass

    def async_on_remove(self, function: Callable[[], None]) -> None:
        self.__dict__.setdefault("on_remove", []).append(function)

    def removed(self) -> None:
        on_remove: List[Callable[[], None]] = self.__dict__.get("on_remove", [])
        while on_remove:
            on_remove.pop()()

    def async_write_ha_state(self) -> None:
        self.written += 1

    @property
    def extra_state_attributes(self) -> Dict[str, Any]:
        return {}
