from typing import Any

from ..core import HomeAssistant


def async_get_clientsession(hass: HomeAssistant, verify_ssl: bool = True) -> Any:
    return hass.session
