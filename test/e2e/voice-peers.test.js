// Calls from independent telephones: sipp and baresip.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { address, Baresip, QUICK, sipp } from './lib/phone.js';
import { eventually, grant, resident, world } from './lib/world.js';

describe('foreign telephones', () => {
    let w;
    before(async () => {
        w = await world({ config: QUICK });
    });
    after(() => w?.close());

    const log = async (person) => ok(await person.client.get('/v1/logs?limit=100')).data;
    const withCode = async (tone, more) => {
        const person = await resident(w.client, { tone });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor', ...more });
        return person;
    };
    const released = async (person, n = 1) => eventually(async () =>
        (await log(person)).filter((entry) => entry.type === 'unlock' && entry.succeeded).length === n, 'the log entry');

    describe('sipp', { concurrency: 3 }, () => {
        for (const transport of ['u1', 't1']) {
            const name = transport === 'u1' ? 'UDP' : 'TCP';
            it(`presses a code as RFC 4733 of payload type 96, over ${name}`, async () => {
                const person = await withCode('9');
                await sipp(w.daemon, 'events', person.number, { transport, keys: { digits: '1234' } });
                await released(person);
            });

            it(`presses a code as SIP INFO without offering events, over ${name}`, async () => {
                const person = await withCode('9');
                await sipp(w.daemon, 'info', person.number, { transport });
                await released(person);
            });
        }

        it('gets 404 for an unknown number', async () => {
            await sipp(w.daemon, 'unknown', '+15550198767');
        });

        it('may cancel', async () => {
            const person = await withCode('9');
            await sipp(w.daemon, 'cancel', person.number, { calls: 5 });
            assert.equal((await log(person)).filter((entry) => entry.type === 'unlock').length, 0);
        });

        it('may hold and resume', async () => {
            await sipp(w.daemon, 'hold', (await withCode('9')).number);
        });

        it('is refused malformed messages, and the service continues', async () => {
            const person = await withCode('9');
            await sipp(w.daemon, 'malformed', person.number);
            await sipp(w.daemon, 'events', person.number, { keys: { digits: '1234' } });
            await released(person);
        });

        it('may place twenty calls at once, and use up a grant of twenty uses', async () => {
            const person = await withCode('9', { remaining_uses: 20 });
            await sipp(w.daemon, 'events', person.number, { calls: 20, keys: { digits: '1234' }, extra: ['-r', '20', '-l', '20'] });
            await released(person, 20);
            assert.equal(ok(await person.client.get('/v1/unlock')).data[0].status, 'exhausted');
        });
    });

    describe('baresip', () => {
        let phone;
        before(async () => {
            phone = await Baresip.start();
        });
        after(() => phone?.stop());

        for (const transport of ['udp', 'tcp']) {
            it(`presses a code and hears the release tone, over ${transport.toUpperCase()}`, async () => {
                const person = await withCode('9#');
                const from = phone.events.length;
                phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=${transport}`);
                await phone.event('CALL_ESTABLISHED', from);
                await phone.press('1234');
                await phone.event('CALL_CLOSED', from);
                assert.equal(phone.tones(from), '9#');
                await released(person);
            });
        }

        it('is let in by a timer without a key', async () => {
            const person = await resident(w.client, { tone: '5' });
            await grant(person, { type: 'timer', expires_in_minutes: 5 });
            const from = phone.events.length;
            phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
            await phone.event('CALL_CLOSED', from);
            assert.equal(phone.tones(from), '5');
        });

        it('is rejected for an unknown number', async () => {
            const from = phone.events.length;
            phone.command('dial', `sip:+15550198768@${address(w.daemon)};transport=udp`);
            assert.match((await phone.event('CALL_CLOSED', from)).param, /404/);
        });

        it('hangs up in the middle, which leaves no entry', async () => {
            const person = await withCode('9');
            const from = phone.events.length;
            phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
            await phone.event('CALL_ESTABLISHED', from);
            await phone.press('12');
            phone.command('hangup');
            await phone.event('CALL_CLOSED', from);
            assert.deepEqual(await log(person), []);
        });
    });
});
