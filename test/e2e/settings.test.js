// Settings of a building: contract "Buildings, setup and settings", building rule 5; docs/behaviour/buildings.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { agent, building, grant, provisioned, resident, setSubscription, signIn, useWorld, visit } from './lib/world.js';

const GREETINGS = ['greeting_welcome', 'greeting_granted', 'greeting_denied', 'greeting_forwarding', 'greeting_message'];

describe('settings', () => {
    const w = useWorld({ config: { greetings: { welcome: 'Code please.', denied: 'No.' } } });
    const { client } = w;
    let owner;
    let path;
    before(async () => {
        owner = await resident(client, { tone: '9' });
        path = `/v1/buildings/${owner.building.id}/settings`;
    });

    const read = (who = owner, at = path) => who.client.get(at);
    const save = (body, etag, who = owner, at = path) => who.client.patch(at, body, { headers: { 'If-Match': etag } });
    const current = async () => (await read()).headers.etag;

    it('of an unprovisioned building are null, with the default greetings and no ETag', async () => {
        const session = await signIn(client);
        const { id } = await building(session);
        const answer = await read(session, `/v1/buildings/${id}/settings`);
        const body = ok(answer);
        assert.deepEqual([body.virtual_number, body.unlock_tone, body.version, body.editable], [null, null, null, true]);
        assert.equal(body.greeting_welcome, 'Code please.');
        assert.equal(body.greeting_denied, 'No.');
        assert.equal(answer.headers.etag, undefined);
        refused(await save({ unlock_tone: '9' }, `"${'0'.repeat(64)}"`, session, `/v1/buildings/${id}/settings`), 404, 'NUMBER_NOT_FOUND');
    });

    // BUILDING-43
    it('carry a quoted token of 64 hex as version and ETag', async () => {
        const answer = await read();
        const body = ok(answer);
        assert.match(answer.headers.etag, /^"[0-9a-f]{64}"$/);
        assert.equal(body.version, answer.headers.etag);
        assert.equal(body.virtual_number, owner.number);
        assert.equal(body.editable, true);
        assert.equal((await read()).headers.etag, answer.headers.etag);
    });

    it('change together; the answer has the new state and its ETag; omitted fields stay', async () => {
        const before = ok(await read());
        const answer = await save({ unlock_tone: '#1', greeting_granted: 'Come in.' }, before.version);
        const body = ok(answer);
        assert.deepEqual(body, { ...before, unlock_tone: '#1', greeting_granted: 'Come in.', version: answer.headers.etag });
        assert.notEqual(answer.headers.etag, before.version);
        assert.deepEqual(ok(await read()), body);
        const tones = ok(await save({ unlock_tone: '9' }, answer.headers.etag));
        assert.equal(tones.greeting_granted, 'Come in.');
    });

    // BUILDING-45
    it('name the building, its address and the name on the call box, each until another is given', async () => {
        const place = ({ label, address, call_box_name: name, timezone }) => [label, address, name, timezone];
        const owner = await resident(client), path = `/v1/buildings/${owner.building.id}/settings`;
        const save = (body, etag) => owner.client.patch(path, body, { headers: { 'If-Match': etag } });
        const start = ok(await owner.client.get(path));
        assert.deepEqual(place(start), ['Home', null, null, null]);
        const address = { street: '8 Rue Ancienne', city: 'Montréal', state: 'QC', zip: 'H2Y 1C6', country: 'CA' };
        const named = ok(await save({ label: ' Rue Ancienne ', address: { ...address, state: 'qc', zip: 'h2y1c6' }, call_box_name: 'Tremblay 3' }, start.version));
        assert.deepEqual(place(named), ['Rue Ancienne', address, 'Tremblay 3', 'America/Toronto']);
        const listed = ok(await owner.client.get('/v1/buildings')).data[0];
        assert.deepEqual([listed.label, listed.address], ['Rue Ancienne', address]);
        const moved = ok(await save({ address: { city: 'Reno', state: 'NV', zip: '89501' } }, named.version));
        assert.deepEqual(place(moved), ['Rue Ancienne', { city: 'Reno', state: 'NV', zip: '89501', country: 'US' }, 'Tremblay 3', 'America/Toronto']);
        const blank = ok(await save({ address: null, call_box_name: null }, moved.version));
        assert.deepEqual(place(blank), ['Rue Ancienne', null, null, 'America/Toronto']);
        for (const body of [{ label: ' ' }, { label: null }, { label: 'x'.repeat(121) }, { call_box_name: '' }, { call_box_name: 'x'.repeat(61) }, { address: {} },
            { address: { ...address, state: 'OR' } }, { address: { ...address, zip: '1' } }, { address: 'Reno' }]) refused(await save(body, blank.version), 400, 'INVALID_SETTINGS');
        assert.deepEqual(place(ok(await save({ label: 'Home' }, blank.version))), ['Home', null, null, 'America/Toronto']);
    });

    it('accept the weak form of the ETag', async () => {
        ok(await save({ greeting_denied: 'Wrong.' }, `W/${await current()}`));
    });

    // BUILDING-43
    it('get a new version also when a save changes nothing, so that the older one is refused', async () => {
        const first = await current();
        const { unlock_tone } = ok(await read());
        ok(await save({ unlock_tone }, first));
        refused(await save({ unlock_tone }, first), 409, 'SETTINGS_VERSION_CONFLICT');
    });

    // HTTP-33
    it('refuse a save without If-Match, or with a malformed one, as SETTINGS_VERSION_REQUIRED', async () => {
        const hex = (await current()).slice(1, -1);
        for (const value of [undefined, '', '*', hex, `"${hex.slice(1)}"`, `"${hex}0"`, `"${hex}", "${hex}"`, `"${'g'.repeat(64)}"`, '"0"', `w/"${hex}"`, `W/ "${hex}"`]) {
            refused(await save({ unlock_tone: '9' }, value), 428, 'SETTINGS_VERSION_REQUIRED');
        }
    });

    // HTTP-33
    it('refuse a save on a version that is not current as SETTINGS_VERSION_CONFLICT', async () => {
        refused(await save({ unlock_tone: '9' }, `"${'0'.repeat(64)}"`), 409, 'SETTINGS_VERSION_CONFLICT');
    });

    it('let one of several saves at once win', async () => {
        const etag = await current();
        const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => save({ greeting_welcome: `Welcome ${i}` }, etag)));
        const won = answers.filter((answer) => answer.status === 200);
        assert.equal(won.length, 1);
        for (const answer of answers.filter((a) => a !== won[0])) refused(answer, 409, 'SETTINGS_VERSION_CONFLICT');
        assert.deepEqual(ok(await read()), won[0].body);
    });

    // BUILDING-42
    it('keep the white space of greetings and may be empty', async () => {
        for (const text of ['  two\t\nlines  ', '', ' ']) {
            const body = ok(await save({ greeting_welcome: text }, await current()));
            assert.equal(body.greeting_welcome, text);
        }
    });

    it('count greetings in UTF-16 code units: 119 are accepted, 120 are not', async () => {
        const longest = ['a'.repeat(119), 'ß'.repeat(119), `${'🚪'.repeat(59)}a`];
        const tooLong = ['a'.repeat(120), 'ß'.repeat(120), '🚪'.repeat(60)];
        for (const name of GREETINGS) {
            for (const text of longest) assert.equal(ok(await save({ [name]: text }, await current()))[name], text);
            for (const text of tooLong) refused(await save({ [name]: text }, await current()), 400, 'INVALID_GREETING', name);
        }
    });

    for (const tone of ['', '1234', 'a', '9 ', ' 9', '9-', 9, ['9'], 'A', '９']) {
        // BUILDING-41
        it(`refuse the tone ${JSON.stringify(tone)} as INVALID_TONE`, async () => {
            refused(await save({ unlock_tone: tone }, await current()), 400, 'INVALID_TONE', 'unlock_tone');
        });
    }

    for (const tone of ['0', '#', '*', '999', '*0#']) {
        it(`accept the tone ${tone}`, async () => {
            assert.equal(ok(await save({ unlock_tone: tone }, await current())).unlock_tone, tone);
        });
    }

    // BUILDING-41
    it('refuse a greeting that is no string as INVALID_GREETING', async () => {
        for (const value of [5, true, ['a'], {}]) {
            refused(await save({ greeting_denied: value }, await current()), 400, 'INVALID_GREETING', 'greeting_denied');
        }
    });

    // BUILDING-34
    it('say how the release tone is sent, with defaults', async () => {
        const standard = { length_ms: 200, gap_ms: 400, delay_ms: 0, repeat: 1, mode: 'auto', before_greeting: false };
        const before = ok(await read());
        assert.deepEqual(before.release, standard);
        const changed = ok(await save({ release: { gap_ms: 500, mode: 'info' } }, await current()));
        assert.deepEqual(changed.release, { ...before.release, gap_ms: 500, mode: 'info' });
        assert.notEqual(changed.version, before.version);
        const again = ok(await save({ release: { before_greeting: true, repeat: 3 } }, await current()));
        assert.deepEqual(again.release, { ...changed.release, before_greeting: true, repeat: 3 });
    });

    // BUILDING-33
    it('have a time zone, which the list of buildings shows too', async () => {
        const before = ok(await read());
        assert.equal(before.timezone, null);
        const changed = ok(await save({ timezone: 'America/Toronto' }, await current()));
        assert.equal(changed.timezone, 'America/Toronto');
        assert.notEqual(changed.version, before.version);
        assert.equal(ok(await save({ unlock_tone: '7' }, await current())).timezone, 'America/Toronto');
        assert.equal(ok(await owner.client.get('/v1/buildings')).data[0].timezone, 'America/Toronto');
    });

    // BUILDING-36
    it('name the phones that ring, and ask for 1 by default when there are several', async () => {
        assert.deepEqual(ok(await read()).ring, { numbers: [], strategy: 'all', seconds: 30, accept: false, message: false });
        const numbers = ['+15551110001', '+15551110002'];
        assert.deepEqual(ok(await save({ ring: { numbers } }, await current())).ring, { numbers, strategy: 'all', seconds: 30, accept: true, message: false });
        const changed = ok(await save({ ring: { accept: false, strategy: 'order', seconds: 10, message: true } }, await current()));
        assert.deepEqual(changed.ring, { numbers, strategy: 'order', seconds: 10, accept: false, message: true });
        assert.deepEqual(ok(await save({ ring: { numbers: [] } }, await current())).ring.numbers, []);
    });

    // BUILDING-38, BUILDING-39
    it('list the callers that may open, and know the numbers that did', async () => {
        const box = '+15553330000';
        const before = ok(await read());
        assert.deepEqual([before.callers, before.known_callers], [{ mode: 'any', numbers: [], others: 'forward' }, []]);
        await grant(owner, { type: 'timer', expires_in_minutes: 60 });
        await visit(client, { to: owner.number, from: box });
        assert.deepEqual(ok(await read()).known_callers, [box]);
        const ring = { numbers: ['+15551110001'] };
        assert.deepEqual(ok(await save({ ring, callers: { mode: 'listed', numbers: [box] } }, await current())).callers, { mode: 'listed', numbers: [box], others: 'forward' });
        assert.deepEqual(ok(await save({ callers: { numbers: ['201', box], others: 'reject' } }, await current())).callers, { mode: 'listed', numbers: ['201', box], others: 'reject' });
        refused(await save({ callers: { numbers: [] } }, await current()), 400, 'INVALID_SETTINGS', 'callers.numbers');
        assert.equal(ok(await owner.client.get(`/v1/buildings/${owner.building.id}/decision?from=%2B18005550199`)).reason, 'not_listed');
        assert.notEqual(ok(await owner.client.get(`/v1/buildings/${owner.building.id}/decision`)).reason, 'not_listed');
        assert.deepEqual(ok(await save({ ring: { numbers: [] }, callers: { mode: 'any', numbers: [] } }, await current())).callers, { mode: 'any', numbers: [], others: 'reject' });
    });

    for (const [body, field] of [
        [{ callers: { mode: 'nobody' } }, 'callers.mode'],
        [{ callers: { mode: 'listed', numbers: [] } }, 'callers.numbers'],
        [{ callers: { numbers: ['box'] } }, 'callers.numbers'],
        [{ callers: { numbers: ['201', '201'] } }, 'callers.numbers'],
        [{ callers: { numbers: Array.from({ length: 21 }, (_, i) => `${1000 + i}`) } }, 'callers.numbers'],
        [{ callers: { others: 'ring' } }, 'callers.others'],
        [{ callers: { known: [] } }, 'callers.known'],
        [{ release: { length_ms: 39 } }, 'release.length_ms'],
        [{ release: { gap_ms: 2001 } }, 'release.gap_ms'],
        [{ release: { delay_ms: -1 } }, 'release.delay_ms'],
        [{ release: { repeat: 4 } }, 'release.repeat'],
        [{ release: { mode: 'loud' } }, 'release.mode'],
        [{ release: { mode: null } }, 'release.mode'],
        [{ release: null }, 'release'],
        [{ release: { colour: 1 } }, 'release.colour'],
        [{ ring: { seconds: 9 } }, 'ring.seconds'],
        [{ ring: { numbers: ['5551110001'] } }, 'ring.numbers'],
        [{ ring: { numbers: ['+15551110001', '+15551110001'] } }, 'ring.numbers'],
        [{ ring: { numbers: Array.from({ length: 5 }, (_, i) => `+1555111000${i}`) } }, 'ring.numbers'],
        [{ ring: { strategy: 'random' } }, 'ring.strategy'],
        [{ timezone: 'America/Springfield' }, 'timezone'],
        [{ timezone: '../zone.tab' }, 'timezone'],
        [{ timezone: '' }, 'timezone'],
        [{ timezone: null }, 'timezone'],
    ]) {
        it(`refuse ${JSON.stringify(body)} as INVALID_SETTINGS`, async () => {
            refused(await save(body, await current()), 400, 'INVALID_SETTINGS', field);
        });
    }

    // BUILDING-37
    it('refuse to ring the number of the building itself', async () => {
        const { virtual_number } = ok(await read());
        refused(await save({ ring: { numbers: [virtual_number] } }, await current()), 400, 'INVALID_SETTINGS', 'ring.numbers');
    });

    // BUILDING-41
    it('refuse an empty object, unknown fields and nulls as INVALID_SETTINGS', async () => {
        refused(await save({}, await current()), 400, 'INVALID_SETTINGS');
        refused(await save({ colour: 'red' }, await current()), 400, 'INVALID_SETTINGS', 'colour');
        refused(await save({ version: 'x' }, await current()), 400, 'INVALID_SETTINGS', 'version');
        refused(await save({ unlock_tone: null }, await current()), 400, 'INVALID_SETTINGS', 'unlock_tone');
        refused(await save({ greeting_granted: null }, await current()), 400, 'INVALID_SETTINGS', 'greeting_granted');
    });

    it('save nothing of a request that is wrong in part', async () => {
        const before = ok(await read());
        refused(await save({ unlock_tone: '5', greeting_denied: 'a'.repeat(200) }, before.version), 400, 'INVALID_GREETING');
        refused(await save({ unlock_tone: '5', colour: 1 }, before.version), 400, 'INVALID_SETTINGS');
        assert.deepEqual(ok(await read()), before);
    });

    it('need setup:write to be changed', async () => {
        const reader = await agent(owner, ['account:read', 'access:write']);
        refused(await save({ unlock_tone: '9' }, await current(), reader), 403, 'INSUFFICIENT_SCOPE', 'setup:write');
    });

    it('of the primary building can be changed without a subscription', async () => {
        const session = await signIn(client);
        const home = await provisioned(session);
        await setSubscription(client, session.email, 'canceled');
        const at = `/v1/buildings/${home.id}/settings`;
        ok(await save({ unlock_tone: '7' }, (await read(session, at)).headers.etag, session, at));
    });

    it('apply to the next visitor: greetings and release tone', async () => {
        ok(await save({ unlock_tone: '5#', greeting_granted: 'Third floor.' }, await current()));
        ok(await owner.client.post('/v1/unlock', { type: 'timer', expires_in_minutes: 5 }, { headers: { 'Idempotency-Key': 'settings-test-key-0001' } }), 201);
        const call = await visit(client, { to: owner.number });
        assert.equal(call.outcome, 'released');
        assert.equal(call.tones, '5#');
        assert.ok(call.said.includes('Third floor.'));
    });
});
