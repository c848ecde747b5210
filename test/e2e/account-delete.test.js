// porterod admin account delete ends everything that is held of a person, and nothing of anybody else.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ok, refused, idempotencyKey } from './lib/client.js';
import { binary, cleanEnvironment, portero } from './lib/daemon.js';
import { sql, endLeases } from './lib/store.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { execute, owner, quote } from './lib/buildings.js';
import { eventually, resident, signIn, UNKNOWN_ID, useWorld, visit, world } from './lib/world.js';
import { holding, person, rows } from './lib/person.js';

const erase = (w, ...args) => portero(['admin', 'account', 'delete', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);
const gone = (w, account) => eventually(() => sql(w.daemon, `SELECT count(*) FROM account WHERE id = '${account}'; SELECT count(*) FROM job WHERE id = 'erase-${account}';`).split('\n').slice(0, 2).every((n) => n === '0'), 'the end of the account');
const traces = (one) => [one.account, one.email, one.phone, one.building.id, one.cabin.id, one.endpoint.id, one.member.id, one.caller, `Nurse ${one.at}`, `Not for ${one.at}`];

describe('an account that is deleted', () => {
    const w = useWorld({ config: REACHABLE });
    const receiver = useReceiver();
    let one, other;
    before(async () => {
        other = await person(w, receiver);
        one = await person(w, receiver);
        // The person is a member of the other one's building, too.
        one.membership = JSON.parse(portero(['admin', 'member', 'add', '--building', other.cabin.id, '--name', 'The person', '--email', one.email, '--json', '--config', w.daemon.configPath, '--data', w.daemon.data]).stdout).id;
        one.elsewhere = JSON.parse(portero(['admin', 'key', 'create', '--member', one.membership, '--json', '--config', w.daemon.configPath, '--data', w.daemon.data]).stdout).api_key;
    });

    it('asks first, and does nothing without a yes', () => {
        for (const input of ['', 'no\n', 'yesterday\n']) {
            const done = portero(['admin', 'account', 'delete', one.email, '--config', w.daemon.configPath, '--data', w.daemon.data], { input });
            assert.equal(done.status, 1);
            assert.match(done.stderr, /Type yes: portero: nothing was done\n$/);
        }
        assert.notDeepEqual(holding(w.daemon, [one.email]), []);
    });

    it('names an unknown account', () => {
        for (const name of ['nobody@example.com', UNKNOWN_ID]) {
            const done = erase(w, name, '--yes');
            assert.equal(done.status, 1);
            assert.match(done.stderr, /^portero: no account with this (e-mail address|ID) \(ACCOUNT_NOT_FOUND\)\n$/);
        }
    });

    // ACCOUNT-35, ACCOUNT-37
    it('leaves no row of the person, and all of the others', async () => {
        // Rows of the other person that must be as they were; rows of jobs and nodes change by themselves.
        const kept = () => [...rows(w.daemon)].flatMap(([table, lines]) => (['job', 'node', 'commit_mark', 'setting'].includes(table) ? [] : lines.map((line) => `${table} ${line}`)))
            .filter((line) => [other.account, other.email, other.phone, other.building.id, other.cabin.id, other.endpoint.id].some((text) => line.includes(text)) && !line.includes(one.email) && !line.includes(one.membership)).sort();
        const before_ = kept();
        for (const text of traces(one)) assert.notDeepEqual(holding(w.daemon, [text]), [], `${text} was not in the store`);

        const done = portero(['admin', 'account', 'delete', one.email.toUpperCase(), '--config', w.daemon.configPath, '--data', w.daemon.data], { input: 'yes\n' });
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, new RegExp(one.account));
        await gone(w, one.account);
        await eventually(() => sql(w.daemon, "SELECT count(*) FROM job WHERE kind IN ('release_number', 'billing_sync') AND attempts > 0;").trim() === '0', 'the jobs of its numbers');
        await eventually(() => holding(w.daemon, [...traces(one), one.number, one.membership]).filter((line) => !/^(job|sandbox_number): /.test(line)).length === 0, `no trace: ${holding(w.daemon, [...traces(one), one.number, one.membership])}`);
        assert.deepEqual(kept(), before_);
    });

    it('has no key that works', async () => {
        for (const key of [...one.secrets.filter((text) => text.startsWith('svc_')), one.elsewhere])
            refused(await w.client.as(key).get('/v1/account'), 401, 'INVALID_KEY');
        assert.equal((await other.client.get('/v1/account')).status, 200);
    });

    it('has no number: its calls reach nobody', async () => {
        assert.equal((await visit(w.client, { to: one.number })).reason, 'unknown_number');
        assert.equal((await visit(w.client, { to: other.number, digits: other.grant.access_code })).outcome, 'released');
    });

    // ACCOUNT-36
    it('has no subscription at the billing provider', () => {
        assert.equal(sql(w.daemon, `SELECT count(*) FROM sandbox_subscription WHERE account_id = '${one.account}';`).trim(), '0');
        assert.equal(sql(w.daemon, `SELECT status FROM sandbox_subscription WHERE account_id = '${other.account}';`).trim(), 'active');
    });

    it('leaves a store without faults, and a line of the log with nothing but its ID', async () => {
        await eventually(() => sql(w.daemon, "SELECT count(*) FROM delivery WHERE status = 'pending';").trim() === '0', 'the last delivery');
        const check = portero(['check-store', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(check.status, 0, check.stdout);
        const [line] = await w.daemon.logged(/^.*operation=adminDeleteAccount account=.*$/m);
        assert.match(line, new RegExp(`operator operation=adminDeleteAccount account=${one.account} result=done request=req_[0-9a-f]{24}$`));
        assert.ok(await w.daemon.logged(new RegExp(`account erased account=${one.account}`)));
        assert.ok(!w.daemon.stderr.includes(one.email));
    });

    it('can be told again, which finds nothing', () => {
        for (const name of [one.email, one.account]) assert.match(erase(w, name, '--yes').stderr, /ACCOUNT_NOT_FOUND/);
    });

    // ACCOUNT-35
    it('is another account after a new sign-up with the address', async () => {
        const again = await signIn(w.client, one.email);
        assert.notEqual(sql(w.daemon, `SELECT id FROM account WHERE email = '${one.email}';`).trim(), one.account);
        assert.equal(ok(await again.client.get('/v1/account')).subscription.type, 'none');
        assert.deepEqual(ok(await again.client.get('/v1/unlock')).data, []);
    });
});

describe('an account with an operation on its buildings', () => {
    // ACCOUNT-34
    it('is deleted once that has ended', async () => {
        const w = await world();
        try {
            const one = await owner(w.client);
            const account = sql(w.daemon, `SELECT id FROM account WHERE email = '${one.email}';`).trim();
            const addition = await quote(one);
            ok(await w.client.as(undefined).post('/sandbox/faults', { provider: 'billing', operation: 'set_quantity', fault: 'error', count: 1000 }));
            assert.equal((await execute(one, addition)).status, 202);
            const early = erase(w, one.email, '--yes');
            assert.equal(early.status, 1);
            assert.match(early.stderr, /^portero: an operation on a building of the account is in progress.* \(BUILDING_BUSY\)\n$/);
            assert.equal((await one.client.get('/v1/account')).status, 200);
            ok(await w.client.as(undefined).post('/sandbox/faults', { provider: 'billing', fault: 'none' }));
            await eventually(() => erase(w, one.email, '--yes').status === 0, 'the end of the operation');
            await gone(w, account);
        } finally {
            await w.close();
        }
    });
});

describe('a deletion that is interrupted', () => {
    const ROWS = 200_000;
    for (const fault of ['crash_after', 'timeout', 'error']) {
        it(`at the billing provider (${fault}) ends wholly after the next start`, async () => {
            const w = await world();
            try {
                const one = await resident(w.client);
                const account = sql(w.daemon, `SELECT id FROM account WHERE email = '${one.email}';`).trim();
                ok(await w.client.as(undefined).post('/sandbox/faults', { provider: 'billing', operation: 'customer_delete', fault, count: 1 }));
                const done = erase(w, one.email, '--yes');
                if (fault === 'crash_after') {
                    assert.equal(done.status, 1);
                    assert.equal((await w.daemon.exited()).signal, 'SIGKILL');
                    // Cut off at once, and the address is free, before the rest is deleted.
                    assert.equal(sql(w.daemon, `SELECT count(*) FROM account WHERE email = '${one.email}';`).trim(), '0');
                    endLeases(w.daemon);
                    await w.daemon.start();
                }
                refused(await w.client.as(one.key).get('/v1/account'), 401, 'INVALID_KEY');
                await gone(w, account);
                assert.deepEqual(holding(w.daemon, [account, one.email, one.building.id]).filter((line) => !line.startsWith('job: ')), []);
            } finally {
                await w.close();
            }
        });
    }

    // ACCOUNT-35
    it('by kill -9 in the middle of its rows ends wholly after the next start', async () => {
        const w = await world();
        try {
            const one = await resident(w.client);
            const other = await resident(w.client);
            const of = ({ email }) => sql(w.daemon, `SELECT id FROM account WHERE email = '${email}';`).trim();
            const account = of(one);
            for (const { client } of [one, other]) ok(await client.post('/v1/unlock', { type: 'passcode', label: 'Kept' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
            // Enough log entries for many transactions.
            sql(w.daemon, `INSERT INTO activity_kind (building_id, kind, type, unlock_type, name, name_folded, succeeded) VALUES ('${one.building.id}', 9, 'call', '', 'Old', 'old', 1);
                INSERT INTO activity (building_id, created_at, id, kind, unlock_id)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT '${one.building.id}', i * 1000, substr('000000000000000000000000' || i, -24), 9, NULL FROM n;`.replace(/substr\((.*), -24\)/, w.daemon.dsn ? "lpad(i::text, 24, '0')" : 'substr($1, -24)'));
            const left = () => Number(sql(w.daemon, `SELECT count(*) FROM activity WHERE building_id = '${one.building.id}';`));
            const erasing = spawn(binary, ['admin', 'account', 'delete', one.email, '--yes', '--config', w.daemon.configPath, '--data', w.daemon.data], { env: cleanEnvironment(), stdio: 'ignore' });
            const closed = once(erasing, 'close');
            await eventually(() => left() < ROWS, 'the beginning');
            await w.daemon.crash();
            await closed;
            endLeases(w.daemon);
            await w.daemon.start();
            await gone(w, account);
            assert.equal(left(), 0);
            assert.equal(ok(await other.client.get('/v1/unlock')).data.length, 1);
        } finally {
            await w.close();
        }
    });
});
