// engine: both
// porterod admin person: what is held of a visitor, a guest, a member and a neighbour, at all doors, and its end.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { portero } from './lib/daemon.js';
import { admin } from './lib/buildings.js';
import { idempotencyKey, ok } from './lib/client.js';
import { rows } from './lib/person.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { sql } from './lib/store.js';
import { changeSettings, eventually, freshEmail, grant, resident, useWorld, visit } from './lib/world.js';

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

describe('a person in what waits, and in more than one answer holds', () => {
    const w = useWorld({ config: REACHABLE });
    const receiver = useReceiver();
    const CALLS = 2500, STEPS = 'x'.repeat(800); // more than 2 MB, the most of one answer
    const PERSON = '+15550177343', OPTIONS = { find: ['--json'], export: [], erase: ['--json', '--yes'] };
    let home, building, call;
    const told = (verb) => {
        const done = portero(['admin', 'person', verb, PERSON, ...OPTIONS[verb], '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
        return done.stdout;
    };
    const counts = (text) => Object.fromEntries(JSON.parse(text).data.map(({ table, rows: n }) => [table, n]));
    const faulty = (fault, count) => w.client.as(undefined).post('/sandbox/faults', { provider: 'mail', fault, count });
    const left = () => [...rows(w.daemon)].filter(([, lines]) => lines.some((line) => line.includes(PERSON))).map(([table]) => table);

    before(async () => {
        home = await resident(w.client);
        ok(await home.client.post('/v1/webhooks', { url: receiver.url('/person') }), 201);
        const made = await grant(home, { type: 'passcode', label: `Kim ${PERSON}` });
        ok(await home.client.post('/v1/passes', { label: `Kim's key, ${PERSON}`, note: `call ${PERSON}` }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        await visit(w.client, { to: home.number, digits: made.access_code, from: PERSON });
        await changeSettings(home, { ring: { message: true } });
        ok(await faulty('error', 100000));
        ({ call_id: call } = await visit(w.client, { to: home.number, resident: 'busy', message_seconds: 2, from: PERSON }));
        building = home.building.id;
    });

    // ACCOUNT-41
    it('is found in a mail that waits, in an event of a webhook and in a pass', () => {
        const found = counts(told('find'));
        for (const table of ['job', 'event', 'pass']) assert.ok(found[table] >= 1, `${table}: ${JSON.stringify(found)}`);
        const list = JSON.parse(told('export'));
        assert.ok(list.some(({ table, row }) => table === 'event' && JSON.stringify(row).includes(PERSON)));
        assert.ok(list.some(({ table, row }) => table === 'pass' && row.note === `call ${PERSON}`));
    });

    // ACCOUNT-41
    it('is given out whole by several answers, each of which goes on after the one before', async () => {
        const account = sql(w.daemon, `SELECT account_id FROM building WHERE id = '${building}';`).trim();
        const before = JSON.parse(told('export')).filter(({ table }) => table === 'call_record').length;
        const values = Array.from({ length: CALLS }, (_, i) => `('${building}', '00000000${call.slice(8, 18)}${i.toString(16).padStart(6, '0')}', '${account}', 1, 2, 'sip', '', '${home.number}', '${PERSON}', 'forwarded', 'no_grant', 0, 'hangup', '${STEPS}')`);
        sql(w.daemon, `INSERT INTO call_record (building_id, id, account_id, started_at, ended_at, front_end, source, dialled, caller, outcome, reason, resident_opened, ended_by, steps) VALUES ${values.join(',')};`);
        const list = JSON.parse(told('export')).filter(({ table }) => table === 'call_record');
        assert.equal(new Set(list.map(({ row }) => row.id)).size, CALLS + before);
        assert.equal(list.length, CALLS + before, 'no row comes twice');
        const parts = () => [...w.daemon.stderr.matchAll(/operator operation=adminReadPerson rows=(\d+) /g)].map(([, n]) => Number(n));
        await eventually(() => parts().reduce((sum, n) => sum + n, 0) >= CALLS, 'the log of all answers');
        assert.ok(parts().every((n) => n < CALLS), `several answers: ${parts()}`);
        assert.equal(counts(told('find')).call_record, CALLS + before);
    });

    // ACCOUNT-41
    it('is erased in all of it', async () => {
        assert.equal(counts(told('erase')).call_record >= CALLS, true);
        assert.deepEqual(left(), []);
        assert.deepEqual(counts(told('find')), {});
        ok(await faulty('none'));
        assert.equal(sql(w.daemon, "SELECT count(*) FROM job WHERE kind = 'mail';").trim(), '0');
    });
});
