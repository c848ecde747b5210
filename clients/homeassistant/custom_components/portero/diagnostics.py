"""What a user may attach to a report: no key, no code, no number, no name."""
from __future__ import annotations

from typing import Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.const import CONF_API_KEY, CONF_URL
from homeassistant.core import HomeAssistant

from .const import CONF_FINGERPRINT
from .coordinator import PorteroConfigEntry

REDACTED = {
    CONF_API_KEY, CONF_URL, CONF_FINGERPRINT, "title", "access_code", "label", "grant_label", "name", "virtual_number", "unlock_tone", "caller", "number",
    "instructions", "sentence", "request_id", "note",
}


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: PorteroConfigEntry) -> dict[str, Any]:
    coordinator = entry.runtime_data
    state = coordinator.data
    told: dict[str, Any] = async_redact_data({
        "entry": dict(entry.data), "options": dict(entry.options), "streaming": coordinator.streaming,
        "last_update_success": coordinator.last_update_success, "calls_in_progress": len(coordinator.calls.with_resident),
        "decision": state.decision, "setup": state.setup, "grants": state.grants, "passes": state.passes, "last_visit": state.last_visit,
    }, REDACTED)
    return told
