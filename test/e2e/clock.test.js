// The system's clock is wrong and is then set, while the service runs or between two runs (docs/operations.md, "The clock").
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { ok } from './lib/client.js';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { ownClock } from './lib/nodes.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { advance, changeSettings, eventually, freshEmail, grant, resident, setSubscription, signIn, visit, world } from './lib/world.js';

const HOURS_S = 3600;
const DAYS_S = 24 * HOURS_S;
const LIMITS = { requests_active: 20 };

describe('a clock that was wrong', () => {
    const directory = temporaryDirectory();
    const receiver = useReceiver();
    let clock, w, client, daemon, steps = 0;
    before(async () => {
        clock = ownClock(directory);
        w = await world({ directory, env: clock.env, config: { limits: LIMITS, ...REACHABLE } });
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
    const status = () => JSON.parse(portero(['admin', 'status', '--config', daemon.configPath, '--data', daemon.data, '--json']).stdout);
    const outcome = async (person, digits) => (await visit(client, { to: person.number, digits })).outcome;
    const ask = async (email) => (await client.as(undefined).post('/v1/auth/otp', { email })).status;

    // SERVICE-40
    it('(40 days ahead, for a moment) deletes nothing and gives no number back', async () => {
        assert.equal(status().clock_step_s, null);
        assert.equal(status().clock_settles_s, 0);
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

    /** Does, by the present clock, what limits, closings and retries count. */
    const use = async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Ana', access_code: '7350' });
        const path = `/${person.building.id}`;
        receiver.answer = (request, response) => response.writeHead(500).end();
        ok(await person.client.post('/v1/webhooks', { url: receiver.url(path) }), 201);
        assert.equal(await outcome(person, '7350'), 'released');
        await eventually(() => receiver.to(path).length === 1, 'the first attempt');
        for (let i = 0; i < 5; i++) await outcome(person, '0000');
        assert.notEqual(await outcome(person, '7350'), 'released', 'the keypad is closed');
        const email = freshEmail();
        while (await ask(email) === 200);
        let answer;
        do answer = await person.client.get('/v1/buildings'); while (answer.status === 200);
        assert.equal(answer.status, 429);
        return { person, path, email };
    };
    /** None of it lasts. */
    const free = async ({ person, path, email }) => {
        receiver.answer = undefined;
        await eventually(() => receiver.to(path).length > 1, 'the second attempt');
        await eventually(async () => await outcome(person, '7350') === 'released', 'a keypad that is open');
        await eventually(async () => await ask(email) === 200, 'a code to sign in');
        assert.equal((await person.client.get('/v1/buildings')).status, 200);
    };

    // SERVICE-39
    it('(9 hours ahead) leaves nobody waiting', async () => {
        await set(9 * HOURS_S);
        const used = await use();
        await set(0);
        await free(used);
    });

    it('(9 hours ahead until a stop) leaves nobody waiting after the start', async () => {
        await set(9 * HOURS_S);
        const used = await use();
        await daemon.terminate();
        clock.move(0);
        await daemon.start();
        await free(used);
    });

    it('(9 hours behind) changes nothing for what was made before, and nothing stays closed after it', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Ana', access_code: '7350' });
        await set(-9 * HOURS_S);
        const used = await use();
        await changeSettings(person, { unlock_tone: '5' });
        await set(0);
        await free(used);
        assert.equal(await outcome(person, '7350'), 'released');
        assert.equal((await person.client.get('/v1/buildings')).status, 200, 'signed in still');
    });
});
