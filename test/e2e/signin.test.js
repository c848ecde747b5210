// Sign-in by e-mail code: contract "Public, sign-in and keys", Authentication 2; docs/behaviour/keys.md.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { advance, challenge, freshEmail, HOUR, message, MINUTE, signIn, useWorld } from './lib/world.js';

const wrong = (otp) => String((Number(otp) + 1) % 1_000_000).padStart(6, '0');

describe('sign-in', () => {
    const w = useWorld({ config: { log_level: 'debug' } });
    const { client } = w;

    const verify = (email, sent, more = {}) => client.post('/v1/auth/verify', { email, purpose: 'web', ...sent, ...more });

    it('sends a six-digit code and gives a session key for it', async () => {
        const email = freshEmail();
        const asked = ok(await client.post('/v1/auth/otp', { email }));
        assert.match(asked.challenge, /^chl_[0-9a-f]{32}$/);
        assert.ok(asked.message.length > 0);
        const mail = await message(client, email);
        assert.match(mail.code, /^[0-9]{6}$/);
        assert.ok(mail.text.includes(mail.code));
        assert.equal(mail.to, email);
        const session = ok(await verify(email, { challenge: asked.challenge, otp: mail.code }));
        assert.match(session.apiKey, /^svc_web_[0-9A-Za-z]{43}$/);
        assert.equal(session.keyPrefix, session.apiKey.slice(0, 16));
        assert.equal(session.name, 'Website session');
        assert.equal(ok(await client.as(session.apiKey).get('/v1/account')).email, email);
    });

    it('creates the account at the first sign-in only', async () => {
        const first = await signIn(client);
        const second = await signIn(client, first.email);
        const [a, b] = [ok(await first.client.get('/v1/account')), ok(await second.client.get('/v1/account'))];
        assert.equal(a.id, b.id);
        assert.notEqual(first.key, second.key);
    });

    it('trims and lower-cases the address', async () => {
        const email = freshEmail();
        const loud = ` \u00a0${email.toUpperCase()}\u2003`;
        const { challenge: id } = ok(await client.post('/v1/auth/otp', { email: loud }));
        const { code } = await message(client, email);
        const { apiKey } = ok(await verify(loud, { challenge: id, otp: code }));
        assert.equal(ok(await client.as(apiKey).get('/v1/account')).email, email);
    });

    it('creates one account when an address signs in twice at once', async () => {
        const email = freshEmail();
        const both = [await challenge(client, email), await challenge(client, email)];
        const answers = await Promise.all(both.map((sent) => verify(email, sent)));
        const ids = await Promise.all(answers.map(async (answer) => ok(await client.as(ok(answer).apiKey).get('/v1/account')).id));
        assert.equal(ids[0], ids[1]);
    });

    const notEmails = [undefined, null, 5, '', '   ', 'nobody', '@example.com', 'nobody@', 'a b@example.com', 'a@b@example.com',
        'a@exa mple.com', 'a\n@example.com', `${'a'.repeat(250)}@x.com`, ['a@example.com'], 'a@-', 'a@.example.com'];
    for (const email of notEmails) {
        // KEY-9
        it(`refuses ${JSON.stringify(email)} as INVALID_EMAIL`, async () => {
            refused(await client.post('/v1/auth/otp', { email }), 400, 'INVALID_EMAIL', 'email');
            refused(await verify(email, { challenge: 'chl_00000000000000000000000000000000', otp: '123456' }), 400, 'INVALID_EMAIL', 'email');
        });
    }

    // KEY-7
    it('answers alike whether or not the address has an account', async () => {
        const known = await signIn(client);
        const answers = [await client.post('/v1/auth/otp', { email: known.email }), await client.post('/v1/auth/otp', { email: freshEmail() })];
        const [a, b] = answers.map((answer) => ok(answer));
        assert.equal(a.message, b.message);
        assert.deepEqual(Object.keys(a), Object.keys(b));
        assert.equal(answers[0].text.length, answers[1].text.length);
    });

    it('refuses a purpose other than web before it consumes the code', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        for (let i = 0; i < 6; i++) {
            refused(await verify(email, sent, { purpose: 'cli' }), 400, 'WEBSITE_SIGN_IN_REQUIRED');
            refused(await verify(email, sent, { purpose: undefined }), 400, 'WEBSITE_SIGN_IN_REQUIRED');
        }
        ok(await verify(email, sent));
    });

    it('uses a challenge once', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        ok(await verify(email, sent));
        refused(await verify(email, sent), 401, 'INVALID_OTP');
    });

    it('uses a challenge once when the right code comes several times at once', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        const statuses = (await Promise.all(Array.from({ length: 8 }, () => verify(email, sent)))).map((answer) => answer.status);
        assert.deepEqual(statuses.sort(), [200, 401, 401, 401, 401, 401, 401, 401]);
    });

    // KEY-1
    it('refuses an unknown challenge, and one of another address, as INVALID_OTP', async () => {
        const [mine, theirs] = [freshEmail(), freshEmail()];
        const sent = await challenge(client, mine);
        refused(await verify(theirs, sent), 401, 'INVALID_OTP');
        refused(await verify(mine, { ...sent, challenge: 'chl_00000000000000000000000000000000' }), 401, 'INVALID_OTP');
        refused(await verify(mine, { ...sent, challenge: 'nonsense' }), 401, 'INVALID_OTP');
        ok(await verify(mine, sent));
    });

    it('allows four wrong codes before the right one', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        for (let i = 0; i < 4; i++) refused(await verify(email, { ...sent, otp: wrong(sent.otp) }), 401, 'INVALID_OTP');
        ok(await verify(email, sent));
    });

    // KEY-2
    it('kills the challenge at the fifth wrong code, also for the right one', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        for (let i = 0; i < 5; i++) refused(await verify(email, { ...sent, otp: wrong(sent.otp) }), 401, 'INVALID_OTP');
        refused(await verify(email, sent), 401, 'INVALID_OTP');
    });

    // KEY-1
    it('counts a malformed code as an attempt', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        for (const otp of ['12345', '1234567', 'abcdef', ' 12345', '１２３４５６']) {
            refused(await verify(email, { ...sent, otp }), 401, 'INVALID_OTP');
        }
        refused(await verify(email, sent), 401, 'INVALID_OTP');
    });

    it('counts wrong codes that come at once, one by one', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        await Promise.all(Array.from({ length: 12 }, () => verify(email, { ...sent, otp: wrong(sent.otp) })));
        refused(await verify(email, sent), 401, 'INVALID_OTP');
    });

    // KEY-4
    it('refuses the fourth unexpired challenge of an address, without Retry-After; a used one makes room', async () => {
        const email = freshEmail();
        const sent = [];
        for (let i = 0; i < 3; i++) sent.push(await challenge(client, email));
        const answer = await client.post('/v1/auth/otp', { email });
        refused(answer, 429, 'OTP_RATE_LIMIT');
        assert.equal(answer.headers['retry-after'], undefined);
        ok(await verify(email, sent[0]));
        ok(await client.post('/v1/auth/otp', { email }));
    });

    it('makes three challenges of an address, however many are asked for at once', async () => {
        const email = freshEmail();
        const answers = await Promise.all(Array.from({ length: 12 }, () => client.post('/v1/auth/otp', { email })));
        assert.equal(answers.filter(({ status }) => status === 200).length, 3);
        for (const answer of answers.filter(({ status }) => status !== 200)) refused(answer, 429, 'OTP_RATE_LIMIT');
    });

    // KEY-4
    it('lets a dead challenge count towards the three until it expires', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        for (let i = 0; i < 5; i++) await verify(email, { ...sent, otp: wrong(sent.otp) });
        await challenge(client, email);
        await challenge(client, email);
        refused(await client.post('/v1/auth/otp', { email }), 429, 'OTP_RATE_LIMIT');
        await advance(client, 15 * MINUTE / 1000 + 1);
        ok(await client.post('/v1/auth/otp', { email }));
    });

    it('lets a challenge live for 15 minutes', async () => {
        const [early, late] = [freshEmail(), freshEmail()];
        const [first, second] = [await challenge(client, early), await challenge(client, late)];
        await advance(client, 14 * MINUTE / 1000);
        ok(await verify(early, first));
        await advance(client, MINUTE / 1000 + 1);
        refused(await verify(late, second), 401, 'INVALID_OTP');
    });

    it('lets a session live for 12 hours', async () => {
        const session = await signIn(client);
        await advance(client, 12 * HOUR / 1000 - 60);
        ok(await session.client.get('/v1/account'));
        await advance(client, 61);
        refused(await session.client.get('/v1/account'), 401, 'INVALID_KEY');
    });

    // KEY-3
    it('writes no code or challenge into the log, at any level', async () => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        await verify(email, { ...sent, otp: 'zqxjkv' });
        await verify(email, sent);
        for (const secret of [sent.challenge, 'zqxjkv']) {
            assert.ok(!w.daemon.stderr.includes(secret), `the log has ${secret}`);
        }
    });
});
