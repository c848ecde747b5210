// The derived status of grants as time goes by: contract "Access grant status"; docs/behaviour/grants.md. The sandbox's clock moves.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { advance, agent, edit, grant, HOUR, iso, MINUTE, now, resident, useWorld, visit } from './lib/world.js';

describe('status', () => {
    const w = useWorld();
    const { client } = w;
    let person;
    before(async () => {
        const owner = await resident(client);
        const robot = await agent(owner, ['access:read', 'access:write'], { expires_in_days: 90 });
        person = { ...owner, client: robot.client };
    });

    const status = async ({ id }) => ok(await person.client.get(`/v1/unlock/${id}`)).status;
    const clear = async () => {
        for (const { id } of ok(await person.client.get('/v1/unlock?limit=100')).data) ok(await person.client.delete(`/v1/unlock/${id}`));
    };

    it('of a timer goes from scheduled over active to expired, and an edit brings it back', async () => {
        const at = await now(client);
        let made = await grant(person, { type: 'timer', starts_at: iso(at + HOUR), expires_in_minutes: 60 });
        assert.equal(await status(made), 'scheduled');
        await advance(client, HOUR / 1000 + 1);
        assert.equal(await status(made), 'active');
        await advance(client, HOUR / 1000 + 1);
        assert.equal(await status(made), 'expired');
        assert.equal(ok(await person.client.get(`/v1/unlock/${made.id}`)).version, 0);
        made = ok(await edit(person, made, { expires_in_minutes: 30 }));
        assert.equal(made.status, 'active');
        made = ok(await edit(person, made, { enabled: false }));
        await advance(client, HOUR / 1000);
        assert.equal(await status(made), 'inactive', 'switched off stays inactive when its end has passed');
        await clear();
    });

    it('of a passcode goes to expired, and removing the end brings it back', async () => {
        const made = await grant(person, { type: 'passcode', expires_in_minutes: 10 });
        await advance(client, 10 * MINUTE / 1000 + 1);
        assert.equal(await status(made), 'expired');
        assert.equal(ok(await edit(person, made, { ends_at: null })).status, 'active');
        await clear();
    });

    // GRANT-15
    it('goes to exhausted with the last use, and new uses bring it back', async () => {
        let made = await grant(person, { type: 'passcode', access_code: '2580', remaining_uses: 2 });
        for (const left of [1, 0]) {
            assert.equal((await visit(client, { to: person.number, digits: '2580' })).outcome, 'released');
            made = ok(await person.client.get(`/v1/unlock/${made.id}`));
            assert.equal(made.remaining_uses, left);
        }
        assert.deepEqual([made.status, made.version], ['exhausted', 0]);
        assert.notEqual((await visit(client, { to: person.number, digits: '2580' })).outcome, 'released');
        made = ok(await edit(person, made, { remaining_uses: 1 }));
        assert.equal(made.status, 'active');
        assert.equal((await visit(client, { to: person.number, digits: '2580' })).outcome, 'released');
        await clear();
    });

    // GRANT-14
    it('puts inactive before exhausted, exhausted before expired', async () => {
        let made = await grant(person, { type: 'timer', expires_in_minutes: 10, remaining_uses: 1 });
        assert.equal((await visit(client, { to: person.number })).outcome, 'released');
        assert.equal(await status(made), 'exhausted');
        await advance(client, HOUR / 1000);
        assert.equal(await status(made), 'exhausted');
        made = ok(await edit(person, made, { enabled: false }));
        assert.equal(made.status, 'inactive');
        await clear();
    });

    it('of a routine is active outside its window, which opens the door only inside', async () => {
        // The next Monday, 07:30 in Berlin.
        const at = new Date(await now(client));
        const days = (8 - at.getUTCDay()) % 7 || 7;
        const monday = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + days));
        const local = (hour, minute) => {
            for (const offset of [1, 2]) {
                const guess = monday.getTime() + (hour - offset) * HOUR + minute * MINUTE;
                const shown = new Date(guess).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' });
                if (shown === `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`) return guess;
            }
            throw new Error('no such time');
        };
        const goTo = async (ms) => advance(client, Math.ceil((ms - await now(client)) / 1000));
        const made = await grant(person, { type: 'routine', days: ['monday'], start: '08:00', end: '10:00', timezone: 'Europe/Berlin' });
        const outcomes = [];
        for (const [hour, minute] of [[7, 59], [8, 0], [9, 59], [10, 0]]) {
            await goTo(local(hour, minute));
            assert.equal(await status(made), 'active');
            outcomes.push((await visit(client, { to: person.number })).outcome);
        }
        assert.deepEqual(outcomes, ['forwarded', 'released', 'released', 'forwarded']);
        await goTo(local(8, 30) + 24 * HOUR);
        assert.equal((await visit(client, { to: person.number })).outcome, 'forwarded', 'on Tuesday');
        await clear();
    });
});
