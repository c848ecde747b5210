from enum import Enum

CONF_API_KEY = "api_key"
CONF_EMAIL = "email"
CONF_URL = "url"


class Platform(str, Enum):
    BINARY_SENSOR = "binary_sensor"
    EVENT = "event"
    LOCK = "lock"
    SENSOR = "sensor"


class EntityCategory(str, Enum):
    CONFIG = "config"
    DIAGNOSTIC = "diagnostic"
