"""Everything that a call fails with."""
from __future__ import annotations

from typing import Any, Dict, Optional, Type


class PorteroError(Exception):
    """The base of all errors of this package."""


class ConnectionFailed(PorteroError):
    """The service was not reached, or its answer was cut off. The request may have been carried out."""


class TimedOut(ConnectionFailed):
    """The service did not answer in time. The request may have been carried out."""


class UnexpectedAnswer(PorteroError):
    """An answer that is not the service's, for example a proxy's page."""

    def __init__(self, status: int, content_type: Optional[str]) -> None:
        super().__init__(f"unexpected answer: status {status}, content type {content_type or 'none'}")
        self.status = status
        self.content_type = content_type


class ApiError(PorteroError):
    """The service refused: decide by `code`, tell people `message`, keep `request_id` for support."""

    def __init__(self, status: int, body: Dict[str, Any], retry_after_s: Optional[int]) -> None:
        error = body["error"]
        super().__init__(error["message"])
        self.status = status
        self.type: str = error.get("type", "")
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.next_action: str = error.get("next_action", "")
        #: Waiting may help. Never permission to repeat a change blindly.
        self.retryable: bool = error.get("retryable") is True
        self.request_id: Optional[str] = body.get("requestId")
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class InvalidRequestError(ApiError):
    """400, 402, 413, 426: the request must change."""


class AuthenticationError(ApiError):
    """401"""


class PermissionDenied(ApiError):
    """403"""


class NotFoundError(ApiError):
    """404"""


class ConflictError(ApiError):
    """409"""


class VersionConflict(ConflictError):
    """409 of a version: somebody changed the object since it was read. Read it again, then decide."""


class VersionRequired(ApiError):
    """428: `if_match` is malformed."""


class RateLimitError(ApiError):
    """429"""


class ServiceError(ApiError):
    """5xx"""


_OF_CODE: Dict[str, Type[ApiError]] = {"VERSION_CONFLICT": VersionConflict, "SETTINGS_VERSION_CONFLICT": VersionConflict}
_OF_STATUS: Dict[int, Type[ApiError]] = {
    401: AuthenticationError, 403: PermissionDenied, 404: NotFoundError, 409: ConflictError, 428: VersionRequired, 429: RateLimitError,
}


def error_of(status: int, content_type: Optional[str], body: Any, retry_after_s: Optional[int]) -> PorteroError:
    """The error of an answer that is no success."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str) or not isinstance(error.get("message"), str):
        return UnexpectedAnswer(status, content_type)
    kind = _OF_CODE.get(error["code"]) or _OF_STATUS.get(status) or (ServiceError if status >= 500 else InvalidRequestError)
    return kind(status, body, retry_after_s)
