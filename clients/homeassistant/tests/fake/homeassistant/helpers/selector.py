"""Selectors check what a user enters, as far as the forms need it."""
from enum import Enum
from typing import Any, List, TypedDict

import voluptuous as vol


class TextSelectorType(str, Enum):
    EMAIL = "email"
    PASSWORD = "password"
    TEXT = "text"
    URL = "url"


class TextSelectorConfig(TypedDict, total=False):
    type: TextSelectorType


class TextSelector:
    def __init__(self, config: Any = None) -> None:
        self.config = config

    def __call__(self, value: Any) -> str:
        if not isinstance(value, str):
            raise vol.Invalid("not a text")
        return value


class SelectOptionDict(TypedDict):
    value: str
    label: str


class SelectSelectorConfig(TypedDict, total=False):
    options: List[SelectOptionDict]


class SelectSelector:
    def __init__(self, config: SelectSelectorConfig) -> None:
        self.config = config

    def __call__(self, value: Any) -> Any:
        if value not in [option["value"] for option in self.config["options"]]:
            raise vol.Invalid("no option")
        return value


class NumberSelectorMode(str, Enum):
    BOX = "box"
    SLIDER = "slider"


class NumberSelectorConfig(TypedDict, total=False):
    min: float
    max: float
    step: float
    unit_of_measurement: str
    mode: NumberSelectorMode


class NumberSelector:
    def __init__(self, config: NumberSelectorConfig) -> None:
        self.config = config

    def __call__(self, value: Any) -> float:
        number = float(value)
        if not self.config["min"] <= number <= self.config["max"]:
            raise vol.Invalid("out of range")
        return number


class BooleanSelector:
    def __init__(self, config: Any = None) -> None:
        self.config = config

    def __call__(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise vol.Invalid("not a boolean")
        return value


