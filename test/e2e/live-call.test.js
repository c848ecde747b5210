// A call in progress, and the resident who opens the door in it without a telephone.
// engine: both, because another node may have the call on PostgreSQL alone
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { engine } from './lib/daemon.js';
import { BOX, phonesAt, startBuzz, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { Stream } from './lib/stream.js';
import { agent, changeSettings, grant, provisioned, resident, signIn, UNKNOWN_ID, visit, world } from './lib/world.js';

const PHONE = '+15550001234';

/** As browsers make it, in few lines. */
const OFFER = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0', 'm=audio 9 UDP/TLS/RTP/SAVPF 0 8', 'c=IN IP4 0.0.0.0', 'a=mid:0',
    'a=sendrecv', 'a=rtcp-mux', 'a=ice-ufrag:Brow', 'a=ice-pwd:0123456789012345678901', 'a=setup:actpass',
    `a=fingerprint:sha-256 ${Array(32).fill('AB').join(':')}`, 'a=rtpmap:0 PCMU/8000', 'a=rtpmap:8 PCMA/8000', ''].join('\r\n');

const withTrunk = (port) => ({ config: phonesAt(port) });

async function ring(person) {
    await changeSettings(person, { ring: { numbers: [PHONE], accept: false } });
    return person;
}

const withPhone = async (w) => ring(await resident(w.client, { tone: '5' }));

const open = (client, call, body) => client.post(`/v1/calls/${call}/open`, body);

describe('a resident opens the door in a call', () => {
    let port;
    let w;
    before(async () => {
        port = await freePort();
        w = await world(withTrunk(port));
    });
    after(() => w?.close());

    /** A visitor whose call rings the resident's phone: {call, buzz, phone, stream}. */
    async function ringing(person, options, box = []) {
        const phone = await startPhone('--listen', `127.0.0.1:${port}`, ...options);
        const stream = await Stream.open(person.client, person.building.id);
        const visitor = startBuzz(w.daemon, person.number, ...box);
        const event = await stream.type('call.ringing');
        return { call: event.data.call_id, visitor, phone, stream };
    }

    // CALL-24
    it('while the phone rings, which stops', async () => {
        const person = await withPhone(w);
        const { call, visitor, phone, stream } = await ringing(person, ['--answer', '60000']);
        assert.deepEqual(ok(await open(person.client, call)), { call_id: call, opened: true });
        const heard = await visitor.ended;
        assert.equal(heard.tones, '5', heard.stdout + heard.stderr);
        assert.match((await phone.ended).stdout, /canceled/);
        const { data } = await stream.type('call.opened');
        assert.equal(data.call_id, call);
        await stream.type('call.ended');
        const record = ok(await person.client.get(`/v1/calls/${call}`));
        assert.deepEqual([record.outcome, record.resident_opened, record.ended_by, record.caller], ['forwarded', true, 'service', BOX]);
        assert.ok(record.steps.some(({ step, detail }) => step === 'resident_opened' && detail === 'request'), JSON.stringify(record.steps));
        refused(await open(person.client, call), 409, 'CALL_ENDED');
        stream.cut();
    });

    // CALL-24, CALL-25, CALL-27
    it('while someone talks to the visitor, and the conversation goes on', async () => {
        const person = await withPhone(w);
        const { call, visitor, phone, stream } = await ringing(person, ['--answer', '100', '--digits', ',,,9', '--wait', '3000', '--hangup', '500']);
        await stream.type('call.answered');
        const [first, second] = await Promise.all([open(person.client, call, {}), open(person.client, call, { listener_id: null })]);
        assert.deepEqual([ok(first).opened, ok(second).opened], [true, true]);
        await stream.type('call.opened');
        const heard = await visitor.ended;
        assert.match(heard.tones, /^55?$/);
        assert.match((await phone.ended).stdout, /answered/);
        stream.cut();
    });

    it('after listening and answering in a browser, whose leaving ends the call', async () => {
        const person = await withPhone(w);
        const { call, visitor, phone, stream } = await ringing(person, ['--answer', '60000']);
        const at = `/v1/calls/${call}`;
        const offer = OFFER;
        refused(await person.client.post(`${at}/listen`, { sdp: 'v=0\r\n' }), 400, 'INVALID_SDP');
        const listeners = [];
        for (let i = 0; i < 8; i++) listeners.push(ok(await person.client.post(`${at}/listen`, { sdp: offer }), 201));
        assert.match(listeners[0].sdp, /a=ice-lite/);
        assert.equal(listeners[0].answered, false);
        refused(await person.client.post(`${at}/listen`, { sdp: offer }), 503, 'TOO_MANY_LISTENERS');
        const [first, second] = listeners.map(({ listener_id: id }) => id);
        refused(await person.client.post(`${at}/answer`, { listener_id: UNKNOWN_ID }), 404, 'NOT_FOUND');
        assert.deepEqual(ok(await person.client.post(`${at}/answer`, { listener_id: first })), { call_id: call, listener_id: first });
        await stream.type('call.answered');
        refused(await person.client.post(`${at}/answer`, { listener_id: second }), 409, 'CALL_ANSWERED');
        assert.match((await phone.ended).stdout, /canceled/);
        assert.deepEqual(ok(await person.client.delete(`${at}/listeners/${second}`)), { id: second, deleted: true });
        ok(await open(person.client, call, { listener_id: first }));
        await stream.type('call.opened');
        ok(await person.client.delete(`${at}/listeners/${first}`));
        assert.match((await visitor.ended).tones, /^5?$/);
        await stream.type('call.ended');
        assert.equal(ok(await person.client.get(at)).ended_by, 'resident');
        stream.cut();
    });

    // CALL-32, CALL-34
    it('heard only with the scope that no key has by itself, and the record names who listened', async () => {
        const person = await withPhone(w);
        const usual = await agent(person);
        const all = await agent(person, ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write', 'billing:write', 'buildings:write']);
        const ear = await agent(person, ['calls:listen'], { name: 'Ear' });
        const { call, phone, visitor, stream } = await ringing(person, ['--answer', '1500', '--hangup', '6000']);
        const at = `/v1/calls/${call}`;
        for (const key of [usual, all]) refused(await key.client.post(`${at}/listen`, { sdp: OFFER }), 403, 'INSUFFICIENT_SCOPE');
        const { listener_id: heard } = ok(await ear.client.post(`${at}/listen`, { sdp: OFFER }), 201);
        refused(await ear.client.post(`${at}/answer`, { listener_id: heard }), 403, 'INSUFFICIENT_SCOPE');
        assert.equal((await stream.type('call.listening')).data.key_id, ear.id);
        await stream.type('call.answered'); // by the phone: a program goes, and does not come again
        refused(await ear.client.delete(`${at}/listeners/${heard}`), 404, 'NOT_FOUND');
        refused(await ear.client.post(`${at}/listen`, { sdp: OFFER }), 409, 'CALL_ANSWERED');
        const joined = ok(await person.client.post(`${at}/listen`, { sdp: OFFER }), 201);
        assert.equal(joined.answered, true);
        ok(await person.client.delete(`${at}/listeners/${joined.listener_id}`));
        await Promise.all([phone.ended, visitor.ended, stream.type('call.ended')]);
        const { steps } = ok(await person.client.get(at));
        const [program, session, ...more] = steps.filter(({ step }) => step === 'listening');
        assert.deepEqual([program.detail, program.key_id, program.key_name, more.length], ['ringing', ear.id, 'Ear', 0]);
        assert.deepEqual([session.detail, session.key_name], ['conversation', 'Website session']);
        assert.ok(ok(await person.client.get('/v1/auth/keys')).data.some(({ id, type }) => id === session.key_id && type === 'web_session'));
        stream.cut();
    });

    // CALL-35
    it('until its key is revoked, which ends the conversation', async () => {
        const person = await withPhone(w);
        const voice = await agent(person, ['calls:listen', 'access:write']);
        const { call, phone, visitor, stream } = await ringing(person, ['--answer', '60000']);
        const { listener_id: id } = ok(await voice.client.post(`/v1/calls/${call}/listen`, { sdp: OFFER }), 201);
        ok(await voice.client.post(`/v1/calls/${call}/answer`, { listener_id: id }));
        await stream.type('call.answered');
        ok(await person.client.delete(`/v1/auth/keys/${voice.id}`));
        assert.equal((await stream.type('call.ended')).data.ended_by, 'resident');
        await Promise.all([phone.ended, visitor.ended]);
        stream.cut();
    });

    it('with a right to that building alone', async () => {
        const person = await withPhone(w);
        const reader = await agent(person, ['logs:read', 'access:read']);
        const stranger = await signIn(w.client);
        const { call, visitor, stream } = await ringing(person, ['--answer', '60000']);
        refused(await open(stranger.client, call), 404, 'NOT_FOUND');
        refused(await open(reader.client, call), 403, 'INSUFFICIENT_SCOPE');
        refused(await open(person.client, UNKNOWN_ID), 404, 'NOT_FOUND');
        refused(await open(person.client, 'x'), 400, 'INVALID_ID');
        refused(await open(person.client, call, { listener_id: 'x' }), 400, 'INVALID_ID');
        ok(await open((await agent(person, ['access:write'])).client, call));
        assert.equal((await visitor.ended).tones, '5');
        stream.cut();
    });

    it('not before the visitor was heard out, and not with an empty tone', async () => {
        const person = await withPhone(w);
        await grant(person, { type: 'passcode', access_code: '1234' });
        const stream = await Stream.open(person.client, person.building.id);
        const visitor = startBuzz(w.daemon, person.number, '--timeout', '6');
        const { data } = await stream.type('call.ring');
        refused(await open(person.client, data.call_id), 409, 'CALL_NOT_FORWARDED');
        await visitor.ended;
        stream.cut();
        const bare = await signIn(w.client);
        bare.building = await provisioned(bare);
        await ring(bare);
        const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--answer', '2000', '--hangup', '100');
        const feed = await Stream.open(bare.client, bare.building.id);
        const other = startBuzz(w.daemon, bare.building.virtual_number);
        refused(await open(bare.client, (await feed.type('call.ringing')).data.call_id), 409, 'SETUP_REQUIRED');
        await other.ended;
        await phone.ended;
        feed.cut();
    });

    // CALL-26
    it('not in a call of the sandbox, which has ended', async () => {
        const person = await withPhone(w);
        const { call_id: call } = await visit(w.client, { to: person.number });
        refused(await open(person.client, call), 409, 'CALL_ENDED');
    });

    // CALL-36
    it('not after its process was killed', async () => {
        const person = await withPhone(w);
        const { call } = await ringing(person, ['--answer', '60000', '--timeout', '3'], ['--timeout', '3']);
        await w.daemon.crash();
        await w.daemon.start();
        if (engine === 'sqlite') refused(await open(person.client, call), 409, 'CALL_ENDED');
        else refused(await open(person.client, call), 504, 'CALL_UNREACHABLE');
    });
});
