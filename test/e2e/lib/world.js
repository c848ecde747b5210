// Sets up the start of tests: a daemon, a signed-in account, a subscription, a building, a visitor.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { randomBytes } from 'node:crypto';
import { Client, idempotencyKey, ok } from './client.js';
import { Daemon, nextTry } from './daemon.js';

export const ID = /^[0-9a-f]{24}$/;
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const UNKNOWN_ID = 'f0f0f0f0f0f0f0f0f0f0f0f0';

/** A daemon that has not started yet and a client for it. */
function newWorld(options) {
    const daemon = new Daemon(options);
    return {
        daemon,
        client: new Client(daemon),
        /** Starts the daemon; a daemon that does not start leaves nothing behind. */
        async start() {
            try {
                await daemon.start();
            } catch (error) {
                await this.close().catch(() => {});
                throw error;
            }
        },
        async close() {
            this.client.close();
            await daemon.stop();
        },
    };
}

/** A running daemon and a client for it; `close` ends both. */
export async function world(options) {
    const w = newWorld(options);
    await w.start();
    return w;
}

/** The same for all tests of a describe block: starts before them and ends after them. `options` may be a function, if it
 *  needs the results of earlier before() hooks. */
export function useWorld(options = {}) {
    const late = typeof options === 'function';
    const w = newWorld(late ? {} : options);
    before(async () => {
        if (late) w.daemon.configure(options());
        await w.start();
    });
    after(() => w.close());
    return w;
}

export function freshEmail() {
    return `resident-${randomBytes(8).toString('hex')}@example.com`;
}

/** The newest message to an address. */
export async function message(client, to, channel = 'email') {
    const page = ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(to)}&channel=${channel}&limit=1`));
    assert.equal(page.data.length, 1, `no ${channel} to ${to}`);
    return page.data[0];
}

/** A challenge and the code that was sent for it. */
export async function challenge(client, email, asks = client.as(undefined)) {
    const { challenge: id } = ok(await asks.post('/v1/auth/otp', { email }));
    // The answer waits for jobs of its own node: another node of the store may be sending the mail.
    const sent = await eventually(async () => ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(email)}&channel=email&limit=10`)).data
        .find(({ code }) => code), `an email to ${email}`); // one without a code may have come since
    return { challenge: id, otp: sent.code };
}

/** Signs in: {email, key, client} with the website session's key. */
export async function signIn(client, email = freshEmail()) {
    const sent = await challenge(client, email);
    const { apiKey } = ok(await client.as(undefined).post('/v1/auth/verify', { email, purpose: 'web', ...sent }));
    return { email, key: apiKey, client: client.as(apiKey) };
}

/** An agent key of these scopes, made with the session: {id, key, client}. */
export async function agent(session, scopes, options = {}) {
    const made = ok(await session.client.post('/v1/auth/keys', { scopes, ...options }), 201);
    return { id: made.id, key: made.api_key, client: session.client.as(made.api_key) };
}

export async function setSubscription(client, email, status = 'active') {
    return ok(await client.as(undefined).post('/sandbox/subscriptions', { email, status }));
}

/** Tries until `probe` gives something. */
export async function eventually(probe, what, ms = 60_000) {
    const begun = Date.now();
    for (;;) {
        const found = await probe();
        if (found) return found;
        assert.ok(Date.now() - begun < ms, `never happened: ${what}`);
        await nextTry(begun);
    }
}

/** The newest call of the person's building, once it has ended. */
export function endedCall(person) {
    return eventually(async () => {
        const [call] = ok(await person.client.get('/v1/calls?limit=1')).data;
        return call?.ended_at && ok(await person.client.get(`/v1/calls/${call.id}`));
    }, 'the record of an ended call');
}

/** The building of a signed-in account that has one: its row in the list. */
export async function building(session) {
    return ok(await session.client.get('/v1/buildings')).data[0];
}

/** Subscribes; waits for the virtual number: the building. */
export async function provisioned(session) {
    await setSubscription(session.client, session.email);
    return eventually(async () => {
        const found = await building(session);
        return found.provisioned && found;
    }, 'a virtual number');
}

/** A subscribed account whose building is set up: {…session, building, number, tone}. */
export async function resident(client, { tone = '9' } = {}) {
    const session = await signIn(client);
    const home = await provisioned(session);
    const person = { ...session, building: home, number: home.virtual_number, tone };
    await changeSettings(person, { unlock_tone: tone });
    return person;
}

/** PATCHes the settings of the building at their present version: the answer's body. */
export async function changeSettings({ client, building: { id } }, body) {
    const path = `/v1/buildings/${id}/settings`;
    const { version } = ok(await client.get(path));
    return ok(await client.patch(path, body, { headers: { 'If-Match': version } }));
}

/** Creates a grant: the answer's body. */
export async function grant(session, body, headers = {}) {
    return ok(await session.client.post('/v1/unlock', body, { headers: { 'Idempotency-Key': idempotencyKey(), ...headers } }), 201);
}

/** PATCHes a grant at a version. */
export function edit(session, { id, version }, body) {
    return session.client.patch(`/v1/unlock/${id}`, body, { headers: { 'If-Match': `"${version}"` } });
}

/** A visitor's call, without media. */
export async function visit(client, call) {
    return ok(await client.as(undefined).post('/sandbox/calls', { from: '+15550001111', ...call }));
}

/** Moves the service's clock: the new {now, offset_seconds}. */
export async function advance(client, seconds) {
    return ok(await client.as(undefined).post('/sandbox/clock', { advance_seconds: seconds }));
}

/** The service's own time, in milliseconds. */
export async function now(client) {
    return Date.parse(ok(await client.as(undefined).get('/sandbox/clock')).now);
}

/** Leaves the end of the UTC day behind: its last minute is in no routine's window. */
export async function passMidnight(client) {
    const left = DAY - await now(client) % DAY;
    if (left < 3 * MINUTE) await advance(client, Math.ceil(left / 1000));
}

/** Whether a text, or an answer as JSON, tells a code: IDs, times and telephone numbers may have its digits by chance. */
export function tellsCode(told, code) {
    const text = typeof told === 'string' ? told : JSON.stringify(told);
    return text.replace(/[0-9a-f]{24}|\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\+\d{7,}|"at_ms":\d+/g, '').includes(code);
}

export const iso = (ms) => new Date(ms).toISOString();
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
