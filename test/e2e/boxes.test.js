// Call boxes that sign in with digest, and register: baresip and sipp. Decisions, section 10.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { address, Baresip, buzz, QUICK, sipp } from './lib/phone.js';
import { portero } from './lib/daemon.js';
import { eventually, grant, resident, world } from './lib/world.js';

const GATE = '+15553330000';

describe('call boxes that sign in', () => {
    let w;
    let password;
    let person;
    before(async () => {
        w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, digest: 'all' } } });
        ({ password } = admin('box', 'add', 'gate', '--number', GATE));
        person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
    });
    after(() => w?.close());

    /** `portero admin`: its answer. Throws with its complaint. */
    const admin = (...args) => {
        const done = portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        if (done.status !== 0) throw new Error(done.stderr);
        return JSON.parse(done.stdout);
    };
    const released = async () => ok(await person.client.get('/v1/logs?limit=100')).data.filter((entry) => entry.type === 'unlock' && entry.succeeded).length;
    const account = (name, secret) => `<sip:${name}@${address(w.daemon)};transport=udp>;auth_user=${name};auth_pass=${secret};regint=600`;
    /** Waits for the answer to the registration; baresip sends it before the control port listens. */
    const registered = (phone, status) => eventually(() => new RegExp(`: (\\{.*\\} )?${status}`).test(phone.log), 'the registration');
    const box = () => admin('box', 'list').data.find(({ name }) => name === 'gate');

    it('are shown their password once, and not twice under one name', async () => {
        assert.match(password, /^[0-9A-Za-z]{24}$/);
        assert.deepEqual(Object.keys(box()).sort(), ['created_at', 'name', 'number', 'registered_from', 'registered_until']);
        assert.throws(() => admin('box', 'add', 'gate'), /already exists/);
        assert.throws(() => admin('box', 'add', 'bad name'), /name/);
    });

    it('open the door with a code, from baresip, which also registers', async () => {
        const phone = await Baresip.start({ account: account('gate', password) });
        try {
            await registered(phone, '200 OK');
            const row = await eventually(() => (box().registered_until ? box() : null), 'the registration');
            assert.ok(Date.parse(row.registered_until) > Date.parse(row.created_at));
            assert.match(row.registered_from, /^127\.0\.0\.1:\d+$/);
            const before = await released();
            const from = phone.events.length;
            phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
            await phone.event('CALL_ESTABLISHED', from);
            await phone.press('1234');
            await phone.event('CALL_CLOSED', from);
            assert.equal(phone.tones(from), '9');
            assert.equal(await released(), before + 1);
            assert.equal(ok(await person.client.get(`/v1/buildings/${person.building.id}/setup`)).status, 'previous_buzz_recorded');
        } finally {
            await phone.stop();
        }
    });

    for (const transport of ['u1', 't1']) {
        it(`open the door with a code, from sipp over ${transport === 'u1' ? 'UDP' : 'TCP'}`, async () => {
            const before = await released();
            await sipp(w.daemon, 'sign-in', person.number, { transport, keys: { digits: '1234' }, extra: ['-au', 'gate', '-ap', password] });
            await eventually(async () => await released() === before + 1, 'the log entry');
        });
    }

    it('are refused with a wrong password, or without one', async () => {
        const phone = await Baresip.start({ account: account('gate', 'wrong') });
        try {
            await registered(phone, '401');
        } finally {
            await phone.stop();
        }
        const call = await buzz(w.daemon, person.number, '--digits', '1234');
        assert.equal(call.tones, '');
        assert.match(call.stdout + call.stderr, /401/);
    });

    it('are refused once they are removed', async () => {
        const { password: secret } = admin('box', 'add', 'side');
        const phone = await Baresip.start({ account: account('side', secret) });
        try {
            await registered(phone, '200 OK');
        } finally {
            await phone.stop();
        }
        admin('box', 'remove', 'side');
        const again = await Baresip.start({ account: account('side', secret) });
        try {
            await registered(again, '401');
        } finally {
            await again.stop();
        }
        assert.throws(() => admin('box', 'remove', 'side'), /no box has this name/);
    });
});
