// kill -9 while passes are made and changed: what was acknowledged is there, and nothing by halves.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok } from './lib/client.js';
import { resident, useWorld, visit } from './lib/world.js';

const CRASHES = 4;
const MAKERS = 6;

describe('passes and kill -9', () => {
    const w = useWorld();
    const { client } = w;

    /** The answer, or nothing if the service ended before it. */
    const tried = (request) => request.catch(() => undefined);

    // PASS-1, PASS-3
    it('has each acknowledged creation and change, and repeats the others as one', async () => {
        const who = await resident(client);
        const post = (body, key) => who.client.post('/v1/passes', body, { headers: { 'Idempotency-Key': key } });
        const asked = []; // {body, key, pass?, label?}: with the answer that was acknowledged, and the label of the last change
        for (let crash = 0; crash < CRASHES; crash++) {
            let stop = false;
            const make = async (maker) => {
                for (let i = 0; !stop; i++) {
                    const label = `${crash}.${maker}.${i}`;
                    const one = { body: { label, windows: [{ days: ['monday'], start: '22:00', end: '06:00' }], timezone: 'UTC', note: label }, key: idempotencyKey(), labels: [label] };
                    asked.push(one);
                    const answer = await tried(post(one.body, one.key));
                    if (!answer) return;
                    one.pass = ok(answer, 201);
                    one.labels.push(`${label} changed`);
                    const changed = await tried(who.client.patch(`/v1/passes/${one.pass.id}`, { label: `${label} changed`, windows: null }, { headers: { 'If-Match': '"0"' } }));
                    if (!changed) return;
                    ok(changed);
                    one.labels.shift();
                }
            };
            const making = Array.from({ length: MAKERS }, (_, maker) => make(maker));
            const before = asked.length;
            while (asked.length < before + 20 + 15 * crash) await new Promise((done) => { setTimeout(done, 1); });
            await w.daemon.crash();
            stop = true;
            await Promise.all(making);
            await w.daemon.start();
        }
        const codes = new Set();
        for (const { body, key, pass, labels } of asked) {
            const answer = await post(body, key);
            const now = ok(answer, pass ? 200 : answer.status);
            if (pass) assert.deepEqual([now.id, now.access_code], [pass.id, pass.access_code]);
            assert.ok(labels.includes(now.label), `${now.label} is none of ${labels}`);
            assert.equal(now.pass.windows.length, now.label === body.label ? 1 : 0, 'a change is whole');
            assert.equal(now.version, now.label === body.label ? 0 : 1);
            codes.add(now.access_code);
        }
        assert.equal(codes.size, asked.length);
        assert.ok(asked.filter(({ pass }) => pass).length >= CRASHES * 10);
        const [{ pass }] = asked.filter((one) => one.pass && one.labels[0].endsWith('changed') && one.labels.length === 1);
        assert.equal((await visit(client, { to: who.number, digits: pass.access_code })).grant_id, pass.id);
    });
});
