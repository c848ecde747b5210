// A push service (RFC 8030) and the browsers that are subscribed at it. Messages are decrypted by http_ece and signatures
// are verified by Node.js, so that nothing of the service's own implementation is its witness.
import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import ece from 'http_ece';
import { Receiver } from './receiver.js';
import { eventually } from './world.js';

const base64url = (bytes) => bytes.toString('base64url');

/** A browser's PushSubscription at a push service. */
export class Subscription {
    constructor(service, path = `/send/${randomBytes(12).toString('hex')}`) {
        this.service = service;
        this.path = path;
        this.ecdh = createECDH('prime256v1');
        this.ecdh.generateKeys();
        this.secret = randomBytes(16);
    }

    get keys() { return { endpoint: this.service.url(this.path), p256dh: base64url(this.ecdh.getPublicKey()), auth: base64url(this.secret) }; }

    /** The requests for it, with the message that the browser would be given: {headers, message, vapid}. */
    received() {
        return this.service.to(this.path).map((request) => ({
            at: request.at,
            headers: request.headers,
            vapid: vapidOf(request),
            message: JSON.parse(ece.decrypt(request.raw, { version: 'aes128gcm', privateKey: this.ecdh, authSecret: base64url(this.secret) })),
        }));
    }

    /** The first message that is this notice. */
    first(notice) {
        return eventually(() => this.received().find(({ message }) => message.notice === notice), `a push: ${notice}`);
    }

    notices() { return this.received().map(({ message }) => message.notice); }
}

/** The claims of the header field Authorization, checked as RFC 8292 asks: {key, aud, exp, sub}. */
function vapidOf({ headers }) {
    const [, token, key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(headers.authorization);
    const [head, claims, signature] = token.split('.');
    const json = (text) => JSON.parse(Buffer.from(text, 'base64url'));
    const point = Buffer.from(key, 'base64url');
    const jwk = { kty: 'EC', crv: 'P-256', x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)) };
    const valid = verify('sha256', Buffer.from(`${head}.${claims}`), { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
    if (!valid || json(head).alg !== 'ES256') throw new Error('a signature that is not valid');
    return { key, ...json(claims) };
}

/** A push service for one test file: answers 201. */
export class PushService extends Receiver {
    constructor() {
        super((request, response) => response.writeHead(201, { location: '/message/1' }).end());
    }
}
