// The stream of a building's events: what it tells, in which order, how it is resumed, and when it ends.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { engine } from './lib/daemon.js';
import { joined } from './lib/nodes.js';
import { Stream } from './lib/stream.js';
import { agent, edit, eventually, grant, resident, setSubscription, signIn, tellsCode, TIMESTAMP, UNKNOWN_ID, useWorld, visit, world } from './lib/world.js';

const types = (events) => events.map((event) => event.type);

/** The numbers ascend by one, in `id` and in `seq`. */
function gapless(events, after = Number(events[0].id) - 1) {
    assert.deepEqual(events.map((event) => Number(event.id)), events.map((_, i) => after + 1 + i));
    assert.deepEqual(events.map((event) => event.data.seq), events.map((event) => Number(event.id)));
}

describe('the events of a building', () => {
    const w = useWorld();
    const { client } = w;
    let person;
    before(async () => { person = await resident(client); });

    const open = (options, who = person) => Stream.open(who.client, who.building?.id ?? person.building.id, options);

    // LOG-11
    it('tell a call step by step, and what the resident changes', async () => {
        const stream = await open();
        assert.equal(stream.status, 200);
        assert.match(stream.headers['content-type'], /^text\/event-stream/);
        assert.equal(stream.headers['cache-control'], 'no-store');
        assert.equal(stream.headers['x-accel-buffering'], 'no');
        const made = await grant(person, { type: 'passcode', access_code: '1357', label: 'Cleaner' });
        const { call_id } = await visit(client, { to: person.number, digits: '1357' });
        ok(await edit(person, made, { label: 'Cleaning' }));
        ok(await person.client.delete(`/v1/unlock/${made.id}`));
        await stream.type('grant.revoked');
        const { events } = stream;
        gapless(events);
        assert.deepEqual(types(events).filter((type) => type !== 'call.greeting'),
            ['grant.created', 'call.ring', 'call.released', 'call.ended', 'grant.changed', 'grant.revoked']);
        for (const { type, data } of events) {
            assert.equal(data.type, type);
            assert.match(data.at, TIMESTAMP);
            assert.ok(!type.startsWith('call.') || data.call_id === call_id);
        }
        for (const [type, version] of [['grant.created', made.version], ['grant.changed', made.version + 1], ['grant.revoked', null]]) {
            const { data } = await stream.type(type);
            assert.deepEqual([data.unlock_id, data.version], [made.id, version]);
        }
        const released = (await stream.type('call.released')).data;
        assert.deepEqual([released.reason, released.unlock_id, released.label], ['passcode', made.id, 'Cleaner']);
        assert.equal((await stream.type('call.ring')).data.caller, '+15550001111');
        assert.deepEqual([(await stream.type('call.ended')).data.outcome, (await stream.type('call.ended')).data.ended_by], ['released', 'service']);
        assert.ok(!tellsCode(events, '1357'));
        ok(await person.client.get(`/v1/calls/${call_id}`));
        stream.cut();
    });

    // LOG-11
    it('tell a wrong code without its digits, who was rung, and that the resident opened', async () => {
        const path = `/v1/buildings/${person.building.id}/settings`;
        const settings = await person.client.get(path);
        ok(await person.client.patch(path, { ring: { numbers: ['+15551110001'] } }, { headers: { 'If-Match': settings.headers.etag } }));
        const stream = await open();
        await grant(person, { type: 'passcode', access_code: '2468' });
        await visit(client, { to: person.number, digits: '9753', resident: 'opened' });
        await stream.type('call.ended');
        const told = types(stream.events);
        for (const type of ['call.ring', 'call.code_wrong', 'call.forwarded', 'call.ringing', 'call.opened']) assert.ok(told.includes(type), `${type}: ${told}`);
        assert.ok(!tellsCode(stream.events, '9753'));
        assert.equal((await stream.type('call.forwarded')).data.reason, 'wrong_code');
        stream.cut();
    });

    it('tell that settings were changed', async () => {
        const stream = await open();
        const path = `/v1/buildings/${person.building.id}/settings`;
        const settings = await person.client.get(path);
        ok(await person.client.patch(path, { unlock_tone: '5' }, { headers: { 'If-Match': settings.headers.etag } }));
        await stream.type('settings.changed');
        stream.cut();
    });

    it('resume after the last event that the client has, by field or parameter', async () => {
        const first = await open();
        await grant(person, { type: 'timer', expires_in_minutes: 5 });
        const [{ id }] = await first.read(1);
        first.cut();
        for (let i = 0; i < 3; i++) await grant(person, { type: 'timer', expires_in_minutes: 5 });
        for (const options of [{ headers: { 'Last-Event-ID': id } }, { query: `?after=${id}` }, { headers: { 'Last-Event-ID': id }, query: '?after=0' }]) {
            const again = await open(options);
            gapless(await again.read(3), Number(id));
            again.cut();
        }
        refused(await person.client.get(`/v1/buildings/${person.building.id}/events?after=x`), 400, 'INVALID_CURSOR');
    });

    // LOG-9
    it('lose and double nothing while the connection is cut again and again', async () => {
        const CUTS = 60;
        const probe = await open();
        await grant(person, { type: 'timer', expires_in_minutes: 5 });
        let [{ id: last }] = await probe.read(1);
        probe.cut();
        const begun = Number(last), seen = [];
        let writing = true, written = 0;
        const writer = (async () => {
            while (writing) {
                await grant(person, { type: 'timer', expires_in_minutes: 5 });
                written++;
            }
        })();
        for (let i = 0; i < CUTS; i++) {
            const stream = await open({ headers: { 'Last-Event-ID': last } });
            assert.equal(stream.status, 200, stream.text);
            await stream.read(1);
            stream.cut();
            seen.push(...stream.events);
            last = stream.last;
        }
        writing = false;
        await writer;
        const rest = await open({ headers: { 'Last-Event-ID': last } });
        await rest.until(() => seen.length + rest.events.length >= written, 'the last events');
        rest.cut();
        seen.push(...rest.events);
        assert.equal(seen.length, written);
        gapless(seen, begun);
    });

    // LOG-10
    it('come to a client that is as far behind as it can be, however long they are', async () => {
        const CALLS = 66, EVENTS = 3 * CALLS; // almost the 200 that are sent again
        const visited = await resident(client);
        await grant(visited, { type: 'timer', label: '\u{1f600}'.repeat(120), expires_in_minutes: 600 });
        const first = await open({}, visited);
        await first.until(() => first.last, 'its position');
        const { last } = first;
        for (let i = 0; i < CALLS; i++) await visit(client, { to: visited.number });
        await first.read(EVENTS);
        first.cut();
        const again = await open({ headers: { 'Last-Event-ID': last } }, visited);
        gapless(await again.read(EVENTS), Number(last));
        assert.ok(Buffer.byteLength(JSON.stringify(again.events)) > 65536, 'more than fits at once');
        again.cut();
    });

    // LOG-10
    it('begin with reset for a position that is unknown, too far back, or no number', async () => {
        const stream = await open();
        await grant(person, { type: 'timer', expires_in_minutes: 5 });
        const newest = Number((await stream.read(1))[0].id);
        stream.cut();
        for (const id of [String(newest + 1), 'x', '-1', '99999999999999999999']) {
            const again = await open({ headers: { 'Last-Event-ID': id } });
            const [event] = await again.read(1);
            assert.deepEqual([event.type, event.id], ['reset', String(newest)], id);
            again.cut();
        }
    });

    it('tell as many releases, refusals and forwarded calls as the log has entries', async () => {
        const other = await resident(client);
        const stream = await Stream.open(other.client, other.building.id);
        await grant(other, { type: 'passcode', access_code: '1122' });
        const calls = [{ digits: '1122' }, { digits: '3344' }, {}, { digits: '5566', answer_forward: false }];
        await Promise.all([...calls, ...calls].map((call) => visit(client, { to: other.number, ...call })));
        await stream.until(() => stream.events.filter((event) => event.type === 'call.ended').length === 2 * calls.length, 'the end of all calls');
        gapless(stream.events);
        const log = ok(await other.client.get('/v1/logs?limit=100')).data;
        const count = (type) => stream.events.filter((event) => event.type === type).length;
        assert.equal(count('call.released'), log.filter((entry) => entry.type === 'unlock' && entry.succeeded).length);
        assert.equal(count('call.code_wrong'), log.filter((entry) => entry.type === 'unlock' && !entry.succeeded).length);
        assert.equal(count('call.forwarded'), log.filter((entry) => entry.type === 'call').length);
        assert.equal(count('call.ring'), 2 * calls.length);
        stream.cut();
    });

    it('are only for keys that may read the building', async () => {
        const path = `/v1/buildings/${person.building.id}/events`;
        const stranger = await signIn(client);
        refused(await client.get(path), 401, 'AUTH_REQUIRED');
        refused(await stranger.client.get(path), 404, 'BUILDING_NOT_FOUND');
        refused(await person.client.get(`/v1/buildings/${UNKNOWN_ID}/events`), 404, 'BUILDING_NOT_FOUND');
        refused(await (await agent(person, ['access:read'])).client.get(path), 403, 'INSUFFICIENT_SCOPE');
        const answer = await person.client.head(path);
        assert.equal(answer.status, 200);
        assert.match(answer.headers['content-type'], /^text\/event-stream/);
    });

    // LOG-14
    it('are at most 25 streams of a key', async () => {
        const key = await agent(person, ['logs:read']);
        const streams = [];
        for (let i = 0; i < 25; i++) streams.push(await open({}, { client: key.client }));
        assert.deepEqual([...new Set(streams.map((stream) => stream.status))], [200]);
        const path = `/v1/buildings/${person.building.id}/events`;
        const answer = await key.client.get(path);
        refused(answer, 429, 'RATE_LIMIT_EXCEEDED');
        assert.ok(Number(answer.headers['retry-after']) > 0);
        streams.pop().cut();
        await eventually(async () => (await key.client.head(path)).status === 200, 'room for another stream');
        for (const stream of streams) stream.cut();
    });

    it('are at most 25 streams of a key also when it asks for them all at once', async () => {
        const key = await agent(person, ['logs:read']);
        const streams = await Promise.all(Array.from({ length: 100 }, () => open({}, { client: key.client })));
        for (const stream of streams) await stream.until(() => stream.status === 429 || stream.ended || stream.last !== undefined, 'a beginning or an end');
        assert.equal(streams.filter(({ status, last }) => status === 200 && last !== undefined).length, 25);
        for (const stream of streams) stream.cut();
    });

    // LOG-16
    it('end when the key is revoked, expires, or loses the subscription, and others go on', async () => {
        const other = await resident(client);
        const kept = await Stream.open(other.client, other.building.id);
        const key = await agent(other, ['logs:read']);
        const revoked = await Stream.open(key.client, other.building.id);
        ok(await other.client.delete(`/v1/auth/keys/${key.id}`));
        await revoked.end();
        assert.equal(kept.ended, false);
        await setSubscription(client, other.email, 'canceled');
        await kept.end();
    });
});

describe('a stream of events', () => {
    it('ends when the service stops, with a time to come back, and does not delay the stop', async () => {
        const w = await world();
        try {
            const person = await resident(w.client);
            const streams = await Promise.all(Array.from({ length: 5 }, () => Stream.open(person.client, person.building.id)));
            const stopped = w.daemon.terminate();
            await Promise.all(streams.map((stream) => stream.end()));
            for (const stream of streams) assert.ok(stream.retry > 0 && stream.retry < 10_000);
            assert.equal((await stopped).code, 0);
        } finally {
            await w.close();
        }
    });
});

if (engine === 'postgresql') {
    describe('events on two nodes', () => {
        // LOG-13
        it('reach readers at the other node, also after it was killed', async () => {
            const w = await world();
            try {
                const person = await resident(w.client);
                let node = await joined(w);
                let stream = await Stream.open(node.client.as(person.key), person.building.id);
                const begun = Number((await stream.until(() => stream.last, 'a position')).last);
                const seen = [];
                for (let i = 1; i <= 6; i++) {
                    await visit(w.client, { to: person.number });
                    await stream.type('call.ended');
                    if (i % 2) continue;
                    node.daemon.process.kill('SIGKILL');
                    await stream.end();
                    await node.daemon.exited();
                    seen.push(...stream.events);
                    const last = stream.last;
                    await visit(w.client, { to: person.number });
                    await node.close();
                    node = await joined(w);
                    stream = await Stream.open(node.client.as(person.key), person.building.id, { headers: { 'Last-Event-ID': last } });
                    await stream.type('call.ended');
                }
                seen.push(...stream.events);
                gapless(seen, begun);
                stream.cut();
                await node.close();
            } finally {
                await w.close();
            }
        });
    });
}
