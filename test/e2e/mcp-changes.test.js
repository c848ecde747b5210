// subscriptions/listen of POST /mcp: changes of resources, announced to the official client and by hand.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { added, owner } from './lib/buildings.js';
import { ok, refused } from './lib/client.js';
import { engine } from './lib/daemon.js';
import { current, listen, post, sdks } from './lib/mcp.js';
import { joined } from './lib/nodes.js';
import { agent, edit, eventually, grant, passMidnight, resident, setSubscription, useWorld, visit, world } from './lib/world.js';

const ACCOUNT = 'portero://account', GRANTS = 'portero://grants/active', ACTIVITY = 'portero://activity/latest';
const ALL = [ACCOUNT, GRANTS, ACTIVITY];
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const READER = ['account:read', 'access:read', 'access:write', 'logs:read'];

/** The URIs that a stream by hand has announced. */
const announced = ({ events }) => events.filter(({ data }) => data.method === 'notifications/resources/updated').map(({ data }) => data.params.uri);
const told = (stream, ...uris) => stream.until(() => uris.every((uri) => announced(stream).includes(uri)), uris.join());

describe('changes announced to assistants', () => {
    const w = useWorld();
    const { client } = w;
    let person;
    let helper;
    before(async () => {
        person = await resident(client);
        helper = await agent(person, READER);
    });
    const open = (uris = ALL, options = {}, who = helper) => listen(who.client, { resourceSubscriptions: uris }, options);

    it('reach the official client: grants, settings and visitors, each once it can be read', async () => {
        const assistant = await sdks.current(w.daemon, helper.key);
        try {
            assert.deepEqual(assistant.getServerCapabilities(), { tools: {}, resources: { subscribe: true }, prompts: {} });
            const seen = new Set();
            assistant.setNotificationHandler('notifications/resources/updated', ({ params }) => { seen.add(params.uri); });
            const comes = (uri) => eventually(() => seen.has(uri), uri);
            const subscription = await assistant.listen({ resourceSubscriptions: ALL, toolsListChanged: true });
            assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: ALL });

            const made = await grant(person, { type: 'passcode', access_code: '2468', label: 'Parcel', remaining_uses: 2 });
            await comes(GRANTS);
            await comes(ACCOUNT);
            const { contents } = await assistant.readResource({ uri: GRANTS });
            assert.ok(JSON.parse(contents[0].text).data.some(({ id }) => id === made.id));
            assert.ok(!seen.has(ACTIVITY));

            seen.clear();
            await visit(client, { to: person.number, digits: '2468' });
            await comes(ACTIVITY);
            await comes(GRANTS);
            const activity = JSON.parse((await assistant.readResource({ uri: ACTIVITY })).contents[0].text);
            assert.equal(activity.data[0].unlock_id, made.id);

            seen.clear();
            const settings = `/v1/buildings/${person.building.id}/settings`;
            const { headers } = await person.client.get(settings);
            ok(await person.client.patch(settings, { unlock_tone: '7' }, { headers: { 'If-Match': headers.etag } }));
            await comes(ACCOUNT);
            assert.deepEqual([...seen], [ACCOUNT]);

            await subscription.close();
            assert.equal(await subscription.closed, 'local');
        } finally {
            await assistant.close();
        }
    });

    it('begin with the acknowledgment, and carry the ID of the request', async () => {
        for (const id of [7, 'sub "1"', 'é']) {
            const stream = await open([GRANTS, 'portero://nothing', GRANTS], { id });
            assert.equal(stream.status, 200);
            assert.match(stream.headers['content-type'], /^text\/event-stream/);
            assert.deepEqual([stream.headers['cache-control'], stream.headers['x-accel-buffering']], ['no-store', 'no']);
            await grant(person, { type: 'timer', expires_in_minutes: 5 });
            await told(stream, GRANTS);
            const [first, second] = stream.events.map(({ data }) => data);
            assert.deepEqual(first, {
                jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged',
                params: { _meta: { [SUBSCRIPTION]: id }, notifications: { resourceSubscriptions: [GRANTS] } },
            });
            assert.deepEqual(second, { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { _meta: { [SUBSCRIPTION]: id }, uri: GRANTS } });
            stream.cut();
        }
    });

    // DOC-19, DOC-21
    it('name the resources that were asked for, and no others', async () => {
        const [grants, activity] = [await open([GRANTS]), await open([ACTIVITY])];
        const made = await grant(person, { type: 'timer', expires_in_minutes: 5 });
        ok(await edit(person, made, { label: 'Movers' }));
        await told(grants, GRANTS);
        await visit(client, { to: person.number, digits: '0000' });
        await told(activity, ACTIVITY);
        assert.deepEqual([new Set(announced(grants)), new Set(announced(activity))], [new Set([GRANTS]), new Set([ACTIVITY])]);
        grants.cut();
        activity.cut();
    });

    // DOC-19
    it('are acknowledged and end at once if there is nothing to announce', async () => {
        for (const filter of [{}, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }, { resourceSubscriptions: ['portero://nothing'] }]) {
            const stream = await (await listen(helper.client, filter, { id: 5 })).end();
            const [acknowledged, result] = stream.events.map(({ data }) => data);
            assert.deepEqual(acknowledged.params, { _meta: { [SUBSCRIPTION]: 5 }, notifications: {} });
            assert.deepEqual([result.id, result.result.resultType, result.result._meta[SUBSCRIPTION]], [5, 'complete', 5]);
        }
    });

    // DOC-19
    it('name only resources that the key may read', async () => {
        const narrow = await agent(person, ['access:read']);
        const stream = await open(ALL, {}, narrow);
        await stream.read(1);
        assert.deepEqual(stream.events[0].data.params.notifications, { resourceSubscriptions: [GRANTS] });
        stream.cut();
        const none = await (await open([ACTIVITY], {}, narrow)).end();
        assert.deepEqual(none.events[0].data.params.notifications, {});
        const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} };
        refused(await post(client.as('svc_agent_nosuchkeynosuchkeynosuchkey'), message), 401, 'INVALID_KEY');
    });

    it('are refused with a reason: a filter that is none, an ID that is too long, an older revision', async () => {
        for (const [params, id, reason] of [
            [{}, 1, /notifications must be an object/],
            [{ notifications: [] }, 1, /notifications must be an object/],
            [{ notifications: { resourceSubscriptions: GRANTS } }, 1, /must be a list/],
            [{ notifications: {} }, 'x'.repeat(200), /must be shorter/],
        ]) {
            const { status, body } = await current(helper.client, 'subscriptions/listen', params, { id });
            assert.deepEqual([status, body.id, body.error.code], [200, id, -32602]);
            assert.match(body.error.message, reason);
        }
        const older = { headers: { 'MCP-Protocol-Version': '2025-11-25' } };
        for (const method of ['subscriptions/listen', 'resources/subscribe']) {
            const { body } = await post(helper.client, { jsonrpc: '2.0', id: 1, method, params: { uri: GRANTS } }, older);
            assert.equal(body.error.code, -32601);
        }
    });

    // LOG-14
    it('share the 25 streams of a key with the events', async () => {
        const one = await agent(person, READER);
        const streams = [];
        for (let i = 0; i < 25; i++) streams.push(await open(ALL, {}, one));
        const { status, body } = await current(one.client, 'subscriptions/listen', { notifications: { resourceSubscriptions: ALL } });
        assert.deepEqual([status, body.error.data.error.code], [200, 'RATE_LIMIT_EXCEEDED']);
        refused(await one.client.get(`/v1/buildings/${person.building.id}/events`), 429, 'RATE_LIMIT_EXCEEDED');
        streams.pop().cut();
        await eventually(async () => (await one.client.head(`/v1/buildings/${person.building.id}/events`)).status === 200, 'room');
        for (const stream of streams) stream.cut();
    });

    // DOC-20
    it('concern one building: a key of several must be narrower', async () => {
        const several = await owner(client);
        await passMidnight(client);
        await added(several);
        const { status, body } = await current(several.keeper, 'subscriptions/listen', { notifications: { resourceSubscriptions: ALL } });
        assert.deepEqual([status, body.error.data.error.code], [200, 'BUILDING_REQUIRED']);
    });

    // DOC-22
    it('end with a result when the key is revoked or loses the subscription', async () => {
        const other = await resident(client);
        const [key, kept] = [await agent(other, READER), await agent(other, READER)];
        const streams = [await open(ALL, { id: 'a' }, key), await open(ALL, { id: 'b' }, kept)];
        ok(await other.client.delete(`/v1/auth/keys/${key.id}`));
        await streams[0].end();
        assert.equal(streams[0].events.at(-1).data.result._meta[SUBSCRIPTION], 'a');
        assert.equal(streams[1].ended, false);
        await setSubscription(client, other.email, 'canceled');
        await streams[1].end();
        assert.equal(streams[1].events.at(-1).data.id, 'b');
    });

    // DOC-22
    it('end with a result when the service stops, which the official client is told', async () => {
        const own = await world();
        try {
            const someone = await resident(own.client);
            const { key } = await agent(someone, READER);
            const assistant = await sdks.current(own.daemon, key);
            const subscription = await assistant.listen({ resourceSubscriptions: ALL });
            const stream = await listen(own.client.as(key), { resourceSubscriptions: ALL }, { id: 'last' });
            const stopped = own.daemon.terminate();
            await stream.end();
            assert.deepEqual(stream.events.at(-1).data.id, 'last');
            assert.equal(await subscription.closed, 'graceful');
            assert.equal((await stopped).code, 0);
            await assistant.close();
        } finally {
            await own.close();
        }
    });

    if (engine === 'postgresql') {
        it('reach an assistant at another node', async () => {
            const own = await world();
            try {
                const someone = await resident(own.client);
                const node = await joined(own);
                const { key } = await agent(someone, READER);
                const stream = await listen(node.client.as(key), { resourceSubscriptions: [GRANTS] });
                await stream.read(1);
                await grant(someone, { type: 'timer', expires_in_minutes: 5 });
                await told(stream, GRANTS);
                stream.cut();
                await node.close();
            } finally {
                await own.close();
            }
        });
    }
});
