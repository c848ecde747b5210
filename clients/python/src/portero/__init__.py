"""Client of Portero, the access-control service for building entrances."""
from .client import Portero
from .errors import (ApiError, AuthenticationError, ConflictError, ConnectionFailed, InvalidRequestError, NotFoundError,
                     PermissionDenied, PorteroError, RateLimitError, ServiceError, TimedOut, UnexpectedAnswer,
                     VersionConflict, VersionRequired)
from .events import LiveEvent
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "ApiError", "AuthenticationError", "ConflictError", "ConnectionFailed", "InvalidRequestError", "LiveEvent", "NotFoundError",
    "PermissionDenied", "Portero", "PorteroError", "RateLimitError", "ServiceError", "TimedOut", "UnexpectedAnswer",
    "VersionConflict", "VersionRequired", "WebhookVerificationError", "verify_webhook",
]
