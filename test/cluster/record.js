// Clients that note what was acknowledged, and compare it afterwards with what the service has: each create, change and
// revocation is read back; uses = log entries = events.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, idempotencyKey, ok } from '../e2e/lib/client.js';
import { Receiver } from '../e2e/lib/receiver.js';
import { resident } from '../e2e/lib/world.js';
import { longestGap, within } from './cluster.js';
import { Followers } from './followers.js';

const CALLS = '/sandbox/calls';
const CLIENTS = 8;
const ACCOUNTS = 2;
const PAUSE_MS = 50;
const PATIENCE_MS = 30_000; // how long a client waits for a reply
const SETTLE_MS = 120_000;
const DELIVERY_MS = 180_000; // longer than a lease and a repeat

export class Record {
    acknowledged = 0;
    longest = 0; // ms without an answer,
    longestCall = 0; // and of calls
    errors = new Map(); // "status code", or "no reply": count
    writes = []; // times of acknowledged writes
    problems = [];
    #running = true;

    /** Clients that talk to these nodes, names of the cluster's: they have begun when it resolves. */
    static async start(cluster, targets, { readers = 1 } = {}) {
        const record = new Record();
        record.cluster = cluster;
        record.receiver = await Receiver.start(undefined, cluster.address);
        record.people = [];
        for (let i = 0; i < ACCOUNTS; i++) {
            const person = await resident(new Client(undefined, { base: cluster.url('node1') }));
            person.endpoint = ok(await person.client.post('/v1/webhooks', { url: record.receiver.url() }), 201);
            record.people.push(person);
        }
        if (readers) record.followers = await Followers.start(record.people, targets.map((target) => cluster.url(target)), readers);
        record.clients = Array.from({ length: CLIENTS }, (_, i) => {
            const person = record.people[i % ACCOUNTS];
            const target = targets[i % targets.length];
            return { i, target, person, grants: new Map(), open: [], visits: undefined, client: new Client(undefined, { base: cluster.url(target) }).as(person.key) };
        });
        record.loops = record.clients.map((client) => record.#loop(client));
        return record;
    }

    async #loop(c) {
        for (let n = 0; this.#running; n++) {
            await [this.#create, this.#visit, this.#change, this.#visit, this.#revoke][n % 5].call(this, c, n);
            await sleep(PAUSE_MS);
        }
    }

    /** Sends one request. The body of an acknowledged one; undefined for one whose result is unknown. */
    async #send(c, method, target, json, headers = {}, wanted = [200, 201]) {
        const began = Date.now();
        const answer = await c.client.request(method, target, { json, headers: { host: 'localhost', ...headers }, check: false, timeout: PATIENCE_MS }).catch((error) => ({ status: 0, error }));
        const took = Date.now() - began;
        if (this.#running) this.longest = Math.max(this.longest, took);
        if (this.#running && target === CALLS) this.longestCall = Math.max(this.longestCall, took);
        if (wanted.includes(answer.status)) {
            if (this.#running) this.acknowledged++;
            if (method !== 'GET') this.writes.push(Date.now());
            return answer.body ?? {};
        }
        // A call waits for the store for 5 s only, because a visitor stands at the door.
        const kind = answer.status === 503 && target === CALLS ? 'call that could not wait' : answer.status ? `${answer.status} ${answer.body?.error?.code}` : took >= PATIENCE_MS ? 'no reply' : 'broken connection';
        if (this.#running) {
            this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
        }
        if (answer.status && !(answer.status === 503 && answer.headers['retry-after'])) this.problems.push(`${method} ${target}: ${answer.text}`);
        return undefined;
    }

    async #create(c, n, body = { type: 'passcode', label: `${c.i}.${n}`, enabled: false }) {
        const write = { kind: 'create', key: idempotencyKey(), body };
        const made = await this.#send(c, 'POST', '/v1/unlock', body, { 'Idempotency-Key': write.key });
        if (made) c.grants.set(made.id, made);
        else c.open.push(write);
        return made;
    }

    async #change(c, n) {
        const row = [...c.grants.values()].findLast((grant) => !grant.unsure && grant.status !== 'revoked' && grant.id !== c.visits?.id);
        if (!row) return;
        const label = `${c.i}.${n} changed`;
        const changed = await this.#send(c, 'PATCH', `/v1/unlock/${row.id}`, { label }, { 'If-Match': `"${row.version}"` });
        if (changed) c.grants.set(row.id, changed);
        else Object.assign(row, { unsure: true, maybe: { label, version: row.version + 1 } });
    }

    async #revoke(c) {
        const row = [...c.grants.values()].find((grant) => !grant.unsure && grant.status !== 'revoked' && grant.id !== c.visits?.id);
        if (!row || c.grants.size < 5) return;
        const gone = await this.#send(c, 'DELETE', `/v1/unlock/${row.id}`, undefined, {}, [200, 204]);
        if (gone) row.status = 'revoked';
        else Object.assign(row, { unsure: true, maybe: { status: 'revoked' } });
    }

    /** A visitor with this client's passcode. Its result cannot be asked for again, so an unknown one may have happened or not. */
    async #visit(c, n) {
        if (!c.visits || c.visits.taken + c.visits.unknown >= 90) {
            const code = String(1000 + c.i * 1000 + (c.codes = (c.codes ?? 0) + 1)).slice(-4);
            const made = await this.#create(c, n, { type: 'passcode', label: `visits ${c.i}.${n}`, access_code: code, remaining_uses: 100 });
            if (!made) return;
            c.visits = { id: made.id, code, taken: 0, unknown: 0 };
            (c.visited ??= []).push(c.visits);
        }
        const { visits } = c;
        const done = await this.#send(c, 'POST', CALLS, { from: '+15550001111', to: c.person.number, digits: visits.code });
        if (!done) visits.unknown++;
        else if (done.outcome === 'released') visits.taken++;
        else if (done.outcome === 'forwarded' && done.reason === 'error') visits.unknown++;
        else this.problems.push(`a visit at ${c.target}: ${JSON.stringify(done)}`);
    }

    gap(from) { return longestGap(this.writes, from); }

    /** Ends the clients, settles what is open, and compares: {acknowledged, open, lost, doubled, half, …}. delivered: waits
     *  also until each event has arrived, which takes a minute after a failed attempt. */
    async finish({ delivered }) {
        this.#running = false;
        await Promise.all(this.loops);
        const result = { acknowledged: this.acknowledged, open: 0, lost: 0, doubled: 0, half: 0 };
        for (const c of this.clients) await this.#settle(c, result);
        for (const person of this.people) await this.#compare(person, result, delivered);
        result.followed = await this.followers?.finish((person) => this.#newest(person), (person) => this.#created(person));
        for (const c of this.clients) c.client.close();
        await this.receiver.close();
        return { ...result, longest_ms: this.longest, call_ms: this.longestCall, errors: Object.fromEntries(this.errors), problems: this.problems };
    }

    /** The number of the last event of a person's building, as soon as there is a primary again. */
    async #newest(person) {
        const query = `SELECT seq FROM feed_counter WHERE building_id = '${person.building.id}'`;
        return Number(await within(SETTLE_MS, () => this.cluster.sql(query, { quiet: true }), 500));
    }

    /** Ends the clients without a comparison. */
    async abandon() {
        this.#running = false;
        await Promise.all(this.loops);
        await this.followers?.stop();
        for (const c of this.clients) c.client.close();
        await this.receiver.close();
    }

    #created(person) { return this.clients.filter((c) => c.person === person).flatMap((c) => [...c.grants.keys()]); }

    async #settle(c, result) {
        for (const { key, body } of c.open) {
            result.open++;
            const made = await within(SETTLE_MS, () => this.#send(c, 'POST', '/v1/unlock', body, { 'Idempotency-Key': key }), 500);
            if (made) c.grants.set(made.id, made);
            else this.problems.push(`the create ${body.label} could not be repeated`);
        }
    }

    /** All rows of a list that has pages. */
    async #pages(person, path) {
        const rows = [];
        for (let cursor = ''; cursor !== null;) {
            const page = ok(await person.client.get(`${path}limit=100${cursor && `&cursor=${cursor}`}`, { check: false }));
            rows.push(...page.data);
            cursor = page.pagination.cursor;
        }
        return rows;
    }

    #is(row, expected) {
        return ['label', 'version', 'status'].every((member) => expected[member] === undefined || row[member] === expected[member]);
    }

    async #compare(person, result, delivered) {
        const clients = this.clients.filter((c) => c.person === person);
        const stored = await this.#pages(person, '/v1/unlock?');
        const byId = new Map(stored.map((row) => [row.id, row]));
        const visited = clients.flatMap((c) => c.visited ?? []);
        const isVisited = new Set(visited.map(({ id }) => id));
        for (const [id, row] of clients.flatMap((c) => [...c.grants])) {
            const found = byId.get(id) ?? await person.client.get(`/v1/unlock/${id}`, { check: false }).then(({ status, body }) => (status === 200 ? body : undefined));
            const gone = { ...row, status: 'revoked' };
            if (!found) {
                if (row.status !== 'revoked' && row.maybe?.status !== 'revoked') this.#lose(result, 'lost', `${id} is gone: ${JSON.stringify(row)}`);
            } else if (isVisited.has(id)) {
                if (found.label !== row.label) this.#lose(result, 'lost', `${id}: ${JSON.stringify(found)}`);
            } else if (!this.#is(found, row.status === 'revoked' ? { label: row.label, status: 'revoked' } : row)
                && !(row.maybe && this.#is(found, row.maybe.status ? { ...gone, version: undefined } : { ...row, ...row.maybe }))) {
                this.#lose(result, 'lost', `${id} is ${JSON.stringify(found)}, not ${JSON.stringify(row)}`);
            }
        }
        const known = new Set(clients.flatMap((c) => [...c.grants.keys()]));
        for (const row of stored) if (!known.has(row.id)) this.#lose(result, 'doubled', `nobody asked for ${JSON.stringify(row)}`);
        await this.#compareUses(person, visited, result, delivered);
    }

    async #compareUses(person, visited, result, delivered) {
        let uses = 0;
        for (const { id, taken, unknown } of visited) {
            const used = 100 - ok(await person.client.get(`/v1/unlock/${id}`, { check: false })).remaining_uses;
            uses += used;
            if (used < taken) this.#lose(result, 'lost', `${id}: ${taken} doors opened, ${used} uses`);
            if (used > taken + unknown) this.#lose(result, 'doubled', `${id}: ${taken} doors opened and ${unknown} unknown, ${used} uses`);
        }
        const entries = (await this.#pages(person, '/v1/logs?type=unlock&')).filter((entry) => entry.succeeded).length;
        const deliveries = () => this.#pages(person, `/v1/webhooks/${person.endpoint.id}/deliveries?`);
        const events = new Set((await deliveries()).filter(({ type }) => type === 'access.granted').map(({ event_id: id }) => id));
        if (entries !== uses || events.size !== uses) {
            result.half += Math.max(Math.abs(entries - uses), Math.abs(events.size - uses));
            this.problems.push(`${uses} uses, ${entries} log entries, ${events.size} events`);
        }
        const missing = () => {
            const received = new Set(this.receiver.requests.map(({ body }) => body.id));
            return [...events].filter((id) => !received.has(id)).length;
        };
        if (delivered && !await within(DELIVERY_MS, () => missing() === 0, 500)) this.#lose(result, 'lost', `${missing()} events were not delivered in ${DELIVERY_MS / 1000} s`);
    }

    #lose(result, kind, text) {
        result[kind]++;
        this.problems.push(`${kind}: ${text}`);
    }
}
