// The record of calls over SIP: the keys' way, the caller who hangs up, a kill and a stop in the middle of a call.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { BOX, buzz, QUICK, startBuzz } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { endedCall as ended, eventually, grant, resident, tellsCode, world } from './lib/world.js';

/** A service that has its address again after a restart: by that a node knows that its calls are of a process that has ended. */
const staying = async (config) => world({ args: ['--https', `127.0.0.1:${await freePort()}`, '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0'], config });

const names = (call) => call.steps.map((step) => step.step);

describe('the record of a call over SIP', { concurrency: 4 }, () => {
    let w;
    let client;
    before(async () => {
        w = await world({ config: QUICK });
        client = w.client;
    });
    after(() => w?.close());
    const withCode = async () => {
        const person = await resident(client);
        return { ...person, made: await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' }) };
    };

    for (const [way, options] of [['event', []], ['tone', ['--inband']], ['info', ['--info']]]) {
        it(`tells that keys came as ${way}, and no digit`, async () => {
            const person = await withCode();
            const call = await buzz(w.daemon, person.number, '--digits', '1234', ...options);
            assert.equal(call.tones, person.tone, call.stdout + call.stderr);
            const record = await ended(person);
            assert.match(record.source, /^udp:127\.0\.0\.1:\d+$/);
            assert.deepEqual([record.front_end, record.dialled, record.caller, record.outcome, record.reason, record.grant_id, record.ended_by],
                ['sip', person.number, BOX, 'released', 'passcode', person.made.id, 'service']);
            assert.deepEqual(record.steps.filter((step) => step.step === 'key').map((step) => step.detail), Array(4).fill(way));
            assert.deepEqual(names(record).filter((step) => step !== 'key'), ['arrived', 'asked_code', 'answered', 'released', 'tone_sent', 'ended']);
            assert.ok(!tellsCode(record.steps, '1234'));
        });
    }

    // CALL-17
    it('exists for a caller who hangs up before a code, which the activity log does not show', async () => {
        const person = await withCode();
        const call = await buzz(w.daemon, person.number, '--timeout', '4');
        assert.equal(call.tones, '');
        const record = await ended(person);
        assert.deepEqual([record.outcome, record.reason, record.ended_by], ['none', 'no_code', 'caller']);
        assert.deepEqual(ok(await person.client.get('/v1/logs')).data, []);
    });
});

describe('a release is in the record', { concurrency: 2 }, () => {
    /** A call that hears its greeting for seconds after the decision. */
    async function during(act) {
        const w = await staying({ greetings: { welcome: '', granted: 'Welcome.', denied: '', forwarding: '' }, voice: { tone_ms: 2000 } });
        try {
            const person = await resident(w.client, { tone: '999' });
            await grant(person, { type: 'timer', expires_in_minutes: 60, label: 'Party' });
            const call = startBuzz(w.daemon, person.number, '--timeout', '20');
            await call.answered;
            await act(w, person);
            await call.ended;
        } finally {
            await w.close();
        }
    }

    // CALL-21
    it('also when the service is killed in the call: it is ended after the restart', () => during(async (w, person) => {
        await w.daemon.crash();
        w.client.close();
        await w.daemon.start();
        const record = await ended(person);
        assert.deepEqual([record.outcome, record.reason, record.ended_by], ['released', 'timer', 'restarted']);
        assert.deepEqual(record.steps, []);
        assert.ok(record.duration_ms >= 0 && record.duration_ms <= 600_000);
        assert.equal(ok(await person.client.get('/v1/logs')).data.length, 1);
    }));

    it('also when the service is stopped in the call: with its end', () => during(async (w, person) => {
        await w.daemon.terminate();
        await w.daemon.start();
        const record = await ended(person);
        assert.equal(record.outcome, 'released');
        assert.ok(['service', 'stop', 'caller'].includes(record.ended_by), record.ended_by);
        assert.equal(names(record).at(-1), 'ended');
    }));
});

describe('the visit of a call that the service did not survive', () => {
    const newest = async (person) => ok(await person.client.get('/v1/visits?limit=1')).data[0];

    // CALL-21
    it('is ended after the restart', async () => {
        const w = await staying(QUICK);
        try {
            const person = await resident(w.client);
            await grant(person, { type: 'passcode', access_code: '1234', label: 'Postman' });
            const call = startBuzz(w.daemon, person.number, '--digits', '9999', '--timeout', '20');
            const begun = await eventually(async () => newest(person), 'a visit in progress');
            assert.deepEqual([begun.outcome, begun.ended_at, begun.reason.code], ['in_progress', null, 'wrong_code']);
            await w.daemon.crash();
            w.client.close();
            await w.daemon.start();
            const ended = await eventually(async () => (await newest(person)).ended_at && newest(person), 'its end');
            assert.deepEqual([ended.id, ended.outcome, ended.reason.code], [begun.id, 'refused', 'wrong_code']);
            await call.ended;
        } finally {
            await w.close();
        }
    });
});
