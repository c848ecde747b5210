export { Portero, type Change, type Options } from './client.js';
export * from './errors.js';
export type { EventOptions, LiveEvent } from './events.js';
export type { Methods } from './operations.js';
export { Pages } from './pages.js';
export type { Answer } from './transport.js';
export type { Args, CallOptions, OperationId, Result, Schemas, Versioned } from './types.js';
export { verifyWebhook, WebhookVerificationError, type VerifyOptions, type WebhookEvent } from './webhooks.js';
