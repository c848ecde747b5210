// Call boxes and several nodes: a box finds them by DNS SRV records, and a node that stops leaves its callers to the others.
// engine: postgresql, because SQLite's store has one process
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { joined } from './lib/nodes.js';
import { randomBytes } from 'node:crypto';
import { ok } from './lib/client.js';
import { Baresip, phonesAt, QUICK, sipp, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { NameServer } from './lib/provider.js';
import { sql } from './lib/store.js';
import { eventually, grant, resident, useWorld, world } from './lib/world.js';

const CLOCK_MS = 1000; // times are cut to milliseconds, and taken by two processes

/** Calls the name with a box over TCP: {opened()}, which presses the code and resolves to the tones that the box heard until the end. */
async function callDoor(phone, person) {
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

/** A name server with SRV records of door.example: the first node has the better priority. */
function nameServer(first, second) {
    return NameServer.start('--host-record=one.example,127.0.0.1', '--host-record=two.example,127.0.0.1',
        `--srv-host=_sip._tcp.door.example,one.example,${first.daemon.sipPort},1`, `--srv-host=_sip._tcp.door.example,two.example,${second.daemon.sipPort},2`);
}

describe('a call box that resolves SRV records', () => {
    const first = useWorld({ config: QUICK });
    let second;
    let names;
    let phones;
    let person;
    before(async () => {
        second = await joined(first, { config: QUICK });
        names = await nameServer(first, second);
        phones = [await Baresip.start({ nameserver: names.address }), await Baresip.start({ nameserver: names.address })];
        person = await resident(first.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234' });
    });
    after(async () => {
        for (const phone of phones ?? []) await phone.stop();
        await names?.kill();
        await second?.close();
    });

    const call = (phone) => callDoor(phone, person);
    const calls = (w, pattern = /info call source=tcp/g) => [...w.daemon.stderr.matchAll(pattern)].length;

    it('calls the node with the lowest priority value', async () => {
        assert.equal(await (await call(phones[0])).opened(), '9');
        await eventually(() => calls(first) === 1, 'the line of the call');
        assert.equal(calls(second), 0);
    });

    it('calls the first while that stops, where calls end as they should', async () => {
        const running = await call(phones[0]);
        first.daemon.process.kill('SIGTERM');
        await first.daemon.logged(/stopping/);
        assert.equal(await (await call(phones[1])).opened(), '9');
        assert.equal(await running.opened(), '9');
        assert.deepEqual(await first.daemon.exited(), { code: 0, signal: null });
    });

    it('calls the other when the first is down', async () => {
        assert.equal(await (await call(phones[0])).opened(), '9');
        await eventually(() => calls(second) === 1, 'the line of the call');
        await first.daemon.start();
    });
});

describe('a node that has lost its store', () => {
    const role = `node_${randomBytes(8).toString('hex')}`;
    let lost;
    let other;
    let names;
    let phone;
    let port;
    let person;
    let forwarded; // between these times, a visitor was, from memory
    let unseen; // whose door the first node does not know: no call has reached it

    /** Shuts the store for the first node only, which has a role of its own, or opens it again. */
    function setAway(away) {
        sql(other.daemon, `ALTER ROLE ${role} ${away ? 'NOLOGIN' : 'LOGIN'}`);
        if (away) sql(other.daemon, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    }

    before(async () => {
        port = await freePort();
        const config = phonesAt(port);
        other = await world({ config });
        sql(other.daemon, `CREATE ROLE ${role} SUPERUSER LOGIN`);
        lost = await joined(other, { config: { ...config, store: { dsn: `${other.daemon.dsn} user=${role}` } } });
        names = await nameServer(lost, other);
        phone = await Baresip.start({ nameserver: names.address });
        person = await resident(other.client, { tone: '5' });
        const path = `/v1/buildings/${person.building.id}/settings`;
        const { etag } = (await person.client.get(path)).headers;
        ok(await person.client.patch(path, { ring: { numbers: ['+15550001234'], accept: false } }, { headers: { 'If-Match': etag } }));
        await grant(person, { type: 'passcode', access_code: '1234' });
        unseen = await resident(other.client, { tone: '5' });
        await grant(unseen, { type: 'passcode', access_code: '1234' });
    });
    after(async () => {
        await phone?.stop();
        await names?.kill();
        await lost?.close();
        if (other) sql(other.daemon, `DROP ROLE ${role}`);
        await other?.close();
    });

    it('lets the resident decide about a visitor whom it has answered', async () => {
        const resident = await startPhone('--listen', `127.0.0.1:${port}`, '--digits', '9', '--hangup', '2000');
        const call = await callDoor(phone, person);
        setAway(true);
        const began = Date.now();
        assert.match(await call.opened(), /5/);
        forwarded = [began, Date.now()];
        assert.equal((await resident.ended).status, 0);
        assert.ok(await lost.daemon.logged(/info call source=tcp.* decision=forwarded reason=error .*ended=failed/));
    });

    // STORE-6
    it('refuses a call to a door that it does not know, and says when to try again', () => sipp(lost.daemon, 'away', unseen.number));

    it('refuses a box that registers, and says when to try again', () => sipp(lost.daemon, 'away-register', 'gate', { extra: ['-au', 'gate', '-ap', 'secret'] }));

    it('leaves such a call to the node that a box finds next', async () => {
        assert.equal(await (await callDoor(phone, unseen)).opened(), '5');
        assert.ok(await other.daemon.logged(/info call source=tcp.*ended=released/));
        assert.ok(await lost.daemon.logged(/info call source=tcp.* status=503/));
    });

    it('logs the visitor whom it forwarded, once and with the time of the call, when the store is back', async () => {
        const log = async () => ok(await person.client.get('/v1/logs')).data.filter((entry) => entry.name === 'Forwarded call');
        const [away, until] = forwarded;
        assert.deepEqual(await log(), []);
        setAway(false);
        const [entry] = await eventually(async () => { const entries = await log(); return entries.length > 0 && entries; }, 'the entry');
        assert.ok(Date.parse(entry.created_at) >= away - CLOCK_MS && Date.parse(entry.created_at) <= until + CLOCK_MS, entry.created_at);
        const calls = await eventually(async () => { const { data } = ok(await person.client.get('/v1/calls')); return data[0]?.ended_at && data; }, 'the record');
        assert.equal(calls[0].outcome, 'forwarded');
        assert.equal((await log()).length, 1);
    });

    it('takes calls again when the store is back', async () => {
        setAway(false);
        const client = lost.client.as(person.key);
        await eventually(async () => (await client.get('/v1/account', { check: false })).status === 200, 'the store');
        assert.equal(await (await callDoor(phone, person)).opened(), '5');
        assert.ok(await lost.daemon.logged(/info call source=tcp.*ended=released/));
    });
});
