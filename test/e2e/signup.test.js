// Accounts where the operator lists the residents, and which of them has which number.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok, refused } from './lib/client.js';
import { admin } from './lib/buildings.js';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { signInBrowser } from './lib/site.js';
import { sql } from './lib/store.js';
import { building, challenge, eventually, freshEmail, signIn, useWorld, world } from './lib/world.js';

const LISTED = { billing: { provider: 'none' }, numbers: { provider: 'pool' }, accounts: { signup: 'listed' } };

/** A command of the operator: its answer. */
function told(w, ...args) {
    const done = admin(w, ...args);
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout);
}
const complains = (w, ...args) => {
    const done = admin(w, ...args);
    assert.equal(done.status, 1, done.stdout);
    return done.stderr;
};

describe('a service whose residents are listed', () => {
    const w = useWorld({ config: LISTED });
    const mails = async (email) => ok(await w.client.as(undefined).get(`/sandbox/messages?channel=email&to=${encodeURIComponent(email)}`)).data;

    // KEY-11
    it('answers any address alike, mails only listed ones, and logs the others without the address', async () => {
        const [listed, stranger] = [freshEmail(), freshEmail()];
        told(w, 'account', 'add', listed.toUpperCase());
        const answers = [];
        for (const email of [listed, stranger]) answers.push(await w.client.post('/v1/auth/otp', { email }));
        const [a, b] = answers.map((answer) => ok(answer));
        assert.equal(a.message, b.message);
        assert.equal(answers[0].text.length, answers[1].text.length);
        assert.equal((await mails(listed)).length, 1);
        assert.equal((await mails(stranger)).length, 0);
        assert.ok(await w.daemon.logged(/sign_in address=r\*\*\*@example\.com result=not_listed request=/));
        assert.ok(!w.daemon.stderr.includes(stranger));
        for (let i = 0; i < 6; i++) refused(await w.client.post('/v1/auth/verify', { email: stranger, purpose: 'web', challenge: b.challenge, otp: String(100_000 + i) }), 401, 'INVALID_OTP');
        for (const email of [listed, stranger]) { // three open challenges, as everywhere
            for (let i = 0; i < 2; i++) ok(await w.client.post('/v1/auth/otp', { email }));
            refused(await w.client.post('/v1/auth/otp', { email }), 429, 'OTP_RATE_LIMIT');
        }
        assert.equal(sql(w.daemon, `SELECT count(*) FROM account WHERE email = '${stranger}';`).trim(), '0');
    });

    // KEY-11
    it('makes no account for the right code of an address that was taken off the list meanwhile', async () => {
        const email = freshEmail();
        told(w, 'account', 'add', email);
        const sent = await challenge(w.client, email);
        assert.equal(told(w, 'account', 'remove', email).status, 'deleted');
        refused(await w.client.post('/v1/auth/verify', { email, purpose: 'web', ...sent }), 401, 'INVALID_OTP');
    });

    // KEY-12
    it('lists the accounts, adds many, and removes one that nobody has used', async () => {
        const all = Array.from({ length: 3 }, freshEmail).sort();
        const added = told(w, 'account', 'add', ...all);
        assert.deepEqual(added.data.map(({ email }) => email), all);
        assert.deepEqual(told(w, 'account', 'add', ...all), added, 'again: nothing changes');
        const session = await signIn(w.client, all[1]);
        const listed = told(w, 'account', 'list').data.filter(({ email }) => all.includes(email));
        assert.deepEqual(listed.map(({ email, signed_in, virtual_number }) => [email, signed_in, virtual_number]), all.map((email) => [email, email === session.email, null]));
        assert.ok(!told(w, 'account', 'list', '--after', all[1]).data.some(({ email }) => email <= all[1]));
        assert.match(complains(w, 'account', 'remove', all[1]), /somebody has used the account: `porterod admin account delete`/);
        told(w, 'account', 'remove', all[0]);
        assert.match(complains(w, 'account', 'remove', all[0]), /ACCOUNT_NOT_FOUND/);
        assert.match(complains(w, 'account', 'add', freshEmail(), 'nobody'), /INVALID_EMAIL/);
        ok(await session.client.get('/v1/account'));
    });

    // BUILDING-28
    it('gives a number to whom the operator names, says and logs who has it, and nobody else gets it', async () => {
        const [ada, bob] = [freshEmail(), freshEmail()];
        told(w, 'account', 'add', ada, bob);
        const held = told(w, 'number', 'add', '4711', '--account', ada);
        assert.deepEqual([held.number, held.email, held.building], ['4711', ada, 'Home']);
        assert.ok(await w.daemon.logged(new RegExp(`operator operation=adminAddNumber number=4711 building=${held.building_id} account=${held.account_id} result=done`)));
        told(w, 'number', 'add', '4712');
        const sessions = [await signIn(w.client, ada), await signIn(w.client, bob)];
        const numbers = async () => Promise.all(sessions.map(async (one) => (await building(one)).virtual_number));
        ok(await w.client.as(undefined).post('/sandbox/clock', { advance_seconds: 2 * 3600 }));
        assert.deepEqual(await numbers(), ['4711', null]);
        assert.match(complains(w, 'number', 'add', '4713', '--account', ada), /the building has another number/);
        assert.match(complains(w, 'number', 'add', '4711', '--account', bob), /another building has the number/);
        assert.match(complains(w, 'number', 'assign', '4799', '--account', bob), /the pool does not have the number \(NUMBER_NOT_FOUND\)/);
        assert.match(complains(w, 'number', 'assign', '4712'), /account or building_id is required/);
        assert.match(complains(w, 'number', 'assign', '4712', '--account', freshEmail()), /ACCOUNT_NOT_FOUND/);
        told(w, 'number', 'assign', '4711', '--account', bob);
        assert.deepEqual(await numbers(), [null, '4711']);
        told(w, 'number', 'assign', '4712', '--building', (await building(sessions[1])).id);
        assert.deepEqual(await numbers(), [null, '4712']);
        assert.equal(told(w, 'number', 'list').data.find(({ number }) => number === '4711').building_id, null);
        assert.equal(told(w, 'number', 'remove', '4712').number, '4712');
        assert.deepEqual(await numbers(), [null, null]);
        assert.match(complains(w, 'number', 'remove', '4712'), /NUMBER_NOT_FOUND/);
        assert.ok(!told(w, 'number', 'list').data.some(({ number }) => number === '4712'));
    });

    it('mails the owner a number that the operator gives, replaces or takes, in the language of the notices', async () => {
        const [ada, bob] = [freshEmail(), freshEmail()];
        told(w, 'account', 'add', ada, bob);
        const { site } = await signInBrowser(w.client, { email: bob });
        const home = ok(await site.get('/v1/buildings')).data[0].id;
        ok(await site.put(`/v1/buildings/${home}/notices/email`, { notices: ['last_use'] }, { headers: { 'accept-language': 'fr' } }));
        const latest = (email, subject, ...words) => eventually(async () => {
            const [mail] = await mails(email);
            if (mail?.subject !== subject) return false;
            for (const word of words) assert.ok(mail.text.includes(word), mail.text);
            return true;
        }, subject);
        for (const number of ['4761', '4762']) told(w, 'number', 'add', number);
        told(w, 'number', 'assign', '4761', '--account', ada);
        await latest(ada, 'Home has a telephone number', '4761');
        told(w, 'number', 'assign', '4761', '--account', ada); // which it has
        told(w, 'number', 'assign', '4762', '--account', ada);
        await latest(ada, 'Home has another telephone number', '4762', '4761');
        told(w, 'number', 'assign', '4762', '--account', bob);
        await latest(ada, 'Home has no telephone number any more', '4762');
        await latest(bob, 'Home a un numéro de téléphone', '4762');
        told(w, 'number', 'release', '4762');
        await latest(bob, 'Home n’a plus de numéro de téléphone', '4762');
        told(w, 'number', 'add', '4763', '--account', bob);
        await latest(bob, 'Home a un numéro de téléphone', '4763');
        told(w, 'number', 'remove', '4763');
        await latest(bob, 'Home n’a plus de numéro de téléphone', '4763');
        assert.deepEqual([(await mails(ada)).length, (await mails(bob)).filter(({ code }) => !code).length], [3, 4]);
    });

    it('knows nothing of a number that it has not had', async () => {
        const email = freshEmail();
        told(w, 'account', 'add', email);
        for (const number of ['4751', '4752']) told(w, 'number', 'add', number);
        const session = await signIn(w.client, email);
        const home = await building(session);
        const status = async () => ok(await session.client.get(`/v1/buildings/${home.id}/setup`)).status;
        assert.equal(await status(), 'awaiting_subscription_or_provisioning');
        told(w, 'number', 'assign', '4751', '--account', email);
        assert.equal(await status(), 'building_setup_required');
        sql(w.daemon, `UPDATE building SET last_buzz_at = 1 WHERE id = '${home.id}';`);
        assert.equal(await status(), 'previous_buzz_recorded');
        told(w, 'number', 'assign', '4751', '--account', email);
        assert.equal(await status(), 'previous_buzz_recorded', 'the same number');
        told(w, 'number', 'assign', '4752', '--account', email);
        assert.equal(await status(), 'building_setup_required');
    });
});

describe('an installation that lists its residents from now on', () => {
    it('lets those sign in who have an account', async () => {
        const directory = temporaryDirectory();
        const start = (config) => world({ directory, config: { ...config, secrets: { master_key: '1'.repeat(64) } } });
        try {
            let w = await start({ ...LISTED, accounts: undefined });
            const { email } = await signIn(w.client);
            await w.close();
            w = await start(LISTED);
            ok(await w.client.as(undefined).post('/sandbox/clock', { advance_seconds: 2 })); // so that the mail is the newest
            await signIn(w.client, email);
            const stranger = freshEmail();
            ok(await w.client.as(undefined).post('/v1/auth/otp', { email: stranger }));
            assert.deepEqual(ok(await w.client.get(`/sandbox/messages?to=${encodeURIComponent(stranger)}`)).data, []);
            await w.close();
        } finally {
            rmSync(directory, { recursive: true, force: true });
        }
    });
});

describe('the configuration', () => {
    // KEY-11
    it('does not let everybody sign up for numbers that the operator pays for', () => {
        const directory = temporaryDirectory();
        const check = (text) => {
            writeFileSync(join(directory, 'portero.conf'), `data_dir = "${directory}"\n${text}`);
            return portero(['check-config', '--config', join(directory, 'portero.conf')]);
        };
        const twilio = `billing { provider = none }\nnumbers { provider = twilio }\ntwilio { account_sid = AC${'0'.repeat(32)} auth_token = x }\n`;
        assert.match(check(twilio).stderr, /accounts\.signup must be listed with billing\.provider none and numbers\.provider twilio/);
        const listed = check(`${twilio}accounts { signup = listed }\n`);
        assert.equal(listed.status, 0, listed.stderr);
        rmSync(directory, { recursive: true, force: true });
    });
});
