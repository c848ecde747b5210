"""Portero, the access-control service for building entrances."""
from __future__ import annotations

from homeassistant.const import CONF_API_KEY, CONF_URL, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .api import PorteroApi
from .const import CONF_FINGERPRINT
from .coordinator import PorteroConfigEntry, PorteroCoordinator

PLATFORMS = [Platform.BINARY_SENSOR, Platform.EVENT, Platform.LOCK, Platform.SENSOR]


async def async_setup_entry(hass: HomeAssistant, entry: PorteroConfigEntry) -> bool:
    """Sets up one building."""
    api = PorteroApi(async_get_clientsession(hass), entry.data[CONF_URL], entry.data[CONF_API_KEY], entry.data[CONF_FINGERPRINT])
    coordinator = PorteroCoordinator(hass, entry, api)
    await coordinator.async_config_entry_first_refresh()
    entry.runtime_data = coordinator
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    entry.async_create_background_task(hass, coordinator.async_follow(), "portero events")
    return True


async def async_unload_entry(hass: HomeAssistant, entry: PorteroConfigEntry) -> bool:
    """Home Assistant cancels the background task."""
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
