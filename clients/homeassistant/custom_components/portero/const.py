"""Names that several modules share."""
from __future__ import annotations

import logging

DOMAIN = "portero"
LOGGER = logging.getLogger(__package__)

CONF_FINGERPRINT = "fingerprint"
CONF_BUILDING = "building_id"
CONF_CODE = "code"

OPTION_MINUTES = "unlock_minutes"
OPTION_SINGLE_USE = "single_use"
DEFAULT_MINUTES = 5
DEFAULT_SINGLE_USE = True

SERVICE_CREATE_PASSCODE = "create_passcode"
SERVICE_CREATE_PASS = "create_pass"
