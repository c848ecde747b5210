// Calls while the store cannot be written, or not even be read: the resident's telephone rings, opens, and the record of
// the call follows.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { breakable, FAULTS } from './lib/breakable.js';
import { ok } from './lib/client.js';
import { engine, portero } from './lib/daemon.js';
import { buzz, phonesAt, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { eventually, grant, resident } from './lib/world.js';

const ASKED_MS = 30_000; // until the service knows that the store is away: far less than it stays away
const BACK_MS = 60_000;

describe('a call without the store', () => {
    let port;
    let w;
    let store;
    let neighbour;
    before(async () => {
        port = await freePort();
        store = await breakable(phonesAt(port));
        w = store.w;
        neighbour = await ringing();
    });
    after(async () => {
        store?.mend();
        await store?.close();
    });

    async function ringing() {
        const person = await resident(w.client, { tone: '5' });
        const path = `/v1/buildings/${person.building.id}/settings`;
        const change = async (ring) => {
            const { etag } = (await person.client.get(path)).headers;
            ok(await person.client.patch(path, { ring: { accept: false, ...ring } }, { headers: { 'If-Match': etag } }));
        };
        return { ...person, change };
    }

    /** Calls, the resident opens with 9; the rings that the telephone heard of. */
    async function opened(person) {
        const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--digits', '9', '--hangup', '2000');
        const call = await buzz(w.daemon, person.number);
        assert.deepEqual([call.status, call.tones.includes('5')], [0, true], call.stdout + call.stderr + w.daemon.stderr.slice(-1500));
        await phone.ended;
    }
    const calls = async (person) => ok(await person.client.get('/v1/calls?limit=100')).data;

    for (const name of FAULTS)
        // ACCOUNT-29, CALL-10
        it(`rings and opens ${name}, uses no grant, and is recorded later`, async () => {
            const person = await ringing();
            await person.change({ numbers: ['+15550001234'] });
            await opened(person); // the door is known from now on
            const pass = await grant(person, { type: 'timer', expires_in_minutes: 60, remaining_uses: 5 });
            const had = (await calls(person)).length;
            await neighbour.change({ seconds: 20 + FAULTS.indexOf(name) }); // the doors of others stay known
            store.faults[name]();
            await opened(person);
            store.mend();
            await eventually(async () => (await person.client.get('/v1/calls?limit=100')).status === 200, 'the store', BACK_MS);
            const [last] = await eventually(async () => {
                const list = await calls(person);
                return list.length > had && list[0].ended_at && list;
            }, 'the record', BACK_MS);
            assert.deepEqual([last.outcome, last.resident_opened], ['forwarded', true]);
            const entries = ok(await person.client.get('/v1/logs')).data.filter((entry) => entry.name === 'Forwarded call');
            assert.equal(entries.length, had + 1);
            assert.ok(Math.abs(Date.parse(entries[0].created_at) - Date.parse(last.started_at)) < ASKED_MS, `${entries[0].created_at} ${last.started_at}`);
            assert.equal(ok(await person.client.get(`/v1/unlock/${pass.id}`)).remaining_uses, 5);
        });

    it('rings a door that nobody has called before, as the store can be read', async () => {
        const person = await ringing();
        await person.change({ numbers: ['+15550001234'] });
        store.faults['on a full disk']();
        await opened(person);
        store.mend();
    });

    // CALL-10
    if (engine === 'sqlite') it('rings and opens while the disk hangs, which ends readiness, and is recorded later', async () => {
        const person = await ringing();
        await person.change({ numbers: ['+15550001234'] });
        await opened(person); // the door is known from now on
        store.faults['while the disk hangs']();
        await opened(person);
        const health = portero(['health', '--data', w.daemon.data]);
        assert.equal(health.stdout, 'not ready: the store cannot be written, the disk does not respond\n');
        store.mend();
        const [last] = await eventually(async () => {
            const list = await calls(person);
            return list.length === 2 && list[0].ended_at && list;
        }, 'the record', BACK_MS);
        assert.deepEqual([last.outcome, last.resident_opened], ['forwarded', true]);
        await eventually(() => portero(['health', '--data', w.daemon.data]).status === 0, 'readiness');
    });

    if (engine === 'postgresql') it('does not ring a telephone that was taken out', async () => {
        const person = await ringing();
        await person.change({ numbers: ['+15550001234'] });
        await opened(person);
        await person.change({ numbers: [] });
        store.faults['while the server is gone']();
        const call = await buzz(w.daemon, person.number);
        store.mend();
        assert.equal(call.tones, '');
        assert.match(call.stderr + call.stdout, /503|hangup/);
    });
});
