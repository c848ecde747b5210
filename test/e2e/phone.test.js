// The forwarding phone: contract "Forwarding phone"; docs/behaviour/account.md.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { added, owner } from './lib/buildings.js';
import { ok, refused } from './lib/client.js';
import { sql } from './lib/store.js';
import { advance, agent, HOUR, message, MINUTE, now, resident, setSubscription, signIn, TIMESTAMP, useWorld, visit } from './lib/world.js';

const PATH = '/v1/account/phone';
const freshPhone = () => `+1${randomInt(2_000_000_000, 10_000_000_000)}`;
const wrong = (code) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

describe('forwarding phone', () => {
    const w = useWorld();
    const { client } = w;

    const status = async (person) => ok(await person.client.get(PATH));
    const request = (person, phone_number) => person.client.post(`${PATH}/verification`, { phone_number });
    const confirm = (person, code) => person.client.post(`${PATH}/confirmation`, { code });
    const texts = async (phone) => ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(phone)}&channel=sms`)).data;
    const fault = async (body) => ok(await client.post('/sandbox/faults', { provider: 'sms', ...body }));

    /** Requests a code: the sent message. */
    async function requested(person, phone = freshPhone()) {
        const answer = ok(await request(person, phone));
        return { phone, answer, code: (await message(client, phone, 'sms')).code };
    }

    /** Verifies a phone: its number. */
    async function verified(person, phone = freshPhone()) {
        const { code } = await requested(person, phone);
        assert.equal(ok(await confirm(person, code)).phone_number, phone);
        return phone;
    }

    describe('verification', () => {
        it('begins with nothing', async () => {
            const person = await signIn(client);
            const { next_action, ...nothing } = await status(person);
            assert.deepEqual(nothing, { phone_number: null, verified: false, verified_at: null, pending: null });
            assert.ok(next_action.includes('/v1/account/phone/verification'));
        });

        // ACCOUNT-11
        it('sends a code of six digits that is valid for ten minutes, and shows that it waits', async () => {
            const person = await resident(client);
            const { phone, answer, code } = await requested(person);
            assert.deepEqual([answer.status, answer.phone_number], ['code_sent', phone]);
            assert.match(answer.expires_at, TIMESTAMP);
            assert.ok(Math.abs(Date.parse(answer.expires_at) - await now(client) - 10 * MINUTE) < MINUTE);
            assert.ok(!JSON.stringify(answer).includes(code));
            assert.match(code, /^\d{6}$/);
            const [sent] = await texts(phone);
            assert.deepEqual([sent.channel, sent.to, sent.subject], ['sms', phone, '']);
            assert.ok(sent.text.startsWith(`${code} `) && sent.text.length <= 160, sent.text);
            const seen = await status(person);
            assert.deepEqual([seen.phone_number, seen.verified, seen.verified_at], [null, false, null]);
            assert.deepEqual(seen.pending, { phone_number: phone, expires_at: answer.expires_at, attempts_left: 5 });
            assert.ok(seen.next_action.includes('/v1/account/phone/confirmation'));
        });

        // ACCOUNT-18
        it('ends with the code: the phone is the account\'s, and shows without another text', async () => {
            const person = await resident(client);
            const { phone, code } = await requested(person);
            const done = ok(await confirm(person, code));
            assert.deepEqual([done.phone_number, done.verified, done.pending], [phone, true, null]);
            assert.ok(Math.abs(Date.parse(done.verified_at) - await now(client)) < MINUTE);
            assert.deepEqual(await status(person), done);
            const again = await signIn(client, person.email);
            assert.deepEqual(await status(again), done);
            assert.equal((await texts(phone)).length, 1);
        });

        // CALL-12
        it('forwards visitors to the phone, and takes its calls for the owner\'s', async () => {
            const person = await resident(client);
            const visitor = freshPhone();
            assert.equal((await visit(client, { to: person.number, from: visitor })).forwarded_to, null);
            const phone = await verified(person);
            const call = await visit(client, { to: person.number, from: visitor });
            assert.deepEqual([call.outcome, call.forwarded_to], ['forwarded', phone]);
            assert.equal((await visit(client, { to: person.number, from: phone })).outcome, 'owner_call');
            const other = await verified(person);
            assert.equal((await visit(client, { to: person.number, from: visitor })).forwarded_to, other);
            assert.equal((await visit(client, { to: person.number, from: phone })).outcome, 'forwarded');
        });
    });

    describe('input', () => {
        const notPhones = [undefined, null, 5, '', '15551234567', '+0551234567', '+1555', '+1234567890123456', '+1 555 123 4567', '+1555123456a',
            ' +15551234567', '+15551234567\n', '+1５５５1234567', ['+15551234567']];
        for (const phone of notPhones) {
            it(`refuses ${JSON.stringify(phone)} as INVALID_PHONE_NUMBER`, async () => {
                const person = await signIn(client);
                refused(await request(person, phone), 400, 'INVALID_PHONE_NUMBER', 'phone_number');
            });
        }

        it('refuses fields that are unknown', async () => {
            const person = await signIn(client);
            refused(await person.client.post(`${PATH}/verification`, { phone_number: '+15551234567', channel: 'call' }), 400, 'INVALID_PHONE_NUMBER', 'channel');
            refused(await person.client.post(`${PATH}/confirmation`, { code: '123456', extra: 1 }), 400, 'INVALID_PHONE_CODE', 'extra');
        });

        it('takes the shortest and the longest number of E.164', async () => {
            const person = await resident(client);
            await verified(person, `+${randomInt(1_000_000, 9_999_999)}`);
            await verified(person, `+1${randomInt(10_000_000_000_000, 100_000_000_000_000)}`);
        });

        it('refuses a body that is not a JSON object', async () => {
            const person = await signIn(client);
            for (const step of ['verification', 'confirmation']) {
                for (const text of ['', '[]', '{', '"x"', '{"code":"1","code":"1"}']) {
                    refused(await person.client.request('POST', `${PATH}/${step}`, { text }), 400, 'INVALID_JSON');
                }
            }
        });

        // ACCOUNT-12
        it('lets a malformed code use up no attempt', async () => {
            const person = await resident(client);
            const { code } = await requested(person);
            for (const malformed of [undefined, null, 123456, '', '12345', '1234567', 'abcdef', ' 12345', '１２３４５６']) {
                refused(await confirm(person, malformed), 400, 'INVALID_PHONE_CODE', 'code');
            }
            assert.equal((await status(person)).pending.attempts_left, 5);
            ok(await confirm(person, code));
        });
    });

    describe('who may', () => {
        const operations = (c) => [c.get(PATH), c.post(`${PATH}/verification`, { phone_number: freshPhone() }), c.post(`${PATH}/confirmation`, { code: '123456' })];

        it('website sessions only', async () => {
            const person = await resident(client);
            const key = await agent(person, ['account:read', 'access:read', 'access:write', 'setup:write', 'billing:write']);
            for (const answer of await Promise.all(operations(key.client))) refused(answer, 403, 'WEB_SESSION_REQUIRED');
            for (const answer of await Promise.all(operations(client.as(undefined)))) refused(answer, 401, 'AUTH_REQUIRED');
        });

        it('no key of one building', async () => {
            const person = await resident(client);
            sql(w.daemon, `UPDATE building SET virtual_number = NULL WHERE id = '${person.building.id}';`);
            refused(await request(person, freshPhone()), 403, 'NUMBER_NOT_PROVISIONED');
            refused(await confirm(person, '123456'), 403, 'NUMBER_NOT_PROVISIONED');
        });

        // ACCOUNT-16
        it('one account at a time may have a phone', async () => {
            const [one, two] = [await resident(client), await resident(client)];
            const phone = await verified(one);
            refused(await request(one, phone), 409, 'ALREADY_VERIFIED');
            refused(await request(two, phone), 409, 'PHONE_IN_USE');
            const contested = freshPhone();
            const mine = await requested(one, contested);
            const theirs = await requested(two, contested);
            ok(await confirm(two, theirs.code));
            refused(await confirm(one, mine.code), 409, 'PHONE_IN_USE');
            assert.equal((await status(one)).phone_number, phone);
            await verified(two);
            ok(await confirm(one, mine.code));
        });
    });

    it('goes to exactly one of two accounts that confirm it at once', async () => {
        for (let round = 0; round < 5; round++) {
            const people = [await resident(client), await resident(client)];
            const phone = freshPhone();
            const codes = [];
            for (const person of people) codes.push((await requested(person, phone)).code);
            const answers = await Promise.all(people.map((person, i) => confirm(person, codes[i])));
            assert.deepEqual(answers.map((answer) => answer.body.error?.code ?? 'OK').sort(), ['OK', 'PHONE_IN_USE']);
            const seen = await Promise.all(people.map(status));
            assert.equal(seen.filter(({ phone_number }) => phone_number === phone).length, 1);
        }
    });

    describe('codes', () => {
        it('are forgiven four wrong ones', async () => {
            const person = await resident(client);
            const { code } = await requested(person);
            for (let left = 4; left >= 1; left--) {
                refused(await confirm(person, wrong(code)), 400, 'INVALID_PHONE_CODE');
                assert.equal((await status(person)).pending.attempts_left, left);
            }
            ok(await confirm(person, code));
        });

        // ACCOUNT-12, ACCOUNT-18
        it('are dead after the fifth wrong one, without Retry-After; a new one is not', async () => {
            const person = await resident(client);
            const { code } = await requested(person);
            for (let i = 0; i < 5; i++) refused(await confirm(person, wrong(code)), 400, 'INVALID_PHONE_CODE');
            for (let i = 0; i < 2; i++) {
                const answer = await confirm(person, code);
                refused(answer, 429, 'PHONE_CODE_ATTEMPTS');
                assert.equal(answer.headers['retry-after'], undefined);
            }
            const seen = await status(person);
            assert.equal(seen.pending.attempts_left, 0);
            assert.ok(seen.next_action.includes('verification'));
            await verified(person);
        });

        it('count wrong ones that come at once, one by one', async () => {
            const person = await resident(client);
            const { code } = await requested(person);
            const codes = (await Promise.all(Array.from({ length: 12 }, () => confirm(person, wrong(code))))).map((answer) => answer.body.error.code);
            assert.deepEqual(codes.sort(), [...Array(5).fill('INVALID_PHONE_CODE'), ...Array(7).fill('PHONE_CODE_ATTEMPTS')]);
        });

        it('are good once, also when they come several times at once', async () => {
            const person = await resident(client);
            const { code } = await requested(person);
            const outcomes = (await Promise.all(Array.from({ length: 8 }, () => confirm(person, code)))).map((answer) => answer.body.error?.code ?? answer.status);
            assert.deepEqual(outcomes.map(String).sort(), ['200', ...Array(7).fill('PHONE_CODE_EXPIRED')]);
            refused(await confirm(person, code), 400, 'PHONE_CODE_EXPIRED');
        });

        // ACCOUNT-12
        it('are good for ten minutes', async () => {
            const person = await resident(client);
            refused(await confirm(person, '123456'), 400, 'PHONE_CODE_EXPIRED');
            const { code } = await requested(person);
            await advance(client, 9 * MINUTE / 1000);
            refused(await confirm(person, wrong(code)), 400, 'INVALID_PHONE_CODE');
            await advance(client, MINUTE / 1000);
            refused(await confirm(person, code), 400, 'PHONE_CODE_EXPIRED');
            assert.equal((await status(person)).pending, null);
        });

        // ACCOUNT-11
        it('give way to the newest one', async () => {
            const person = await resident(client);
            const first = await requested(person);
            const second = await requested(person);
            assert.equal((await status(person)).pending.phone_number, second.phone);
            if (first.code !== second.code) refused(await confirm(person, first.code), 400, 'INVALID_PHONE_CODE');
            assert.equal(ok(await confirm(person, second.code)).phone_number, second.phone);
            refused(await confirm(person, first.code), 400, 'PHONE_CODE_EXPIRED');
        });

        it('are another account\'s for nobody else', async () => {
            const [one, two] = [await resident(client), await resident(client)];
            const { code } = await requested(one);
            refused(await confirm(two, code), 400, 'PHONE_CODE_EXPIRED');
        });

        it('survive a crash', async () => {
            const person = await resident(client);
            const { code, phone } = await requested(person);
            await w.daemon.crash();
            await w.daemon.start();
            assert.equal(ok(await confirm(person, code)).phone_number, phone);
        });

        // ACCOUNT-23
        it('are never in the log', async () => {
            const person = await resident(client);
            const { code, phone } = await requested(person);
            await fault({ fault: 'decline' });
            refused(await request(person, freshPhone()), 500, 'PHONE_CODE_SEND_FAILED');
            ok(await confirm(person, code));
            for (const secret of [code, phone]) assert.ok(!w.daemon.stderr.includes(secret), `the log has ${secret}`);
        });
    });

    describe('limits', () => {
        // ACCOUNT-13
        it('three codes in 15 minutes, then one for each that is older', async () => {
            const person = await resident(client);
            await requested(person);
            await advance(client, 60);
            await requested(person);
            await requested(person);
            const answer = await request(person, freshPhone());
            refused(answer, 429, 'PHONE_CODE_RATE_LIMIT');
            const wait = Number(answer.headers['retry-after']);
            assert.ok(wait > 0 && wait <= 14 * 60, `Retry-After: ${wait}`);
            await advance(client, wait);
            await requested(person);
            refused(await request(person, freshPhone()), 429, 'PHONE_CODE_RATE_LIMIT');
        });

        it('three codes, however many are asked for at once', async () => {
            const person = await resident(client);
            const phones = Array.from({ length: 8 }, freshPhone);
            const answers = await Promise.all(phones.map((phone) => request(person, phone)));
            assert.equal(answers.filter((answer) => answer.status === 200).length, 3);
            for (const answer of answers.filter((a) => a.status !== 200)) refused(answer, 429, 'PHONE_CODE_RATE_LIMIT');
            assert.equal((await Promise.all(phones.map(texts))).flat().length, 3);
        });

        // ACCOUNT-13
        it('three changes in 24 hours, refused at the request already', async () => {
            const person = await resident(client);
            await verified(person);
            await advance(client, HOUR / 1000);
            for (let i = 0; i < 2; i++) await verified(person);
            const answer = await request(person, freshPhone());
            refused(answer, 429, 'PHONE_CHANGE_LIMIT');
            const wait = Number(answer.headers['retry-after']);
            assert.ok(wait > 22 * 3600 && wait <= 23 * 3600, `Retry-After: ${wait}`);
            await advance(client, wait);
            const later = await signIn(client, person.email); // the session has run out
            await verified(later);
            refused(await request(later, freshPhone()), 429, 'PHONE_CHANGE_LIMIT');
        });
    });

    describe('a text that cannot be sent', () => {
        // ACCOUNT-19
        it('is tried twice when the provider does not answer', async () => {
            for (const kind of ['timeout', 'error']) {
                const person = await resident(client);
                await fault({ fault: kind });
                const { code } = await requested(person);
                ok(await confirm(person, code));
            }
        });

        // ACCOUNT-19
        it('fails when it does not answer again, or refuses, and its code is good for nothing', async () => {
            const person = await resident(client);
            const waiting = await requested(person);
            for (const order of [{ fault: 'timeout', count: 2 }, { fault: 'decline' }]) {
                await fault({ operation: 'send', ...order });
                const phone = freshPhone();
                refused(await request(person, phone), 500, 'PHONE_CODE_SEND_FAILED');
                assert.deepEqual(await texts(phone), []);
            }
            assert.equal((await status(person)).pending.phone_number, waiting.phone);
            refused(await request(person, freshPhone()), 429, 'PHONE_CODE_RATE_LIMIT');
            assert.equal(ok(await confirm(person, waiting.code)).phone_number, waiting.phone);
        });

        it('leaves no good code when the process dies after it was sent', async () => {
            const person = await resident(client);
            const phone = freshPhone();
            await fault({ fault: 'crash_after' });
            await assert.rejects(request(person, phone));
            assert.deepEqual(await w.daemon.exited(), { code: null, signal: 'SIGKILL' });
            await w.daemon.start();
            const { code } = await message(client, phone, 'sms');
            refused(await confirm(person, code), 400, 'PHONE_CODE_EXPIRED');
            assert.equal((await status(person)).pending, null);
            await verified(person);
        });
    });

    describe('faults on order', () => {
        it('name a provider, a fault and how often', async () => {
            assert.deepEqual(await fault({ fault: 'error', count: 2 }), { provider: 'sms', operation: null, fault: 'error', count: 2 });
            assert.deepEqual(await fault({ fault: 'none' }), { provider: 'sms', operation: null, fault: 'none', count: 0 });
            const person = await resident(client);
            await requested(person);
            for (const body of [{ provider: 'fax' }, { fault: 'fire' }, { count: 0 }, { count: 1.5 }, { count: '1' }, { operation: '' }, { operation: 5 },
                { operation: 'x'.repeat(32) }, { provider: undefined }, { fault: undefined }, { colour: 'red' }]) {
                refused(await client.post('/sandbox/faults', { provider: 'sms', fault: 'error', ...body }), 400, 'BAD_REQUEST');
            }
        });

        it('can be had for one operation only', async () => {
            await fault({ operation: 'receive', fault: 'decline' });
            await requested(await resident(client));
            await fault({ fault: 'none' });
        });
    });

    describe('of a linked building', () => {
        const rings = async ({ virtual_number: to }) => (await visit(client, { to })).forwarded_to;
        // BUILDING-11, BUILDING-35
        it('follows the account\'s unless one was given', async () => {
            const who = await owner(client);
            const cabin = await added(who);
            const was = await rings(cabin);
            assert.match(was, /^\+1/);
            const shown = async () => ok(await who.client.get(`/v1/buildings/${cabin.id}/settings`));
            assert.equal((await shown()).forward_phone, null);
            const next = await verified(who);
            assert.equal(await rings(cabin), next);
            const set = async (forward_phone) => {
                const { version } = await shown();
                return who.client.patch(`/v1/buildings/${cabin.id}/settings`, { forward_phone }, { headers: { 'If-Match': version } });
            };
            refused(await set(freshPhone()), 400, 'FORWARDING_PHONE_NOT_VERIFIED');
            refused(await set('5551234'), 400, 'INVALID_PHONE_NUMBER');
            assert.equal(ok(await set(was)).forward_phone, was);
            assert.equal(await rings(cabin), was);
            const { version } = await shown();
            const stranger = await owner(client);
            await verified(stranger, was);
            const now = await shown();
            assert.deepEqual([now.forward_phone, now.version === version], [null, false]);
            assert.equal(await rings(cabin), next);
            refused(await set(was), 400, 'FORWARDING_PHONE_NOT_VERIFIED');
            assert.equal(ok(await set(next)).forward_phone, next);
            assert.equal(ok(await set(null)).forward_phone, null);
        });
    });
});
