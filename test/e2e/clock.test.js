// The system's clock is wrong and is then set, while the service runs or between two runs (docs/operations.md, "The clock").
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { ok } from './lib/client.js';
import { Daemon, engine, portero, temporaryDirectory } from './lib/daemon.js';
import { METRICS, page, raised } from './lib/metrics.js';
import { ownClock } from './lib/nodes.js';
import { productionOptions } from './lib/production.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { signInBrowser } from './lib/site.js';
import { sql } from './lib/store.js';
import { advance, changeSettings, eventually, freshEmail, grant, resident, setSubscription, signIn, visit, world } from './lib/world.js';

const HOURS_S = 3600;
const DAYS_S = 24 * HOURS_S;
const LIMITS = { requests_active: 20 };

const statusOf = (daemon) => JSON.parse(portero(['admin', 'status', '--config', daemon.configPath, '--data', daemon.data, '--json']).stdout);

describe('a clock that was wrong', () => {
    const directory = temporaryDirectory();
    const receiver = useReceiver();
    let clock, w, client, daemon, steps = 0;
    before(async () => {
        clock = ownClock(directory);
        w = await world({ directory, env: clock.env, config: { limits: LIMITS, ...REACHABLE, ...METRICS } });
        ({ client, daemon } = w);
    });
    after(async () => {
        await w?.close();
        rmSync(directory, { recursive: true, force: true });
    });

    const noticed = () => daemon.stderr.split('clock was set').length - 1;
    /** Sets the clock, which the service notices. */
    const set = async (seconds) => {
        clock.move(seconds);
        steps++;
        await eventually(() => noticed() === steps, 'a step of the clock');
    };
    const status = () => statusOf(daemon);
    const outcome = async (person, digits) => (await visit(client, { to: person.number, digits })).outcome;
    const ask = async (email) => (await client.as(undefined).post('/v1/auth/otp', { email })).status;

    // SERVICE-40
    it('(40 days ahead, for a moment) deletes nothing and gives no number back', async () => {
        assert.equal(status().clock_step_s, null);
        assert.equal(status().clock_settles_s, 0);
        const before = await page(daemon);
        const person = await resident(client);
        const gone = await resident(client);
        await grant(person, { type: 'passcode', label: 'Ana', access_code: '7350' });
        for (let i = 0; i < 3; i++) assert.equal(await outcome(person, '7350'), 'released');
        await setSubscription(client, gone.email, 'canceled');
        await set(40 * DAYS_S);
        await advance(client, 0); // runs what is due
        assert.ok(Math.abs(status().clock_step_s - 40 * DAYS_S) <= 1);
        await set(0);
        await advance(client, 0);
        assert.equal(ok(await (await signIn(client, person.email)).client.get('/v1/calls')).data.length, 3);
        assert.equal(ok(await (await signIn(client, gone.email)).client.get('/v1/buildings')).data[0].virtual_number, gone.number);
        const { clock_step_s, clock_settles_s } = status();
        assert.ok(Math.abs(clock_step_s + 40 * DAYS_S) <= 1);
        assert.ok(clock_settles_s > 3000 && clock_settles_s <= 3600, String(clock_settles_s));
        const { portero_clock_steps_total: count, portero_clock_doubted: doubted } = raised(before, await page(daemon));
        assert.deepEqual([count, doubted], [2, 1]);
    });

    // SERVICE-41
    it('(9 hours ahead) is in no ID that is made after it', async () => {
        const secondOf = (id) => Number.parseInt(id.slice(0, 8), 16);
        const person = await resident(client);
        await set(9 * HOURS_S);
        const wrong = await grant(person, { type: 'passcode', label: 'Ana', access_code: '7350' });
        await set(0);
        const right = await grant(person, { type: 'passcode', label: 'Bob', access_code: '7351' });
        const aheadOf = ({ id }) => secondOf(id) - Date.now() / 1000;
        assert.ok(aheadOf(wrong) > 8 * HOURS_S, wrong.id);
        assert.ok(aheadOf(right) < HOURS_S, right.id);
    });

    const mails = async ({ email }) => ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(email)}&limit=100`)).data.filter(({ subject }) => subject === 'The door opened').length;
    /** When the purge, which runs every hour, is due. */
    const purgeAfter = () => Number(sql(daemon, "SELECT due_at FROM job WHERE kind = 'purge'")) / 1e6 - Date.now() / 1000;

    /** Does, by the present clock, what limits, closings and retries count, and jobs are dated by. */
    const use = async (ahead) => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Ana', access_code: '7350' });
        const path = `/${person.building.id}`;
        receiver.answer = (request, response) => response.writeHead(500).end();
        ok(await person.client.post('/v1/webhooks', { url: receiver.url(path) }), 201);
        const { site } = await signInBrowser(client, { email: person.email });
        ok(await site.put(`/v1/buildings/${person.building.id}/notices/email`, { notices: ['opened'] }));
        assert.equal(await outcome(person, '7350'), 'released');
        await eventually(() => receiver.to(path).length === 1, 'the first attempt');
        await eventually(async () => await mails(person) === 1, 'the first mail');
        for (let i = 0; i < 5; i++) await outcome(person, '0000');
        assert.notEqual(await outcome(person, '7350'), 'released', 'the keypad is closed');
        const email = freshEmail();
        while (await ask(email) === 200);
        let answer;
        do answer = await person.client.get('/v1/buildings'); while (answer.status === 200);
        assert.equal(answer.status, 429);
        if (ahead > 0) await eventually(() => purgeAfter() > ahead - HOURS_S, 'a purge by this clock');
        return { person, path, email };
    };
    /** None of it lasts. */
    const free = async ({ person, path, email }) => {
        receiver.answer = undefined;
        await eventually(() => receiver.to(path).length > 1, 'the second attempt');
        await eventually(async () => await outcome(person, '7350') === 'released', 'a keypad that is open');
        await eventually(async () => await mails(person) > 1, 'the next mail');
        await eventually(async () => await ask(email) === 200, 'a code to sign in');
        assert.equal((await person.client.get('/v1/buildings')).status, 200);
        await eventually(() => purgeAfter() <= HOURS_S, 'the next purge');
    };

    for (const [way, ahead] of [['ahead', 9 * HOURS_S], ['behind', -9 * HOURS_S]]) {
        for (const [when, right] of [
            ['', () => set(0)],
            [' until a stop', async () => {
                await daemon.terminate();
                clock.move(0);
                await daemon.start();
            }],
        ]) {
            // SERVICE-39
            it(`(9 hours ${way}${when}) leaves nobody waiting, and what was made before as it was`, async () => {
                const before = await resident(client);
                await grant(before, { type: 'passcode', label: 'Ana', access_code: '7350' });
                await set(ahead);
                const used = await use(ahead);
                await changeSettings(before, { unlock_tone: '5' });
                await right();
                await free(used);
                assert.equal(await outcome(before, '7350'), 'released');
                assert.equal((await before.client.get('/v1/buildings')).status, 200, 'signed in still');
            });
        }
    }
});

// With such a clock, a service on PostgreSQL does not start.
if (engine === 'sqlite') describe('a service in production', () => {
    const directory = temporaryDirectory();
    let daemon;
    after(async () => {
        await daemon?.stop();
        rmSync(directory, { recursive: true, force: true });
    });

    // SERVICE-40
    it('deletes nothing for an hour where it starts days after its last run, or before it', async () => {
        const clock = ownClock(directory);
        const options = productionOptions(directory);
        daemon = new Daemon({ ...options, env: { ...options.env, ...clock.env } });
        for (const [ahead, doubted] of [[0, false], [2 * DAYS_S, true], [0, true]]) {
            clock.move(ahead);
            daemon.stderr = '';
            await daemon.start();
            assert.equal(statusOf(daemon).clock_settles_s > 3000, doubted);
            assert.equal(daemon.stderr.includes('clock is far from the last run of the service'), doubted);
            await daemon.terminate();
        }
    });
});
