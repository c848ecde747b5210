from typing import Optional

from ..helpers.entity import Entity


class BinarySensorEntity(Entity):
    @property
    def is_on(self) -> Optional[bool]:
        return None
