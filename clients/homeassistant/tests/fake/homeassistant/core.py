import asyncio
from enum import Enum
from types import SimpleNamespace
from typing import Any, Callable, Dict, List, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def callback(function: Function) -> Function:
    return function


class SupportsResponse(Enum):
    NONE = "none"
    OPTIONAL = "optional"
    ONLY = "only"


class HomeAssistant:
    """`config` has the home's time zone; `entities` are what platforms added, by platform; `services` the entity services."""

    def __init__(self, session: Any) -> None:
        from .config_entries import ConfigEntries

        self.session = session
        self.config = SimpleNamespace(time_zone="America/New_York")
        self.entities: Dict[str, List[Any]] = {}
        self.services: Dict[str, Any] = {}
        self.config_entries = ConfigEntries(self)
        self.tasks: List["asyncio.Task[Any]"] = []
