// Webhook deliveries: whether the service sent them.
import { crypto } from '#crypto';
import type { webhooks } from './contract.js';
import { PorteroError } from './errors.js';

type Sent<W> = W extends { post: { requestBody: { content: { 'application/json': infer Body } } } } ? Body : never;

/** The body of a delivery. Deliveries may repeat, in any order: detect repetitions by `id`, sort by `data.occurred_at`. */
export type WebhookEvent = { [T in keyof webhooks]: Sent<webhooks[T]> }[keyof webhooks];

/** A delivery that must be answered with 401 or the like, and not acted on. */
export class WebhookVerificationError extends PorteroError {}

export interface VerifyOptions {
    /** How far `t` may be from now, in seconds. */
    toleranceS?: number;
    /** Unix seconds. */
    now?: number;
}

/** As frameworks give it; a list is refused, because the service sends the header once. */
type Header = string | readonly string[] | null | undefined;

const HEADER_MAX = 4096;
const SIGNATURES_MAX = 8;
const TOLERANCE_S = 300;

/** The time and the signatures of a header `t=…,v1=…`, which has several while a secret is being replaced. */
function parse(header: Header): { t: string; signatures: Uint8Array<ArrayBuffer>[] } {
    const parts = typeof header !== 'string' || header.length > HEADER_MAX ? [] : header.split(',').map((part) => part.trim());
    const of = (name: string): string[] => parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
    const [t, ...more] = of('t');
    const signatures = of('v1').filter((hex) => /^[0-9a-f]{64}$/.test(hex)).map((hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16)));
    if (t === undefined || more.length > 0 || !/^\d{1,12}$/.test(t) || signatures.length === 0 || signatures.length > SIGNATURES_MAX) {
        throw new WebhookVerificationError('Service-Signature is missing or malformed');
    }
    return { t, signatures };
}

async function isSigned(secret: string, signed: Uint8Array<ArrayBuffer>, signatures: Uint8Array<ArrayBuffer>[]): Promise<boolean> {
    const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    const results = await Promise.all(signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed))); // constant time
    return results.includes(true);
}

/** Checks a delivery and returns its event. `rawBody`: the bytes as they were received, not parsed and serialized again. `header`: the
 *  value of `Service-Signature`. `secrets`: the endpoint's secret; during a rotation the old and the new one. Throws
 *  WebhookVerificationError. */
export async function verifyWebhook(rawBody: Uint8Array | string, header: Header, secrets: string | readonly string[] | undefined, options: VerifyOptions = {}): Promise<WebhookEvent> {
    const { t, signatures } = parse(header);
    const now = options.now ?? Date.now() / 1000;
    if (!(Math.abs(now - Number(t)) <= (options.toleranceS ?? TOLERANCE_S))) throw new WebhookVerificationError('the delivery is too old, or the clock is wrong');
    const known = typeof secrets === 'string' ? [secrets] : secrets ?? [];
    if (known.length === 0 || known.some((secret) => !secret)) throw new WebhookVerificationError('a secret is missing or empty: anybody can sign with an empty one');
    const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
    const stamp = new TextEncoder().encode(`${t}.`);
    const signed = new Uint8Array(stamp.length + body.length);
    signed.set(stamp);
    signed.set(body, stamp.length);
    const results = await Promise.all(known.map((secret) => isSigned(secret, signed, signatures)));
    if (!results.includes(true)) throw new WebhookVerificationError('no signature matches a secret');
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as WebhookEvent;
}
