// An upgrade and its undoing under load: the earlier program (REVISION, built by scripts/earlier) and this one on one
// PostgreSQL database at the same time, on one SQLite store in turn. Clients have their own record of what was
// acknowledged. A client whose connection ends repeats the request under the same key, on the other node if there is one.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, idempotencyKey, ok } from '../lib/client.js';
import { Daemon, binary, engine, portero, root, temporaryDirectory } from '../lib/daemon.js';
import { REACHABLE, useReceiver } from '../lib/receiver.js';
import { createDatabase, sql } from '../lib/store.js';
import { challenge, eventually, grant, resident, signIn } from '../lib/world.js';

const EARLIER = join(root, 'build/earlier/portero');
const CLIENTS = 6;
const SOME = 40; // acknowledged requests
const ANSWER_MS = 60_000;

/** A test of the engine that its nodes need: the run on the other engine does not have it. */
const itOn = (name, ...test) => name === engine && it(...test);

/** Requests of several clients, and the record of their answers. */
class Load {
    constructor(nodes) {
        this.nodes = nodes;
        this.clients = new Map(nodes.map((node) => [node, new Client(node, { check: false })]));
        this.acknowledged = new Map(); // grant: the labels that it may have
        this.releases = 0;
        this.answers = 0;
        this.faults = [];
        this.stopping = false;
    }

    async begin() {
        this.person = await resident(this.clients.get(this.nodes[0]));
        this.door = await grant(this.person, { type: 'passcode', access_code: '4711' });
        this.running = Array.from({ length: CLIENTS }, (_, i) => this.run(i));
    }

    /** The answer of any node that gives one. A node that ends closes its connections. */
    async ask(i, method, target, json, headers = {}) {
        const until = Date.now() + ANSWER_MS;
        for (let turn = i, tries = 1; ; turn++, tries++) {
            const client = this.clients.get(this.nodes[turn % this.nodes.length]);
            try {
                const answer = await client.as(this.person.key).request(method, target, { json, headers });
                this.answers++;
                if (answer.status >= 500) this.faults.push(`${method} ${target}: ${answer.status} ${answer.text}`);
                return { ...answer, tries };
            } catch (error) {
                assert.ok(Date.now() < until, `${method} ${target}: ${error}`);
                await new Promise((done) => { setTimeout(done, 20); });
            }
        }
    }

    async run(i) {
        for (let n = 0; !this.stopping; n++) {
            const label = `${i}.${n}`;
            const made = await this.ask(i, 'POST', '/v1/unlock', { type: 'passcode', label, enabled: false }, { 'Idempotency-Key': idempotencyKey() });
            if (made.status >= 500) continue;
            assert.ok(made.status === 201 || (made.status === 200 && made.tries > 1), made.text);
            const { id, version } = made.body;
            this.acknowledged.set(id, [label]);
            const edited = await this.ask(i, 'PATCH', `/v1/unlock/${id}`, { label: `${label} edited` }, { 'If-Match': `"${version}"` });
            if (edited.status === 200) this.acknowledged.set(id, [`${label} edited`]);
            else {
                assert.ok(edited.status >= 500 || edited.tries > 1, edited.text); // 412: the one without an answer was done
                this.acknowledged.get(id).push(`${label} edited`);
            }
            const call = await this.ask(i, 'POST', '/sandbox/calls', { to: this.person.number, from: '+15550001111', digits: '4711' });
            if (call.status === 200) {
                assert.equal(call.body.outcome, 'released', call.text);
                this.releases++;
            }
            const read = await this.ask(i, 'GET', `/v1/unlock/${id}`);
            if (read.status < 500) assert.ok(this.acknowledged.get(id).includes(read.body.label), read.text);
        }
    }

    /** Waits until this many more requests were answered. */
    async more(count = SOME) {
        const until = this.answers + count;
        await Promise.race([eventually(() => this.answers >= until, 'answers'), ...this.running]);
    }

    async end() {
        this.stopping = true;
        await Promise.all(this.running);
        assert.deepEqual(this.faults, []);
    }

    async pages(target) {
        const rows = [];
        let cursor = '';
        do {
            const page = ok(await this.ask(0, 'GET', `${target}${cursor && `&cursor=${cursor}`}`));
            rows.push(...page.data);
            cursor = page.pagination.cursor;
        } while (cursor);
        return rows;
    }

    /** Everything that was acknowledged is there, and nothing else; each use has its entry in the log. */
    async check() {
        const stored = new Map((await this.pages('/v1/unlock?limit=100')).map((row) => [row.id, row]));
        for (const [id, labels] of this.acknowledged) assert.ok(labels.includes(stored.get(id)?.label), `${id}: ${labels}, stored ${stored.get(id)?.label}`);
        assert.equal(stored.size, this.acknowledged.size + 1);
        const uses = ok(await this.ask(0, 'GET', '/v1/account')).usage.total_unlocks;
        assert.equal((await this.pages(`/v1/logs?limit=100&unlock_id=${this.door.id}`)).length, uses);
        assert.ok(this.releases > 0 && uses >= this.releases, `${uses} uses, ${this.releases} releases`);
    }

    close() {
        for (const client of this.clients.values()) client.close();
    }
}

describe('an upgrade', () => {
    const secrets = { master_key: randomBytes(32).toString('hex') };
    let directory;
    const nodes = [];
    let load;
    const receiver = useReceiver();

    const node = (name, config = {}) => {
        const made = join(directory, name);
        mkdirSync(made);
        const newer = { http: { drain_s: undefined }, limits: { guest_per_ip: undefined, otp_per_email: undefined, oauth_per_ip: undefined } }; // the earlier program does not have these keys
        nodes.push(new Daemon({ directory: made, config: { ...newer, ...REACHABLE, secrets, ...config }, program: EARLIER }));
        return nodes.at(-1);
    };
    const version = (one) => Number(sql(one, 'SELECT max(version) FROM schema_version'));

    /** Stops a node and starts it with this program; its log has no error. */
    async function replace(one, program, end = 'terminate') {
        const ended = await one[end]();
        if (end === 'terminate') assert.deepEqual(ended, { code: 0, signal: null }, one.stderr.slice(-4000));
        one.program = program;
        await one.start();
        await load.more();
    }

    before(() => {
        assert.ok(existsSync(EARLIER), 'build/earlier/portero is not built: scripts/earlier');
        directory = temporaryDirectory();
    });
    after(async () => {
        load?.close();
        await Promise.all(nodes.map((one) => one.running() && one.terminate()));
        rmSync(directory, { recursive: true, force: true });
    });

    itOn('postgresql', 'of one node after the other, and back, answers no request with a 5xx', async () => {
        const store = { engine: 'postgresql', dsn: createDatabase(), workers: 4 };
        const [first, second] = [node('first', { store }), node('second', { store })];
        first.dsn = store.dsn;
        await first.start();
        await second.start();
        const before = version(first);
        load = new Load([first, second]);
        await load.begin();
        await load.more();

        const done = portero(['migrate', '--config', second.configPath, '--data', second.data]);
        assert.equal(done.status, 0, done.stderr);
        assert.ok(version(first) > before, `both programs have schema ${before}: set REVISION to an earlier commit`);
        await load.more();
        await replace(second, binary);
        const door = await makePasses(second);
        assert.equal(await door.ring(), 'released');
        assert.equal(await door.ring(load.clients.get(first)), 'forwarded', 'the earlier program opens by no pass');
        assert.deepEqual(await door.listOn(first), []);
        await makeEndpoint(second);
        for (let attempts = 1; attempts < 3; attempts++) {
            await eventually(() => Number(sql(first, `SELECT max(attempts) FROM delivery WHERE status = 'pending'`)) === attempts, 'the record of an attempt');
            ok(await load.clients.get(second).post('/sandbox/clock', { advance_seconds: 45 }));
            await receiver.count(attempts + 1);
        }
        await eventually(() => sql(first, 'SELECT status, attempts FROM delivery').trim() === 'failed|3', 'the end of the delivery');
        assert.deepEqual(receiver.requests.map(({ headers }) => headers['x-service-event']), Array(3).fill('unlock.revoked'), 'all were sent by this program');
        await replace(first, EARLIER, 'crash');
        await replace(second, EARLIER);
        assert.equal(await door.ring(), 'forwarded', 'the earlier program opens by no pass');
        await replace(second, binary);
        assert.deepEqual(await door.list(), ['Open', 'Sister']);
        assert.equal(await door.ring(), 'released');
        await replace(first, binary);
        assert.deepEqual(await door.listOn(first), ['Open', 'Sister']);
        await load.end();
        await load.check();
    });

    /** Keys that only this program makes: of an account of the earlier revision, an owner's and one of its own scope. */
    async function makeKeys(one) {
        const client = load.clients.get(one);
        const session = await signIn(client);
        const done = portero(['admin', 'account', 'compat', session.email, '--revision', 'earlier', '--config', one.configPath, '--data', one.data]);
        assert.equal(done.status, 0, done.stderr);
        const { apiKey } = ok(await client.post('/v1/auth/verify', { email: session.email, ...await challenge(client, session.email) }));
        const scopes = ['account:read', 'webhooks:write'];
        const robot = ok(await session.client.request('POST', '/v1/auth/keys', { json: { scopes } }), 201);
        return { session, owner: client.as(apiKey), robot: client.as(robot.api_key) };
    }
    /** An endpoint of the earlier revision, which only this program knows, and whose first delivery has failed. */
    async function makeEndpoint(one) {
        const client = load.clients.get(one);
        const person = await resident(client);
        const done = portero(['admin', 'account', 'compat', person.email, '--revision', 'earlier', '--config', one.configPath, '--data', one.data]);
        assert.equal(done.status, 0, done.stderr);
        const ask = (method, path, json, headers) => person.client.request(method, path, { json, headers });
        receiver.answer = (request, response) => response.writeHead(503).end();
        ok(await ask('POST', '/v1/webhooks', { url: receiver.url(), events: ['unlock.revoked'] }), 201);
        const { id } = ok(await ask('POST', '/v1/unlock', { type: 'passcode' }, { 'Idempotency-Key': idempotencyKey() }), 201);
        ok(await ask('DELETE', `/v1/unlock/${id}`));
        await receiver.first((request) => request.body.event === 'unlock.revoked');
        return person;
    }
    /** A door with two passes, one of which opens without a code: the earlier program does not know them. */
    async function makePasses(one) {
        const client = load.clients.get(one);
        const host = await resident(client);
        const ask = (method, path, json, headers) => host.client.request(method, path, { json, headers });
        const make = async (body) => ok(await ask('POST', '/v1/passes', body, { 'Idempotency-Key': idempotencyKey() }), 201);
        const passes = [await make({ label: 'Sister', access_code: '24680' }), await make({ label: 'Open', code: false, enabled: false })];
        const ring = async (via = client) => ok(await via.post('/sandbox/calls', { to: host.number, from: '+15550001111', digits: '24680' })).outcome;
        const open = async () => ok(await ask('PATCH', `/v1/passes/${passes[1].id}`, { enabled: true }, { 'If-Match': '"0"' }));
        const listOn = async (other) => ok(await load.clients.get(other).as(host.key).request('GET', '/v1/unlock')).data.map(({ label }) => label);
        return { ring, open, listOn, list: async () => ok(await ask('GET', '/v1/unlock')).data.map(({ label }) => label) };
    }
    const scopesOf = async (client) => ok(await client.request('GET', '/v1/account')).capabilities.scopes;
    const CURRENT = ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write', 'billing:write', 'buildings:write'];

    itOn('sqlite', 'of the only node, and back, loses nothing', async () => {
        const only = node('only');
        await only.start();
        const before = version(only);
        load = new Load([only]);
        await load.begin();
        await load.more();
        await replace(only, binary);
        assert.ok(version(only) > before, `both programs have schema ${before}: set REVISION to an earlier commit`);
        const keys = await makeKeys(only);
        const person = await makeEndpoint(only);
        const door = await makePasses(only);
        assert.equal(await door.ring(), 'released');
        await door.open();
        await replace(only, EARLIER);
        assert.deepEqual(await door.list(), []);
        assert.equal(await door.ring(), 'forwarded', 'the earlier program opens by no pass');
        assert.deepEqual(await scopesOf(keys.owner), CURRENT);
        assert.deepEqual(await scopesOf(keys.robot), ['account:read']);
        assert.equal(ok(await keys.session.client.request('GET', '/v1/auth/keys')).data.length, 3);
        const sent = receiver.requests.length;
        ok(await load.clients.get(only).post('/sandbox/clock', { advance_seconds: 3600 }));
        assert.deepEqual(ok(await person.client.request('GET', '/v1/webhooks')).data, []);
        assert.equal(receiver.requests.length, sent, 'the earlier program does not deliver in another form');
        receiver.answer = undefined;
        await replace(only, EARLIER, 'crash');
        await replace(only, binary);
        assert.deepEqual(await door.list(), ['Open', 'Sister']);
        assert.equal(await door.ring(), 'released');
        await eventually(() => receiver.requests.length > sent, 'the delivery');
        assert.equal(receiver.requests.at(-1).headers['x-service-delivery-id'], receiver.requests[0].body.eventId);
        assert.deepEqual(await scopesOf(keys.owner), [...CURRENT, 'webhooks:write', 'owner']);
        assert.deepEqual(await scopesOf(keys.robot), ['account:read', 'webhooks:write']);
        await load.end();
        await load.check();
    });
});
