from enum import IntFlag
from typing import Any, Optional

from ..helpers.entity import Entity


class LockEntityFeature(IntFlag):
    OPEN = 1


class LockEntity(Entity):
    _attr_supported_features = LockEntityFeature(0)

    @property
    def is_locked(self) -> Optional[bool]:
        return None

    @property
    def changed_by(self) -> Optional[str]:
        return None

    async def async_lock(self, **kwargs: Any) -> None:
        raise NotImplementedError

    async def async_unlock(self, **kwargs: Any) -> None:
        raise NotImplementedError

    async def async_open(self, **kwargs: Any) -> None:
        raise NotImplementedError
