// engine: both
// porterod admin person: what is held of a visitor, a guest, a member and a neighbour, at all doors, and its end.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { portero } from './lib/daemon.js';
import { admin } from './lib/buildings.js';
import { rows } from './lib/person.js';
import { changeSettings, freshEmail, grant, resident, useWorld, visit } from './lib/world.js';

const NUMBER = '+15550177341', OTHER = '+15550177342', LONGER = '+155501773411';
const EMAIL = freshEmail();

describe('a person without an account', () => {
    const w = useWorld();
    let home, building;
    const told = (...args) => {
        const done = admin(w, ...args);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    const found = (verb, person) => Object.fromEntries(told('person', verb, person, ...(verb === 'erase' ? ['--yes'] : [])).data.map(({ table, rows: n }) => [table, n]));
    const exported = (person) => {
        const done = portero(['admin', 'person', 'export', person, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    /** Tables with a row that has the text. */
    const tablesWith = (text) => [...rows(w.daemon)].filter(([, lines]) => lines.some((line) => line.toLowerCase().includes(text))).map(([table]) => table);

    before(async () => {
        home = await resident(w.client);
        const { id, access_code: code } = await grant(home, { type: 'passcode', label: `Kim ${NUMBER}` });
        await grant(home, { type: 'passcode', label: `Cousin of ${LONGER}` });
        await visit(w.client, { to: home.number, digits: code, from: NUMBER });
        await visit(w.client, { to: home.number, digits: code, from: OTHER });
        assert.equal((await home.client.delete(`/v1/unlock/${id}`)).status, 200);
        await changeSettings(home, { ring: { message: true, numbers: [NUMBER, OTHER] }, callers: { mode: 'listed', numbers: [NUMBER, OTHER], others: 'forward' } });
        await visit(w.client, { to: home.number, resident: 'busy', message_seconds: 2, from: NUMBER });
        building = told('call', 'list', '--number', NUMBER).data[0].building_id;
        const member = told('member', 'add', '--building', building, '--name', 'Kim', '--email', EMAIL, '--phone', NUMBER);
        told('key', 'create', '--member', member.id);
    });

    // ACCOUNT-41
    it('is found in every place that has the number, and given out', () => {
        const counts = found('find', NUMBER);
        for (const table of ['building', 'member', 'access_grant', 'activity_kind', 'call_message', 'call_record', 'visit', 'door_caller', 'feed']) assert.ok(counts[table] >= 1, `${table}: ${JSON.stringify(counts)}`);
        const list = exported(NUMBER);
        const of = (name) => list.filter(({ table }) => table === name).map(({ row }) => row);
        assert.deepEqual(of('member').map(({ name, email }) => [name, email]), [['Kim', EMAIL]]);
        assert.deepEqual(of('access_grant').map(({ label }) => label), [`Kim ${NUMBER}`]);
        assert.ok(of('call_message').some(({ audio }) => audio && Buffer.from(audio, 'base64').subarray(0, 4).toString() === 'RIFF'));
        assert.ok(of('call_record').every(({ caller, steps }) => caller === NUMBER || steps.includes(NUMBER)));
        assert.deepEqual(Object.keys(found('find', EMAIL)), ['member']);
        assert.deepEqual(found('find', '+15550000000'), {});
    });

    // ACCOUNT-41
    it('is erased everywhere, and nobody else is', async () => {
        const others = found('find', OTHER);
        assert.ok(found('erase', NUMBER).call_record >= 2);
        assert.deepEqual(tablesWith(NUMBER).filter((table) => !rows(w.daemon).get(table).every((line) => !line.includes(NUMBER) || line.includes(LONGER))), []);
        assert.deepEqual(tablesWith(EMAIL.toLowerCase()), [], 'the member that the number names');
        assert.deepEqual(found('find', NUMBER), {});
        assert.deepEqual(found('find', OTHER), others);
        assert.ok(tablesWith(LONGER).includes('access_grant'), 'a longer number');
        const settings = await home.client.get(`/v1/buildings/${building}/settings`);
        assert.deepEqual([settings.body.ring.numbers, settings.body.callers.numbers], [[OTHER], [OTHER]]);
        assert.ok(await w.daemon.logged(/info operator operation=adminErasePerson rows=\d+ result=done request=req_[0-9a-f]{24}\n/));
        assert.ok(!w.daemon.stderr.split('\n').some((line) => line.includes('operator operation=') && line.includes(NUMBER.slice(1))));
        const check = portero(['check-store', '--config', w.daemon.configPath, '--data', w.daemon.data], {});
        assert.equal(check.status, 0, check.stdout + check.stderr);
    });

    it('is named by a number or an address, and an account is kept', () => {
        for (const wrong of ['4312', 'Kim', '+1', '+1555x0177341']) {
            const done = admin(w, 'person', 'find', wrong);
            assert.equal(done.status, 1);
            assert.match(done.stderr, /person must be a telephone number, such as \+12125550123, or an e-mail address \(BAD_REQUEST\)/);
        }
        const [account] = told('person', 'erase', home.email, '--yes').data.filter(({ table }) => table === 'account');
        assert.deepEqual(account, { table: 'account', rows: 1, kept: true });
        assert.equal(found('find', home.email).account, 1);
        const asked = portero(['admin', 'person', 'erase', NUMBER, '--config', w.daemon.configPath, '--data', w.daemon.data], { input: 'no\n' });
        assert.equal(asked.status, 1);
        assert.match(asked.stderr, /nothing was done/);
    });
});
