// Audio of call boxes: encrypted (SRTP, with baresip), and over bad lines.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { BadLine } from './lib/line.js';
import { address, Baresip, buzz, QUICK, sipp } from './lib/phone.js';
import { eventually, grant, resident, world } from './lib/world.js';

describe('audio of call boxes', () => {
    let w;
    before(async () => {
        w = await world({ config: QUICK });
    });
    after(() => w?.close());

    const withCode = async (tone) => {
        const person = await resident(w.client, { tone });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        return person;
    };
    const released = async (person, n = 1) => eventually(async () =>
        ok(await person.client.get('/v1/logs?limit=100')).data.filter((entry) => entry.type === 'unlock' && entry.succeeded).length === n, 'the log entry');

    describe('SRTP', () => {
        for (const mediaenc of ['srtp', 'srtp-mand']) {
            it(`baresip with ${mediaenc} presses a code and hears the release tone`, async () => {
                const phone = await Baresip.start({ account: `<sip:+15557654321@127.0.0.1>;regint=0;mediaenc=${mediaenc}` });
                try {
                    const person = await withCode('9#');
                    phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
                    await phone.event('CALL_ESTABLISHED');
                    await phone.press('1234');
                    await phone.event('CALL_CLOSED');
                    assert.equal(phone.tones(), '9#');
                    assert.match(phone.log, /SRTP is Enabled/i);
                    await released(person);
                } finally {
                    await phone.stop();
                }
            });
        }
    });

    describe('the form of the release tone', () => {
        let phone;
        before(async () => {
            phone = await Baresip.start();
        });
        after(() => phone?.stop());

        for (const [name, release, tones] of [
            ['SIP INFO', { mode: 'info', length_ms: 100, gap_ms: 100 }, '9#'],
            ['events, after a pause and twice', { mode: 'events', delay_ms: 500, repeat: 2, length_ms: 100, gap_ms: 100 }, '9#9#'],
        ]) {
            // PHONE-44
            it(`baresip hears it as ${name}`, async () => {
                const person = await withCode('9#');
                const path = `/v1/buildings/${person.building.id}/settings`;
                const settings = await person.client.get(path);
                ok(await person.client.patch(path, { release }, { headers: { 'If-Match': settings.headers.etag } }));
                const from = phone.events.length;
                phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
                await phone.event('CALL_ESTABLISHED', from);
                await phone.press('1234');
                await phone.event('CALL_CLOSED', from);
                assert.equal(phone.tones(from), tones);
                await released(person);
            });
        }
    });

    describe('bad lines', { concurrency: 4 }, () => {
        const lines = {
            '5 % loss': { loss: 0.05 },
            '10 % loss': { loss: 0.1 },
            'packets that come late and twice': { reordered: 0.1, duplicates: 0.2 },
            'a jitter of 200 ms': { jitter_ms: 200 },
            'all of it': { loss: 0.05, reordered: 0.05, duplicates: 0.1, jitter_ms: 100 },
        };
        const events = {
            'keys that overtake the keys before them': { overtaken: true },
            'a stream that begins again': { restart: true },
        };
        for (const [name, faults] of Object.entries({ ...lines, ...events })) {
            const over = async (run) => {
                const line = await BadLine.start(w.daemon, faults);
                try {
                    const person = await withCode('9#');
                    await run(line, person);
                    assert.ok(line.passed > 100 && (!faults.loss || line.lost), `${line.lost} of ${line.passed} packets lost`);
                } finally {
                    line.close();
                }
            };

            it(`events open the door with ${name}`, () => over(async (line, person) => {
                for (let n = 1; n <= 3; n++) {
                    assert.equal((await buzz(line, person.number, '--digits', '1234')).tones, '9#');
                    await released(person, n);
                }
            }));

            it(`events of sipp open the door with ${name}`, () => over(async (line, person) => {
                await sipp(line, 'events', person.number, { keys: { digits: '1234' } });
                await released(person);
            }));

            if (name in events) continue;
            it(`tones open the door with ${name}`, () => over(async (line, person) => {
                let tones;
                for (let tries = 0; tries < 3 && tones !== '9#'; tries++) // a lost packet may cut a tone in two
                    ({ tones } = await buzz(line, person.number, '--inband', '--digits', '1234', '--tone', '120', '--gap', '120'));
                assert.equal(tones, '9#');
            }));
        }
    });
});
