// A person's own export and deletion on the website: the same document and the same end as the operator's commands.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { execute, owner, quote } from './lib/buildings.js';
import { portero } from './lib/daemon.js';
import { holding, person } from './lib/person.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { cookieOf, signInBrowser } from './lib/site.js';
import { sql } from './lib/store.js';
import { advance, challenge, eventually, grant, signIn, useWorld, visit, world } from './lib/world.js';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

/** The parts of the export in a row. */
async function parts(site) {
    const texts = [];
    for (let cursor = null; ;) {
        const part = ok(await site.get(`/v1/account/export${cursor ? `?cursor=${cursor}` : ''}`));
        texts.push(part.text);
        ({ cursor } = part.pagination);
        assert.equal(part.pagination.has_more, cursor !== null);
        if (cursor === null) return texts;
    }
}
const exported = (w, account) => portero(['admin', 'account', 'export', account, '--config', w.daemon.configPath, '--data', w.daemon.data]).stdout;
/** Without moments that each request moves. */
const steady = (text) => JSON.parse(text, (name, value) => (name === 'last_used_at' ? null : value));

describe('a person\'s own data', () => {
    const w = useWorld({ config: REACHABLE });
    const { client } = w;
    const receiver = useReceiver();
    let one, other, site, theirs;
    const told = async (email) => ok(await client.as(undefined).get(`/sandbox/messages?to=${encodeURIComponent(email)}&channel=email`)).data.filter(({ subject }) => /cop[iy]/.test(subject));
    before(async () => {
        other = await person(w, receiver);
        one = await person(w, receiver);
        ({ site } = await signInBrowser(client, { email: one.email }));
        theirs = (await signInBrowser(client, { email: other.email })).site;
    });

    // ACCOUNT-31
    it('are the document that the operator\'s command writes', async () => {
        await parts(site);
        await eventually(async () => (await told(one.email)).length > 0, 'the mail about it');
        assert.deepEqual(steady((await parts(site)).join('')), steady(exported(w, one.email)));
    });

    // ACCOUNT-31
    it('come in parts, each with a bounded number of rows', async () => {
        for (let i = 0; i < 40; i += 1) await grant(one, { type: 'passcode', label: `${i} ${'x'.repeat(60)}` }, { 'X-Service-Building-Id': one.building.id });
        const eight = w.daemon.dsn ? "lpad(i::text, 8, '0')" : "printf('%08d', i)";
        sql(w.daemon, `INSERT INTO activity (building_id, created_at, id, kind) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7000)
            SELECT '${one.building.id}', 1000000 + i % 500, 'ffffffffffffffff' || ${eight}, (SELECT min(kind) FROM activity_kind WHERE building_id = '${one.building.id}') FROM n;`);
        const texts = await parts(site);
        assert.ok(texts.length > 3, `${texts.length} parts`);
        for (const text of texts) assert.ok(text.length < 500_000, `${text.length} characters`);
        const document = steady(texts.join(''));
        assert.ok(document.activity.length >= 7000);
        assert.equal(new Set(document.activity.map(({ id }) => id)).size, document.activity.length);
        assert.deepEqual(document, steady(exported(w, one.email)));
    });

    // ACCOUNT-31
    it('have nothing of others, and a cursor of one person is refused to another', async () => {
        const first = ok(await site.get('/v1/account/export'));
        refused(await theirs.get(`/v1/account/export?cursor=${first.pagination.cursor}`), 400, 'INVALID_CURSOR');
        for (const cursor of ['', 'x', `${first.pagination.cursor}A`, first.pagination.cursor.slice(0, -2), 'A'.repeat(500)])
            refused(await site.get(`/v1/account/export?cursor=${cursor}`), 400, 'INVALID_CURSOR');
        const text = (await parts(theirs)).join('');
        for (const secret of [one.account, one.email, one.building.id, ...one.secrets, ...other.secrets]) assert.ok(!text.includes(secret), secret);
    });

    // ACCOUNT-32
    it('are told to the owner by mail when they are copied, once in an hour, with the browser and in its language', async () => {
        const { email, site: mine } = await signInBrowser(client, { headers: { 'user-agent': FIREFOX } });
        const copy = (language) => mine.get('/v1/account/export', { headers: { 'user-agent': FIREFOX, 'accept-language': language } });
        const first = ok(await copy('es'));
        await eventually(async () => (await told(email)).length === 1, 'a mail');
        assert.equal((await told(email))[0].subject, 'Se hizo una copia de todos sus datos');
        assert.match((await told(email))[0].text, /Firefox, Linux/);
        assert.match(first.text, /"exported_at":"2/);
        assert.ok(await w.daemon.logged(/ export account=\S+ key=\S+ id=req_/));
        ok(await copy('es'));
        await advance(client, 3599);
        ok(await copy('es'));
        await advance(client, 1);
        ok(await copy('en'));
        await eventually(async () => (await told(email)).length === 2, 'another mail');
        assert.equal((await told(email))[0].subject, 'A copy of all your data was made');
    });

    // ACCOUNT-31
    it('are for the website alone: no key reads or deletes them', async () => {
        refused(await one.client.get('/v1/account/export'), 404, 'NOT_FOUND');
        refused(await one.client.post('/v1/account/deletion', await challenge(client, one.email)), 404, 'NOT_FOUND');
    });

    // ACCOUNT-33
    it('are not deleted without a new code for the account\'s own address', async () => {
        const sent = await challenge(client, one.email);
        const wrong = { ...sent, otp: sent.otp === '000000' ? '111111' : '000000' };
        refused(await site.post('/v1/account/deletion', wrong), 401, 'INVALID_OTP');
        refused(await site.post('/v1/account/deletion', { ...sent, otp: 'abcdef' }), 401, 'INVALID_OTP');
        refused(await site.post('/v1/account/deletion', await challenge(client, other.email)), 401, 'INVALID_OTP');
        refused(await site.post('/v1/account/deletion', { challenge: sent.challenge }), 401, 'INVALID_OTP');
        refused(await site.post('/v1/account/deletion', { ...sent, yes: true }), 400, 'INVALID_JSON');
        // Each wrong code has used an attempt of its challenge.
        for (let i = 0; i < 3; i += 1) refused(await site.post('/v1/account/deletion', wrong), 401, 'INVALID_OTP');
        refused(await site.post('/v1/account/deletion', sent), 401, 'INVALID_OTP');
        assert.equal(ok(await site.get('/v1/account')).email, one.email);
        assert.equal((await visit(client, { to: one.number, digits: one.grant.access_code })).outcome, 'released');
    });

    it('are deleted at once and for good, with all that hangs on them', async () => {
        const second = (await signInBrowser(client, { email: one.email })).site;
        const answer = await site.post('/v1/account/deletion', await challenge(client, one.email));
        assert.deepEqual(ok(answer, 202), { status: 'deleting' });
        assert.deepEqual([cookieOf(answer).value, cookieOf(answer).attributes.includes('Max-Age=0')], ['', true]);
        for (const ended of [site, second]) assert.equal((await ended.get('/v1/account', { check: false })).status, 401);
        refused(await one.client.get('/v1/account'), 401, 'INVALID_KEY');
        assert.equal((await visit(client, { to: one.number })).reason, 'unknown_number');
        await eventually(() => holding(w.daemon, [one.account, one.email, one.phone, one.building.id, one.cabin.id, one.endpoint.id])
            .filter((line) => !/^(job|sandbox_number): /.test(line)).length === 0, 'no trace of the person');
        assert.equal((await visit(client, { to: other.number, digits: other.grant.access_code })).outcome, 'released');
        assert.ok(await w.daemon.logged(new RegExp(`account erased account=${one.account}`)));
        const again = await signIn(client, one.email);
        assert.equal(ok(await again.client.get('/v1/account')).subscription.type, 'none');
    });
});

describe('a person with an operation on the buildings', () => {
    // ACCOUNT-34
    it('deletes the account once that has ended', async () => {
        const w = await world();
        try {
            const one = await owner(w.client);
            const { site } = await signInBrowser(w.client, { email: one.email });
            const addition = await quote(one);
            ok(await w.client.as(undefined).post('/sandbox/faults', { provider: 'billing', operation: 'set_quantity', fault: 'error', count: 1000 }));
            assert.equal((await execute(one, addition)).status, 202);
            const sent = await challenge(w.client, one.email);
            refused(await site.post('/v1/account/deletion', sent), 409, 'BUILDING_BUSY');
            assert.equal(ok(await site.get('/v1/account')).email, one.email);
            ok(await w.client.as(undefined).post('/sandbox/faults', { provider: 'billing', fault: 'none' }));
            await eventually(async () => (await site.post('/v1/account/deletion', sent)).status === 202, 'the end of the operation');
        } finally {
            await w.close();
        }
    });
});
