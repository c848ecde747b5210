// Everything that a call fails with.

/** The base of all errors of this package. */
export class PorteroError extends Error {
    constructor(message: string, options?: ErrorOptions) {
        super(message, options);
        this.name = new.target.name;
    }
}

/** The service was not reached, or its answer was cut off. The request may have been carried out. */
export class ConnectionError extends PorteroError {}

/** No complete answer within the time of an attempt. The request may have been carried out. */
export class TimeoutError extends ConnectionError {}

/** An answer that is not the service's, for example a proxy's page. */
export class UnexpectedAnswerError extends PorteroError {
    constructor(readonly status: number, readonly contentType: string | null) {
        super(`unexpected answer: status ${status}, content type ${contentType ?? 'none'}`);
    }
}

interface Envelope {
    type: string;
    message: string;
    code: string;
    retryable: boolean;
    next_action: string;
}

/** The service refused: decide by `code`, tell people `message`, keep `requestId` for support. */
export class ApiError extends PorteroError {
    readonly type: string;
    readonly code: string;
    readonly next_action: string;
    /** Waiting may help. Never permission to repeat a change blindly. */
    readonly retryable: boolean;

    constructor(readonly status: number, error: Envelope, readonly requestId: string, readonly retryAfterS: number | undefined) {
        super(error.message);
        this.type = error.type;
        this.code = error.code;
        this.next_action = error.next_action;
        this.retryable = error.retryable;
    }
}

/** 400, 402, 413, 426: the request must change. */
export class InvalidRequestError extends ApiError {}
/** 401 */
export class AuthenticationError extends ApiError {}
/** 403 */
export class PermissionError extends ApiError {}
/** 404 */
export class NotFoundError extends ApiError {}
/** 409 */
export class ConflictError extends ApiError {}
/** 409 of a version: somebody changed the object since it was read. Read it again, then decide. */
export class VersionConflictError extends ConflictError {}
/** 428: `ifMatch` is missing or malformed. */
export class VersionRequiredError extends ApiError {}
/** 429 */
export class RateLimitError extends ApiError {}
/** 5xx */
export class ServiceError extends ApiError {}

const OF_CODE: Record<string, typeof ApiError> = { VERSION_CONFLICT: VersionConflictError, SETTINGS_VERSION_CONFLICT: VersionConflictError };
const OF_STATUS: Record<number, typeof ApiError> = {
    401: AuthenticationError, 403: PermissionError, 404: NotFoundError, 409: ConflictError, 428: VersionRequiredError, 429: RateLimitError,
};

function isEnvelope(body: unknown): body is { error: Envelope; requestId: string } {
    const error = (body as { error?: Partial<Envelope> } | null)?.error;
    return typeof error?.code === 'string' && typeof error.message === 'string';
}

/** The error of an answer that is no success. */
export function errorOf(status: number, contentType: string | null, body: unknown, retryAfterS: number | undefined): PorteroError {
    if (!isEnvelope(body)) return new UnexpectedAnswerError(status, contentType);
    const kind = OF_CODE[body.error.code] ?? OF_STATUS[status] ?? (status >= 500 ? ServiceError : InvalidRequestError);
    return new kind(status, body.error, body.requestId, retryAfterS);
}
