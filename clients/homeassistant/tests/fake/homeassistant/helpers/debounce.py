from logging import Logger
from typing import Any, Callable, Optional

from ..core import HomeAssistant


class Debouncer:
    def __init__(self, hass: HomeAssistant, logger: Logger, *, cooldown: float, immediate: bool, function: Optional[Callable[[], Any]] = None,
                 background: bool = False) -> None:
        self.cooldown = cooldown
