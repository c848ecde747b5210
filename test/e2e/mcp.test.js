// POST /mcp: the Model Context Protocol's current revision (2026-07-28) and the two before it, by the official clients
// and by hand. Every call is a request of the API, with its checks and limits.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import Ajv from 'ajv/dist/2020.js';
import { ok } from './lib/client.js';
import { current, post, REVISION, sdks } from './lib/mcp.js';
import { advance, agent, changeSettings, DAY, grant, now, resident, signIn, UNKNOWN_ID, useWorld, visit } from './lib/world.js';
import { addition, owner as ownerOf } from './lib/buildings.js';

const RESIDENT = ['account:read', 'access:read', 'access:write', 'logs:read'];
const OLDER = '2025-11-25';
const errorOf = (result) => JSON.parse(result.content[0].text).error;
/** The result of a call by hand of the current revision. */
const call = async (client, name, args = {}, options = {}) => {
    const answer = await current(client, 'tools/call', { name, arguments: args }, options);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.result;
};

describe('MCP', () => {
    const w = useWorld();
    const { client } = w;
    let person;
    let helper;
    before(async () => {
        person = await resident(client);
        helper = await agent(person, RESIDENT);
    });

    for (const [era, connect] of Object.entries(sdks)) {
        describe(`the official client of ${era === 'current' ? `revision ${REVISION}` : 'older revisions'}`, () => {
            let assistant;
            let last;
            before(async () => {
                assistant = await connect(w.daemon, helper.key, (exchange) => { last = exchange; });
            });
            after(() => assistant.close());

            it('learns who answers and how to act', () => {
                assert.equal(assistant.getServerVersion().name, 'portero');
                assert.match(assistant.getInstructions(), /next_actions/);
                assert.match(assistant.getInstructions(), /idempotency_key/);
            });

            it('creates, reads, changes and revokes a grant, with results that its schemas accept', async () => {
                await assistant.listTools(); // from now on the client checks results against their schemas
                const made = await assistant.callTool({ name: 'createUnlock', arguments: { type: 'timer', label: `Größe "1"\n${era}`, expires_in_minutes: 60 } });
                assert.ok(!made.isError);
                const { id } = made.structuredContent;
                assert.deepEqual(JSON.parse(made.content[0].text), made.structuredContent);
                assert.deepEqual(ok(await person.client.get(`/v1/unlock/${id}`)), made.structuredContent);
                const changed = await assistant.callTool({ name: 'updateUnlock', arguments: { id, label: 'Parcel' } });
                assert.deepEqual([changed.structuredContent.label, changed.structuredContent.version], ['Parcel', 1]);
                const gone = await assistant.callTool({ name: 'revokeUnlock', arguments: { id } });
                assert.equal(gone.structuredContent.id, id);
                assert.equal((await assistant.callTool({ name: 'getUnlock', arguments: { id } })).structuredContent.status, 'revoked');
            });

            it('calls every tool without arguments: each result or error is one that it accepts', async () => {
                const { tools } = await assistant.listTools();
                for (const { name } of tools) {
                    if (name === 'revokeOwnKey') continue;
                    const result = await assistant.callTool({ name, arguments: {} });
                    if (result.isError) assert.match(errorOf(result).code, /^[A-Z_]+$/, name);
                }
            });

            it('is given an error that it can act on', async () => {
                const refused = await assistant.callTool({ name: 'createUnlock', arguments: { type: 'routine' } });
                assert.equal(refused.isError, true);
                assert.equal(refused.structuredContent, undefined);
                const { code, message, next_action: next } = errorOf(refused);
                assert.equal(code, 'INVALID_UNLOCK');
                assert.match(message, /days, start, end and timezone/);
                assert.ok(next);
                assert.match(JSON.parse(refused.content[0].text).requestId, /^req_/);
                const missing = await assistant.callTool({ name: 'getUnlock', arguments: { id: UNKNOWN_ID } });
                assert.equal(errorOf(missing).code, 'NOT_FOUND');
            });

            // DOC-14
            it('is told of a tool, a prompt and a resource that do not exist, and of an argument too many', async () => {
                await assert.rejects(assistant.callTool({ name: 'openEverything', arguments: {} }), /Unknown tool/);
                await assert.rejects(assistant.callTool({ name: `${'x'.repeat(63)}ü`, arguments: {} }), /Unknown tool: x{63}$/);
                await assert.rejects(assistant.callTool({ name: 'getAccount', arguments: { [`${'x'.repeat(63)}ü`]: 1 } }), /no argument x{63}\.$/);
                await assert.rejects(assistant.callTool({ name: 'getAccount', arguments: { secret: 1 } }), /getAccount has no argument secret/);
                await assert.rejects(assistant.getPrompt({ name: 'nothing' }), /Unknown prompt/);
                await assert.rejects(assistant.getPrompt({ name: 'revoke' }), /required argument/);
                await assert.rejects(assistant.readResource({ uri: 'portero://nothing' }), (e) => /Unknown resource/.test(e.message) && e.data.uri === 'portero://nothing');
            });

            it('offers the prompts for residents\' jobs, with the words of the resident in them', async () => {
                const { prompts } = await assistant.listPrompts();
                assert.deepEqual(prompts.map(({ name }) => name), ['let_in_weekly', 'parcel_code', 'party', 'guest_code', 'who_came', 'revoke']);
                for (const prompt of prompts) {
                    assert.ok(prompt.title && prompt.description);
                    const args = Object.fromEntries(prompt.arguments.map(({ name }) => [name, `the ${name} of "Ada"`]));
                    const { messages } = await assistant.getPrompt({ name: prompt.name, arguments: args });
                    for (const value of Object.values(args)) assert.ok(messages[0].content.text.includes(value), prompt.name);
                    assert.doesNotMatch(messages[0].content.text, /[{}]/);
                    const needed = prompt.arguments.filter(({ required }) => required).map(({ name }) => [name, 'x']);
                    assert.doesNotMatch((await assistant.getPrompt({ name: prompt.name, arguments: Object.fromEntries(needed) })).messages[0].content.text, /[{}]/);
                }
                const { tools } = await assistant.listTools();
                const texts = await Promise.all(prompts.map(({ name, arguments: args }) => assistant.getPrompt({ name, arguments: Object.fromEntries(args.map((a) => [a.name, 'x'])) })));
                const named = new Set(texts.flatMap(({ messages }) => messages[0].content.text.match(/\b(?:get|list|create|revoke)[A-Z]\w+/g)));
                for (const name of named) assert.ok(tools.some((tool) => tool.name === name), name);
            });

            it('reads the account, the open grants and the latest activity as resources', async () => {
                const { resources } = await assistant.listResources();
                const read = async (uri) => JSON.parse((await assistant.readResource({ uri })).contents[0].text);
                assert.equal(resources.length, 3);
                assert.equal((await read('portero://account')).email, person.email);
                const { id } = await grant(person, { type: 'timer', expires_in_minutes: 5 });
                const { id: later } = await grant(person, { type: 'timer', starts_at: '2099-01-01T00:00:00Z', expires_in_minutes: 5 }).catch(() => ({}));
                const open = (await read('portero://grants/active')).data;
                assert.ok(open.some((one) => one.id === id) && open.every((one) => one.status === 'active' && one.id !== later));
                await visit(client, { to: person.number });
                assert.equal((await read('portero://activity/latest')).data.length > 0, true);
                assert.deepEqual((await assistant.listResourceTemplates()).resourceTemplates, []);
                assert.equal(last.status, 200);
            });
        });
    }

    describe('the tools', () => {
        const tools = async (key) => {
            const answer = await current(client.as(key), 'tools/list');
            return { list: answer.body.result.tools, size: Buffer.byteLength(answer.text) };
        };

        // DOC-13
        it('are what the key may do: its scopes and its kind', async () => {
            const reader = await agent(person, ['logs:read']);
            const names = (await tools(reader.key)).list.map(({ name }) => name);
            assert.ok(names.includes('listLogs') && names.includes('revokeOwnKey'));
            for (const other of ['createUnlock', 'listUnlocks', 'updateSettings', 'createKey', 'createCheckout']) assert.ok(!names.includes(other), other);
            const refused = await current(reader.client, 'tools/call', { name: 'createUnlock', arguments: { type: 'timer', expires_in_minutes: 1 } });
            assert.equal(refused.status, 403); // so that a client can ask its user for more: oauth.test.js
            assert.deepEqual([refused.body.result.isError, errorOf(refused.body.result).code], [true, 'INSUFFICIENT_SCOPE']);
            const own = (await tools(person.key)).list.map(({ name }) => name);
            assert.ok(own.includes('createKey'));
            assert.ok(!(await tools(helper.key)).list.some(({ name }) => name === 'createKey'));
        });

        it('are the operations of the OpenAPI document that need a key and answer with JSON, with the same names and inputs', async () => {
            const document = ok(await client.get('/openapi.json'));
            const rows = Object.values(document.paths).flatMap((path) => Object.values(path)).filter((row) => row.security?.length);
            const json = rows.filter((row) => Object.entries(row.responses).every(([status, answer]) =>
                status >= '300' || Object.keys(document.components.responses?.[answer.$ref?.split('/').at(-1)]?.content ?? answer.content ?? {}).every((type) => type === 'application/json')));
            const every = await agent(person, ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write', 'billing:write', 'buildings:write']);
            const known = new Set([...(await tools(person.key)).list, ...(await tools(every.key)).list].map(({ name }) => name));
            const same = ['getPass', 'listPasses', 'revokePass']; // the tools of grants do the same
            assert.deepEqual([...known].sort(), json.map((row) => row.operationId).filter((name) => !same.includes(name)).sort());
        });

        // DOC-18
        it('say what they may do to the world', async () => {
            const hints = Object.fromEntries((await tools(person.key)).list.map(({ name, annotations }) => [name, annotations]));
            assert.deepEqual(hints.listUnlocks, { readOnlyHint: true });
            assert.deepEqual(hints.createUnlock, { destructiveHint: false, idempotentHint: false });
            assert.deepEqual(hints.revokeUnlock, { destructiveHint: true, idempotentHint: true });
            assert.deepEqual(hints.updateUnlock, { destructiveHint: true, idempotentHint: false });
            assert.deepEqual(hints.openCall, { destructiveHint: true, idempotentHint: false });
        });

        // DOC-14
        it('have schemas of JSON Schema 2020-12 that accept the bodies of the document\'s examples', async () => {
            const ajv = new Ajv({ strict: false, validateFormats: false });
            const document = ok(await client.get('/openapi.json'));
            const bodies = Object.fromEntries(Object.values(document.paths).flatMap((path) => Object.values(path))
                .map((row) => [row.operationId, row.requestBody?.content['application/json']?.example]));
            let compared = 0;
            for (const { name, inputSchema, outputSchema } of (await tools(person.key)).list) {
                ajv.compile(outputSchema);
                const check = ajv.compile(inputSchema);
                const path = Object.fromEntries((inputSchema.required ?? []).filter((one) => /^id$|Id$|_id$/.test(one)).map((one) => [one, UNKNOWN_ID]));
                if (!bodies[name]) continue;
                assert.ok(check({ ...path, ...bodies[name] }), `${name}: ${ajv.errorsText(check.errors)}`);
                assert.ok(!check({ ...path, ...bodies[name], nonsense: 1 }));
                compared++;
            }
            assert.ok(compared > 8, `${compared}`);
        });

        it('are a list that stays small and in the same order', async () => {
            const { list, size } = await tools(helper.key);
            assert.ok(size < 34_300, `${size} bytes`);
            const every = (await tools(person.key)).size;
            assert.ok(every < 53_400, `${every} bytes`);
            assert.deepEqual((await tools(helper.key)).list, list);
        });
    });

    describe('a call', () => {
        const make = (more, options) => call(helper.client, 'createUnlock', { type: 'timer', expires_in_minutes: 60, ...more }, options);

        // DOC-16
        it('that is sent again creates nothing again, under whatever ID, and says so; another one does', async () => {
            const first = await make({ label: 'same' }, { id: 'call-1' });
            assert.equal(first.content.length, 1);
            for (const id of ['call-1', 'call-2', 7]) {
                const again = await make({ label: 'same' }, { id });
                assert.deepEqual(again.structuredContent, first.structuredContent);
                assert.match(again.content[1].text, /nothing was created again.*idempotency_key/);
            }
            const others = [await make({ label: 'other' }, { id: 'call-1' }), await make({ label: 'same', idempotency_key: 'another-one-of-them' }, { id: 'call-1' })];
            const other = await agent(person, RESIDENT);
            others.push(await call(other.client, 'createUnlock', { type: 'timer', expires_in_minutes: 60, label: 'same' }, { id: 'call-1' }));
            assert.equal(new Set([first, ...others].map((one) => one.structuredContent.id)).size, 4);
            for (const one of others) assert.equal(one.content.length, 1);
        });

        it('that is sent at once ten times creates one grant', async () => {
            const made = await Promise.all(Array.from({ length: 10 }, () => make({ label: 'race' }, { id: 'race' })));
            assert.equal(new Set(made.map((one) => one.structuredContent.id)).size, 1);
        });

        // DOC-16
        it('is the same one for two minutes, also across the turn of a period, and another one after four', async () => {
            const first = await make({ label: 'late' }, { id: 9 });
            for (const seconds of [60, 59]) {
                await advance(client, seconds);
                assert.equal((await make({ label: 'late' }, { id: 9 })).structuredContent.id, first.structuredContent.id);
            }
            await advance(client, 240);
            assert.notEqual((await make({ label: 'late' }, { id: 9 })).structuredContent.id, first.structuredContent.id);
        });

        // DOC-16
        it('that is repeated after the end of what it made is a new wish, which is repeated in turn', async () => {
            const wish = { type: 'passcode', label: 'Wish', access_code: '3579' };
            const ask = () => call(helper.client, 'createUnlock', wish);
            const ids = [];
            for (const end of [(id) => call(helper.client, 'revokeUnlock', { id }), (id) => call(helper.client, 'updateUnlock', { id, enabled: false }), undefined]) {
                const made = await ask();
                assert.equal(made.content.length, 1);
                assert.equal(made.structuredContent.status, 'active');
                assert.deepEqual((await ask()).structuredContent, made.structuredContent);
                ids.push(made.structuredContent.id);
                await end?.(ids.at(-1));
                await advance(client, 50); // a period ends in between
            }
            assert.equal(new Set(ids).size, 3);
            const pass = (await call(helper.client, 'createPass', { label: 'Wish' })).structuredContent;
            await call(helper.client, 'revokeUnlock', { id: pass.id });
            assert.notEqual((await call(helper.client, 'createPass', { label: 'Wish' })).structuredContent.id, pass.id);
            const hook = { url: 'https://receiver.test/wish' };
            const first = (await call(helper.client, 'createWebhook', hook)).structuredContent;
            assert.equal((await call(helper.client, 'createWebhook', hook)).structuredContent.id, first.id);
            await call(helper.client, 'deleteWebhook', { id: first.id });
            const second = (await call(helper.client, 'createWebhook', hook)).structuredContent;
            assert.notEqual(second.id, first.id);
            await call(helper.client, 'deleteWebhook', { id: second.id });
        });

        // DOC-16
        it('has no argument that is null, but in a change where null is a value', async () => {
            const bare = Object.fromEntries(['access_code', 'starts_at', 'remaining_uses', 'days', 'start', 'end', 'timezone', 'building_id', 'idempotency_key'].map((name) => [name, null]));
            const made = await make({ ...bare, label: 'Nulls' });
            assert.equal(made.structuredContent.label, 'Nulls', JSON.stringify(made.content));
            assert.match(errorOf(await make({ nonsense: null })).message, /nonsense/);
            const { id } = made.structuredContent;
            const limited = await call(helper.client, 'updateUnlock', { id, remaining_uses: 3, access_code: null, label: null, if_match: null });
            assert.deepEqual([limited.structuredContent.remaining_uses, limited.structuredContent.label], [3, 'Nulls']);
            assert.equal((await call(helper.client, 'updateUnlock', { id, remaining_uses: null })).structuredContent.remaining_uses, null);
        });

        // PASS-5
        it('makes each pass that households ask for, with local times', async () => {
            await changeSettings(person, { timezone: 'Europe/Madrid' });
            const at = await now(client);
            const day = (ms) => new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Madrid' }).format(new Date(ms));
            const saturday = Array.from({ length: 7 }, (_, i) => at + (i + 1) * DAY).find((ms) => new Date(`${day(ms)}T12:00Z`).getUTCDay() === 6);
            const year = Number(day(at).slice(0, 4)) + (day(at).slice(5) >= '08-01' ? 1 : 0);
            const everyDay = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
            const window = (days, start, end) => [{ days, start, end }];
            for (const [asked, expected] of [
                [{ label: 'Cleaner', access_code: '48213', windows: window(['tuesday', 'friday'], '09:00', '12:00') }, { windows: window(['tuesday', 'friday'], '09:00', '12:00'), from: null }],
                [{ label: 'Plumber', from: `${day(at + DAY)}T08:00`, until: `${day(at + DAY)}T12:00` }, { from: `${day(at + DAY)} 08:00`, until: `${day(at + DAY)} 12:00` }],
                [{ label: 'Visit', from: `${day(saturday)}T10:00`, until: `${day(saturday)}T12:00` }, { from: `${day(saturday)} 10:00`, until: `${day(saturday)} 12:00` }],
                [{ label: 'Sister', from: `${year}-08-01T00:00`, until: `${year}-09-01T00:00` }, { from: `${year}-08-01 00:00`, until: `${year}-09-01 00:00` }],
                [{ label: 'Night nurse', windows: window(everyDay, '22:00', '06:00') }, { windows: window(everyDay, '22:00', '06:00'), until: null }],
            ]) {
                const { structuredContent: made, isError } = await call(helper.client, 'createPass', asked);
                assert.ok(!isError, asked.label);
                const clock = (text) => text && new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Madrid', dateStyle: 'short', timeStyle: 'short' }).format(new Date(text));
                const { from, until, windows, timezone } = made.pass;
                assert.equal(timezone, 'Europe/Madrid');
                for (const [name, value] of Object.entries(expected)) assert.deepEqual({ from: clock(from), until: clock(until), windows }[name], value, `${asked.label}: ${name}`);
                await call(helper.client, 'revokeUnlock', { id: made.id });
            }
        });

        // DOC-15
        it('takes the key and the version that the caller gives', async () => {
            const key = 'given-by-the-caller-1';
            const first = await make({ idempotency_key: key }, { id: 1 });
            assert.equal(first.structuredContent.request_id, key);
            assert.equal((await make({ idempotency_key: key }, { id: 2 })).structuredContent.id, first.structuredContent.id);
            assert.equal(errorOf(await make({ idempotency_key: key, label: 'x' })).code, 'IDEMPOTENCY_CONFLICT');
            assert.equal(errorOf(await make({ idempotency_key: 'short' })).code, 'IDEMPOTENCY_KEY_REQUIRED');
            const { id } = first.structuredContent;
            assert.equal((await call(helper.client, 'updateUnlock', { id, label: 'a', if_match: '0' })).structuredContent.version, 1);
            assert.equal((await call(helper.client, 'updateUnlock', { id, label: 'a', if_match: '"1"' })).structuredContent.version, 2);
            assert.equal(errorOf(await call(helper.client, 'updateUnlock', { id, label: 'b', if_match: '0' })).code, 'VERSION_CONFLICT');
            assert.equal(errorOf(await call(helper.client, 'updateUnlock', { id, label: 'b', if_match: 'x' })).code, 'VERSION_REQUIRED');
            const writer = await agent(person, ['access:write']);
            const unread = await current(writer.client, 'tools/call', { name: 'updateUnlock', arguments: { id, label: 'c' } });
            assert.equal(errorOf(unread.body.result).code, 'INSUFFICIENT_SCOPE');
            assert.match(unread.headers['www-authenticate'], /scope="access:read access:write"/);
            assert.equal((await call(writer.client, 'updateUnlock', { id, label: 'c', if_match: '2' })).structuredContent.version, 3);
        });

        // DOC-15
        it('does not take headers of the message for headers of the call', async () => {
            const { id } = (await make({ label: 'h' })).structuredContent;
            const result = await call(helper.client, 'updateUnlock', { id, label: 'i' }, { headers: { 'If-Match': '"7"', 'Idempotency-Key': 'x', 'X-Service-Building-Id': UNKNOWN_ID } });
            assert.equal(result.structuredContent.version, 1);
        });

        // DOC-17
        it('sets the release tone without the version of the settings', async () => {
            const helped = await agent(person, ['account:read', 'setup:write']);
            assert.equal((await call(helped.client, 'updateSettings', { unlock_tone: '#5' })).structuredContent.unlock_tone, '#5');
            assert.equal((await call(helped.client, 'getSetup')).structuredContent.unlock_tone, '#5');
            assert.equal(errorOf(await call(helped.client, 'getSetup', { building_id: UNKNOWN_ID })).code, 'BUILDING_NOT_FOUND');
            assert.equal(errorOf(await call(helped.client, 'getSetup', { building_id: 'x/../y' })).code, 'INVALID_BUILDING');
        });

        it('filters lists as a query does, and passes values as they are', async () => {
            await make({ label: 'listed' });
            const of = async (name, args) => call(helper.client, name, args);
            assert.ok((await of('listUnlocks', { type: 'timer', enabled: true, limit: 1 })).structuredContent.data.length === 1);
            assert.equal((await of('listUnlocks', { status: 'exhausted' })).structuredContent.data.length, 0);
            assert.equal(errorOf(await of('listUnlocks', { limit: 'many' })).code, 'INVALID_LIMIT');
            assert.equal(errorOf(await of('listUnlocks', { limit: { a: [1] } })).code, 'INVALID_LIMIT');
            assert.ok((await of('listUnlocks', { limit: null })).structuredContent.data.length > 1);
            assert.equal((await of('listLogs', { q: 'a&limit=1%00+ü', since: '2026-01-01T00:00:00+02:00' })).isError, false);
            assert.equal(errorOf(await of('getUnlock', { id: '../account' })).code, 'INVALID_ID');
            assert.equal(errorOf(await of('getUnlock', {})).code, 'INVALID_ID');
        });

        // DOC-12
        it('counts for the limits of its key, and says when to come again', async () => {
            const answer = await current(helper.client, 'tools/call', { name: 'getAccount', arguments: {} });
            const next = await current(helper.client, 'tools/call', { name: 'getAccount', arguments: {} });
            const left = (one) => Number(one.headers['ratelimit-remaining']);
            assert.equal(left(next), left(answer) - 1);
            assert.equal(left(await current(helper.client, 'tools/list')), left(answer) - 2);
        });

        it('revokes its own key, and is refused with 401 of HTTP from then on', async () => {
            const short = await agent(person, RESIDENT);
            assert.equal((await call(short.client, 'revokeOwnKey')).isError, false);
            for (const method of ['tools/list', 'server/discover']) {
                const answer = await current(short.client, method);
                assert.equal(answer.status, 401);
                assert.equal(answer.body.error.code, 'INVALID_KEY');
                assert.match(answer.headers['www-authenticate'], /^Bearer/);
            }
            const refused = await current(short.client, 'tools/call', { name: 'getAccount', arguments: {} });
            assert.deepEqual([refused.status, refused.body.error.code], [401, 'INVALID_KEY']);
            assert.equal((await current(client.as(undefined), 'tools/call', { name: 'getAccount', arguments: {} })).status, 401);
            assert.equal((await post(client.as(undefined), 'nonsense')).status, 401);
        });
    });

    it('selects one of several buildings by an argument', async () => {
        const owner = await ownerOf(client);
        const keeper = await agent(owner, [...RESIDENT, 'buildings:write']);
        const quote = (await call(keeper.client, 'previewBuilding', addition())).structuredContent;
        let made = (await call(keeper.client, 'addBuilding', { quote_id: quote.id })).structuredContent;
        while (made.status !== 'succeeded') made = (await call(keeper.client, 'getBuildingOperation', { id: made.id })).structuredContent;
        const wanted = made.result.building_id;
        assert.equal(errorOf(await call(keeper.client, 'listUnlocks')).code, 'BUILDING_REQUIRED');
        assert.equal(errorOf(await call(keeper.client, 'getSetup')).code, 'BUILDING_REQUIRED');
        const there = await call(keeper.client, 'createUnlock', { building_id: wanted, type: 'timer', expires_in_minutes: 5 });
        assert.equal(there.structuredContent.building_id, wanted);
        assert.equal((await call(keeper.client, 'getSetup', { building_id: wanted })).structuredContent.building_id, wanted);
        assert.equal((await call(keeper.client, 'updateUnlock', { building_id: wanted, id: there.structuredContent.id, label: 'x' })).structuredContent.label, 'x');
    });

    describe('the protocol', () => {
        const hand = (message, headers) => post(helper.client, message, { headers });
        const rpc = (method, params, id = 1) => ({ jsonrpc: '2.0', id, method, params });
        const fails = (answer, status, code) => {
            assert.deepEqual([answer.status, answer.body?.error?.code], [status, code], answer.text);
            assert.equal(answer.body.jsonrpc, '2.0');
            return answer.body;
        };

        // DOC-11
        it('tells the revisions that it serves, and refuses others', async () => {
            const { result } = (await current(helper.client, 'server/discover')).body;
            assert.deepEqual([result.supportedVersions, result.cacheScope, result.resultType], [[REVISION], 'public', 'complete']);
            const meta = { 'io.modelcontextprotocol/protocolVersion': '1900-01-01' };
            const refused = fails(await current(helper.client, 'tools/list', {}, { meta, headers: { 'MCP-Protocol-Version': '1900-01-01' } }), 400, -32022);
            assert.deepEqual(refused.error.data, { supported: [REVISION], requested: '1900-01-01' });
            const older = fails(await hand(rpc('tools/list'), { 'MCP-Protocol-Version': 'x' }), 400, -32022);
            assert.deepEqual(older.error.data, { supported: [REVISION, OLDER, '2025-06-18'], requested: 'x' });
            const bytes = fails(await hand(rpc('tools/list'), { 'MCP-Protocol-Version': '20\u00b26' }), 400, -32022);
            assert.equal(bytes.error.data.requested, '');
        });

        it('wants the head to repeat the body', async () => {
            const params = { name: 'getAccount', arguments: {} };
            for (const headers of [{ 'MCP-Protocol-Version': undefined }, { 'MCP-Protocol-Version': OLDER }, { 'Mcp-Method': undefined }, { 'Mcp-Method': 'tools/list' },
                { 'Mcp-Name': undefined }, { 'Mcp-Name': 'getUnlock' }, { 'Mcp-Name': '=?base64?Z2V0?=' }, { 'Mcp-Name': '=?base64?=' }, { 'Mcp-Name': '=?base64?' }]) {
                fails(await current(helper.client, 'tools/call', params, { headers }), 400, -32020);
            }
            const encoded = `=?base64?${Buffer.from('getAccount').toString('base64')}?=`;
            assert.equal((await current(helper.client, 'tools/call', params, { headers: { 'Mcp-Name': encoded } })).body.result.isError, false);
            fails(await current(helper.client, 'tools/list', {}, { meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }), 400, -32602);
            fails(await hand(rpc('tools/list', {}), { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': 'tools/list' }), 400, -32602);
        });

        // DOC-11
        it('agrees with older clients on a revision', async () => {
            for (const [asked, given] of [[OLDER, OLDER], ['2025-06-18', '2025-06-18'], ['2025-03-26', OLDER], ['', OLDER], [undefined, OLDER]]) {
                const { result } = (await hand(rpc('initialize', { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'x', version: '1' } }))).body;
                assert.equal(result.protocolVersion, given);
                assert.deepEqual(result.capabilities, { tools: {}, resources: {}, prompts: {} });
            }
            assert.deepEqual((await hand(rpc('ping'))).body, { jsonrpc: '2.0', id: 1, result: {} });
            assert.equal((await hand(rpc('initialize', {}))).headers['mcp-session-id'], undefined);
        });

        it('takes notifications without an answer', async () => {
            for (const method of ['notifications/initialized', 'notifications/cancelled', 'anything']) {
                const answer = await hand({ jsonrpc: '2.0', method });
                assert.deepEqual([answer.status, answer.text], [202, '']);
            }
        });

        it('repeats the ID, whatever its form, and refuses what is none', async () => {
            for (const id of [0, -1, 1, 2 ** 53 - 1, '', 'a', '"', '\\', 'ü\n\t', 'x'.repeat(5000)]) {
                assert.deepEqual((await hand(rpc('ping', {}, id))).body, { jsonrpc: '2.0', id, result: {} });
                assert.equal((await call(helper.client, 'getAccount', {}, { id })).isError, false);
            }
            for (const id of [null, 1.5, true, {}, [], [1]]) assert.equal('id' in fails(await hand(rpc('ping', {}, id)), 400, -32600), false);
        });

        // DOC-25
        it('refuses what is no message', async () => {
            for (const text of ['', '{', 'null garbage', '{"jsonrpc":"2.0","jsonrpc":"2.0"}', '"\\ud800"', '\u0000', `${'['.repeat(5000)}${']'.repeat(5000)}`,
                `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`]) fails(await hand(text), 400, -32700);
            for (const message of [[], [rpc('ping')], [rpc('ping'), rpc('ping', {}, 2)], 1, null, 'x', {}, { jsonrpc: '2.0' }, { jsonrpc: '1.0', id: 1, method: 'ping' }, { id: 1, method: 'ping' },
                { jsonrpc: '2.0', id: 1, method: 5 }, { jsonrpc: '2.0', id: 1, result: {} }, { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }]) fails(await hand(JSON.stringify(message)), 400, -32600);
            for (const params of [[], [1], 'x', 3]) fails(await hand(rpc('tools/list', params)), 400, -32602);
            for (const args of [[], 'x', 3, true]) fails(await hand(rpc('tools/call', { name: 'getAccount', arguments: args })), 200, -32602);
            for (const name of [undefined, 7, '', 'x'.repeat(90_000), 'getaccount', 'getGuide', 'streamEvents', 'mcp', 'requestOtp']) fails(await hand(rpc('tools/call', { name })), 200, -32602);
            for (const uri of [undefined, 7, '', 'portero://', 'file:///etc/passwd', '/v1/account']) fails(await hand(rpc('resources/read', { uri })), 200, -32602);
            fails(await hand(rpc('prompts/get', { name: 'revoke', arguments: { who: 5 } })), 200, -32602);
        });

        // DOC-23, DOC-25
        it('knows no other methods', async () => {
            for (const method of ['', 'x', 'tools', 'tools/Call', 'logging/setLevel', 'completion/complete', 'resources/subscribe', 'subscriptions/listen', 'sampling/createMessage', 'server/discover', '__proto__', 'y'.repeat(90_000)]) {
                fails(await hand(rpc(method)), 200, -32601);
            }
            for (const method of ['initialize', 'ping', 'resources/subscribe', 'tasks/list', 'nothing']) fails(await current(helper.client, method), 404, -32601);
        });

        it('refuses a body that is too long and arguments that are huge', async () => {
            assert.equal((await hand(rpc('tools/call', { name: 'createUnlock', arguments: { label: 'x'.repeat(200_000) } }))).status, 413);
            const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field${i}`, i]));
            assert.equal(errorOf(await call(helper.client, 'createUnlock', { type: 'timer', expires_in_minutes: 1, ...many })).code, 'INVALID_UNLOCK');
            fails(await hand(rpc('tools/call', { name: 'listUnlocks', arguments: many })), 200, -32602);
            assert.equal(errorOf(await call(helper.client, 'listLogs', { q: '&=%'.repeat(20_000) })).code, 'INVALID_QUERY');
        });

        it('is POST alone', async () => {
            for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD']) {
                const answer = await helper.client.request(method, '/mcp', { check: false, headers: { accept: 'text/event-stream' } });
                assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST']);
            }
        });

        // DOC-24
        it('refuses pages of other sites, not its own', async () => {
            for (const Origin of ['https://evil.example', 'null', 'http://localhost', w.daemon.https.replace('https', 'http'), `${w.daemon.https}.evil.example`]) {
                const answer = await hand(rpc('tools/call', { name: 'getAccount' }), { Origin });
                assert.deepEqual([answer.status, answer.body.error.code], [403, 'CROSS_SITE_REQUEST']);
            }
            const { body } = await client.get('/v1/health');
            assert.equal((await hand(rpc('ping'), { Origin: new URL(body.openapi_url).origin })).status, 200);
            assert.equal((await hand(rpc('ping'), { Origin: 'https://evil.example' })).status, 403);
        });

        it('is not read as a form or as text', async () => {
            const result = await call(helper.client, 'createUnlock', { type: 'timer', expires_in_minutes: 5 }, { headers: { 'content-type': 'text/plain' } });
            assert.equal(errorOf(result).code, 'INVALID_JSON');
        });
    });
});

describe('MCP under the limits of a key', () => {
    const w = useWorld({ config: { limits: { requests_active: 3, requests_free: 3 } } });

    it('refuses further calls as errors with the time to wait, and further lists with 429', async () => {
        const { client } = await signIn(w.client);
        for (let i = 0; i < 3; i++) assert.equal((await call(client, 'getAccount')).isError, false);
        const refused = await call(client, 'getAccount');
        assert.equal(errorOf(refused).code, 'RATE_LIMIT_EXCEEDED');
        const { retry_after_s: wait } = JSON.parse(refused.content[0].text);
        assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 900);
        const list = await current(client, 'tools/list');
        assert.deepEqual([list.status, list.body.error.code], [429, 'RATE_LIMIT_EXCEEDED']);
    });
});
