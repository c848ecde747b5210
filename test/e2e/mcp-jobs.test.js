// The jobs of docs/agents.md and of residents by tool calls alone: an assistant has the key and /mcp, nothing else. Each
// job has the fewest calls that it can have, which are counted; the service, asked another way, says that it is done.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { sdks } from './lib/mcp.js';
import { addition, owner, removal } from './lib/buildings.js';
import { agent, eventually, iso, MINUTE, now, passMidnight, signIn, useWorld, visit } from './lib/world.js';

const SCOPES = ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write', 'billing:write', 'buildings:write'];

describe('jobs by tool calls', () => {
    const w = useWorld({ config: { webhooks: { allow_private: true } } });
    const { client } = w;
    let person;
    let assistant;
    let calls;
    const known = {}; // the assistant remembers the grants of earlier jobs
    const table = [];

    /** One call of a tool: its result, which is no error. */
    const tool = async (name, args = {}) => {
        calls++;
        const result = await assistant.callTool({ name, arguments: args });
        assert.ok(!result.isError, result.content[0].text);
        return result.structuredContent;
    };
    /** A job of so many calls. `work` gives what the assistant would report; `check` holds it against the service. */
    const job = (title, most, work, check) => it(`${title}: ${most === 1 ? 'one call' : `${most} calls`}`, async () => {
        calls = 0;
        const report = await work();
        assert.equal(calls, most);
        table.push(most);
        await check(report);
    });
    const stored = async (id) => ok(await person.client.get(`/v1/unlock/${id}`));
    const buzz = (digits) => visit(client, { to: person.number, ...(digits ? { digits } : {}) });

    before(async () => {
        person = await owner(client);
        await passMidnight(client);
        assistant = await sdks.current(w.daemon, (await agent(person, SCOPES)).key);
        await assistant.listTools();
    });
    after(() => assistant.close());

    job('tell whether the door can open', 1,
        () => tool('getAccount'),
        ({ readiness, next_actions: next }) => assert.deepEqual([readiness.can_create_access, Array.isArray(next)], [true, true]));

    job('set the release tone', 1,
        () => tool('updateSettings', { unlock_tone: '5' }),
        async () => assert.equal(ok(await person.client.get(`/v1/buildings/${person.building.id}/settings`)).unlock_tone, '5'));

    job('say what would happen if somebody rang now', 1,
        () => tool('getDecision'),
        (decision) => assert.equal(decision.reason, 'no_grant'));

    job('make a code for a parcel', 1,
        async () => { known.parcel = await tool('createUnlock', { type: 'passcode', label: 'Parcel', remaining_uses: 1, expires_in_minutes: 1440 }); },
        async () => assert.equal((await buzz(known.parcel.access_code)).outcome, 'released'));

    job('make a page for a guest', 2,
        async () => {
            known.guest = await tool('createUnlock', { type: 'passcode', label: 'Guest', expires_in_minutes: 2880 });
            return tool('createUnlockLink', { id: known.guest.id });
        },
        async ({ url }) => assert.match(new URL(url).pathname, /^\/g\//));

    job('open the door for a party', 1,
        async () => {
            const start = await now(client) + 300 * MINUTE;
            known.party = await tool('createUnlock', { type: 'timer', label: 'Party', starts_at: iso(start), ends_at: iso(start + 300 * MINUTE) });
        },
        async () => assert.equal((await stored(known.party.id)).status, 'scheduled'));

    job('let the cleaner in every Tuesday from 9 to 11', 1,
        async () => { known.cleaner = await tool('createUnlock', { type: 'routine', label: 'Cleaner', days: ['tuesday'], start: '09:00', end: '11:00', timezone: 'America/New_York' }); },
        async () => {
            const { days, start, end, status } = await stored(known.cleaner.id);
            assert.deepEqual([days, start, end, status], [['tuesday'], '09:00', '11:00', 'active']);
        });

    job('move the cleaner to Friday', 1,
        () => tool('updateUnlock', { id: known.cleaner.id, days: ['friday'] }),
        async () => assert.deepEqual((await stored(known.cleaner.id)).days, ['friday']));

    job('switch the cleaner off for a while', 1,
        () => tool('updateUnlock', { id: known.cleaner.id, enabled: false }),
        async () => assert.equal((await stored(known.cleaner.id)).status, 'inactive'));

    job('tell who can get in now', 1,
        () => tool('listUnlocks', { status: 'active' }),
        ({ data }) => assert.deepEqual(data.map(({ label }) => label), ['Guest']));

    job('tell who came', 1,
        () => tool('listLogs', { succeeded: true }),
        ({ data }) => assert.ok(data.some((entry) => JSON.stringify(entry).includes('Parcel'))));

    job('explain a call that did not open the door', 1,
        async () => {
            await buzz('0000');
            return tool('listCalls', { limit: 1 });
        },
        ({ data: [last] }) => assert.notEqual(last.outcome, 'released'));

    job('let somebody in no longer, knowing the name alone', 2,
        async () => {
            const { data } = await tool('listUnlocks');
            for (const { id, label } of data) if (label === 'Guest') await tool('revokeUnlock', { id });
        },
        async () => {
            assert.equal((await stored(known.guest.id)).status, 'revoked');
            assert.notEqual((await buzz(known.guest.access_code)).outcome, 'released');
        });

    job('have events sent to a server', 2,
        async () => {
            const { id } = await tool('createWebhook', { url: 'https://127.0.0.1:9/hook', events: ['access.granted'] });
            await tool('testWebhook', { id });
            known.hook = id;
        },
        async () => assert.equal(ok(await person.client.get('/v1/webhooks')).data[0].id, known.hook));

    job('add a building', 2,
        async () => {
            const { id } = await tool('previewBuilding', addition());
            return tool('addBuilding', { quote_id: id });
        },
        async ({ id }) => eventually(async () => ok(await person.keeper.get(`/v1/buildings/operations/${id}`)).status === 'succeeded', 'the building'));

    job('remove a building', 2,
        async () => {
            const added = ok(await person.keeper.get('/v1/buildings')).data.find(({ id }) => id !== person.building.id);
            const { id } = await tool('previewBuilding', removal(added.id));
            return tool('removeBuilding', { id: added.id, quote_id: id });
        },
        async ({ id }) => eventually(async () => ok(await person.keeper.get(`/v1/buildings/operations/${id}`)).status === 'succeeded', 'the removal'));

    it('buy a subscription: two calls', async () => {
        const fresh = await signIn(client);
        const buyer = await sdks.older(w.daemon, (await agent(fresh, SCOPES)).key);
        const { structuredContent: plans } = await buyer.callTool({ name: 'listBillingPlans', arguments: {} });
        const plan = plans.data.find(({ available }) => available).id;
        const { structuredContent: checkout } = await buyer.callTool({ name: 'createCheckout', arguments: { plan } });
        await buyer.close();
        assert.equal(ok(await fresh.client.get('/v1/billing/checkout')).id, checkout.id);
        table.push(2);
    });

    job('sign off', 1,
        () => tool('revokeOwnKey'),
        () => assert.rejects(assistant.callTool({ name: 'getAccount', arguments: {} })));

    it('are eighteen, with twenty-four calls', () => assert.deepEqual([table.length, table.reduce((sum, n) => sum + n, 0)], [18, 24]));
});
