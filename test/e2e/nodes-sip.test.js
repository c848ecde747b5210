// Call boxes and several nodes: a box finds them by DNS SRV records, and a node that stops leaves its callers to the others.
// engine: postgresql, because SQLite's store has one process
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { joined } from './lib/nodes.js';
import { Baresip, QUICK } from './lib/phone.js';
import { NameServer } from './lib/provider.js';
import { eventually, grant, resident, useWorld } from './lib/world.js';

describe('a call box that resolves SRV records', () => {
    const first = useWorld({ config: QUICK });
    let second;
    let names;
    let phones;
    let person;
    before(async () => {
        second = await joined(first, { config: QUICK });
        names = await NameServer.start('--host-record=one.example,127.0.0.1', '--host-record=two.example,127.0.0.1',
            `--srv-host=_sip._tcp.door.example,one.example,${first.daemon.sipPort},1`, `--srv-host=_sip._tcp.door.example,two.example,${second.daemon.sipPort},2`);
        phones = [await Baresip.start({ nameserver: names.address }), await Baresip.start({ nameserver: names.address })];
        person = await resident(first.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234' });
    });
    after(async () => {
        for (const phone of phones ?? []) await phone.stop();
        await names?.kill();
        await second?.close();
    });

    /** Calls the name: {opened()}, which presses the code and resolves to the tones that the box heard until the end. */
    async function call(phone) {
        const from = phone.events.length;
        phone.command('dial', `sip:${person.number}@door.example;transport=tcp`);
        await phone.event('CALL_ESTABLISHED', from);
        return {
            async opened() {
                await phone.press('1234');
                await phone.event('CALL_CLOSED', from);
                return phone.tones(from);
            },
        };
    }
    const calls = (w, pattern = /info call source=tcp/g) => [...w.daemon.stderr.matchAll(pattern)].length;

    it('calls the node with the lowest priority value', async () => {
        assert.equal(await (await call(phones[0])).opened(), '9');
        await eventually(() => calls(first) === 1, 'the line of the call');
        assert.equal(calls(second), 0);
    });

    it('calls the other while the first stops, where a call ends as it should', async () => {
        const running = await call(phones[0]);
        first.daemon.process.kill('SIGTERM');
        await first.daemon.logged(/stopping/);
        assert.equal(await (await call(phones[1])).opened(), '9');
        await eventually(() => calls(second) === 1, 'the line of the call');
        await eventually(() => calls(first, /info call source=tcp.* status=503/g) === 1, 'the line of the refused call');
        assert.equal(await running.opened(), '9');
        assert.deepEqual(await first.daemon.exited(), { code: 0, signal: null });
    });

    it('calls the other when the first is down', async () => {
        assert.equal(await (await call(phones[0])).opened(), '9');
        await eventually(() => calls(second) === 2, 'the line of the call');
        await first.daemon.start();
    });
});
