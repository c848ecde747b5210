"""Webhook deliveries: whether the service sent them."""
from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import List, Optional, Sequence, Tuple, Union, cast

from . import types as t
from .errors import PorteroError

_HEADER_MAX = 4096
_SIGNATURES_MAX = 8
_TOLERANCE_S = 300


class WebhookVerificationError(PorteroError):
    """A delivery that must be answered with 401 or the like, and not acted on."""


def _parse(header: Optional[str]) -> Tuple[str, List[str]]:
    """The time and the signatures of `t=…,v1=…`, which has several while a secret is being replaced."""
    text = header or ""
    parts = [] if len(text) > _HEADER_MAX else [part.strip().partition("=") for part in text.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    signatures = [value for name, _, value in parts if name == "v1" and re.fullmatch(r"[0-9a-f]{64}", value)]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]) or not 1 <= len(signatures) <= _SIGNATURES_MAX:
        raise WebhookVerificationError("Service-Signature is missing or malformed")
    return times[0], signatures


def verify_webhook(raw_body: bytes, header: Optional[str], secrets: Union[str, Sequence[str]], *, tolerance_s: float = _TOLERANCE_S,
                   now: Optional[float] = None) -> "t.WebhookEvent":
    """Checks a delivery and returns its event. `raw_body`: the bytes as they were received, not parsed and serialized again. `header`:
    the value of `Service-Signature`. `secrets`: the endpoint's secret; during a rotation the old and the new one. Deliveries may
    repeat, in any order: detect repetitions by `id`, sort by `data.occurred_at`."""
    stamp, signatures = _parse(header)
    if not abs((time.time() if now is None else now) - int(stamp)) <= tolerance_s:
        raise WebhookVerificationError("the delivery is too old, or the clock is wrong")
    known = [secrets] if isinstance(secrets, str) else list(secrets or ())
    if not known or not all(known):
        raise WebhookVerificationError("a secret is missing or empty: anybody can sign with an empty one")
    good = False
    for secret in known:
        wanted = hmac.new(secret.encode(), stamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
        for signature in signatures:
            good |= hmac.compare_digest(wanted, signature)
    if not good:
        raise WebhookVerificationError("no signature matches a secret")
    return cast("t.WebhookEvent", json.loads(raw_body))
