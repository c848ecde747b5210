// kill -9 while clients write: every acknowledged write is there after the restart, whole and once.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { edit, eventually, resident, useWorld, visit } from './lib/world.js';

const ROUNDS = Number(process.env.PORTERO_E2E_CRASHES ?? 50);
const WRITERS = 8;

describe('kill -9', () => {
    const w = useWorld();
    let person;
    before(async () => {
        person = await resident(w.client);
    });

    /** Writes until the daemon is gone; notes the acknowledged writes, and those without an answer. */
    async function write(round, writer, acknowledged, unanswered) {
        let last;
        for (let n = 0; ; n++) {
            const label = `${round}.${writer}.${n}`;
            const key = idempotencyKey();
            try {
                if (n % 4 === 3) {
                    last = ok(await edit(person, last, { label }));
                } else {
                    last = ok(await person.client.post('/v1/unlock', { type: 'passcode', label, access_code: undefined, enabled: false },
                        { headers: { 'Idempotency-Key': key } }), 201);
                }
                acknowledged.set(last.id, last);
            } catch (error) {
                if (error.code === 'ERR_ASSERTION') throw error;
                unanswered.push({ key, label, create: n % 4 !== 3, id: last?.id });
                return;
            }
        }
    }

    async function stored() {
        const rows = new Map();
        let cursor = '';
        do {
            const page = ok(await person.client.get(`/v1/unlock?limit=100${cursor && `&cursor=${cursor}`}`));
            for (const row of page.data) rows.set(row.id, row);
            cursor = page.pagination.cursor;
        } while (cursor);
        return rows;
    }

    it(`loses no acknowledged write, ${ROUNDS} times in a row`, async () => {
        const everything = new Map();
        let acknowledgedInAll = 0;
        for (let round = 0; round < ROUNDS; round++) {
            const acknowledged = new Map();
            const unanswered = [];
            const writers = Array.from({ length: WRITERS }, (_, writer) => write(round, writer, acknowledged, unanswered));
            await eventually(() => acknowledged.size > (round * 7) % 60, 'acknowledged writes');
            await w.daemon.crash();
            await Promise.all(writers);
            w.client.close();
            w.client = new Client(w.daemon);
            person.client = w.client.as(person.key);
            await w.daemon.start();
            acknowledgedInAll += acknowledged.size;
            // A write without an answer is stored whole or not at all; the same key tells which.
            for (const { key, label, create } of unanswered.filter((u) => u.create)) {
                const answer = await person.client.post('/v1/unlock', { type: 'passcode', label, enabled: false }, { headers: { 'Idempotency-Key': key } });
                assert.ok(answer.status === 201 || answer.status === 200, answer.text);
                acknowledged.set(answer.body.id, answer.body);
                assert.ok(create);
            }
            const maybeEdited = new Map(unanswered.filter((u) => !u.create).map(({ id, label }) => [id, label]));
            for (const [id, row] of acknowledged) {
                const found = ok(await person.client.get(`/v1/unlock/${id}`));
                if (found.label !== row.label) assert.equal(found.label, maybeEdited.get(id), `${id} has another label than was acknowledged`);
                everything.set(id, found);
            }
        }
        assert.ok(acknowledgedInAll > ROUNDS, `only ${acknowledgedInAll} writes were acknowledged in all`);
        const rows = await stored();
        for (const [id, row] of everything) assert.deepEqual(rows.get(id), row);
        assert.equal(rows.size, everything.size, 'nothing is there that nobody asked for');
    });

    it('takes no use of a grant without its log entry, nor the other way round', async () => {
        const made = ok(await person.client.post('/v1/unlock', { type: 'passcode', access_code: '6060', remaining_uses: 100 },
            { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        let released = 0;
        for (let round = 0; round < 5; round++) {
            const callers = Array.from({ length: 4 }, async () => {
                for (;;) {
                    try {
                        if ((await visit(w.client, { to: person.number, digits: '6060' })).outcome === 'released') released++;
                        else return;
                    } catch (error) {
                        if (error.code === 'ERR_ASSERTION') throw error;
                        return;
                    }
                }
            });
            await eventually(() => released > 4 * round, 'opened doors');
            await w.daemon.crash();
            await Promise.all(callers);
            await w.daemon.start();
        }
        const left = ok(await person.client.get(`/v1/unlock/${made.id}`)).remaining_uses;
        let entries = 0;
        let cursor = '';
        do {
            const page = ok(await person.client.get(`/v1/logs?limit=100&unlock_id=${made.id}${cursor && `&cursor=${cursor}`}`));
            entries += page.data.length;
            cursor = page.pagination.cursor;
        } while (cursor);
        assert.equal(100 - left, entries);
        assert.ok(released > 0 && entries >= released, `${entries} entries, ${released} doors opened`);
        assert.equal(ok(await person.client.get('/v1/account')).usage.total_unlocks, entries);
    });
});
