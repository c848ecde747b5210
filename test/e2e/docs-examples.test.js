// Every example of the reference pages, run as it is served, in each of its languages, against a service.
// engine: sqlite, because it tests the documents
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addition, owner, quote, added, removal } from './lib/buildings.js';
import { idempotencyKey, ok } from './lib/client.js';
import { contract } from './lib/contract.js';
import { cleanEnvironment, temporaryDirectory } from './lib/daemon.js';
import { referenceOperations } from './lib/docs.js';
import { QUICK, startBuzz, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { Stream } from './lib/stream.js';
import { agent, challenge, changeSettings, eventually, freshEmail, grant, message, resident, signIn, visit, world } from './lib/world.js';

const LIMIT_MS = 60_000;

// ---- the values in the examples that stand for a reader's ----

const BUILDING = '6b018faceb9d0c2ba6000001';
const ID = '6b018faceb9d0c2ba6000002';
const SECOND = '6b018faceb9d0c2ba6000003';
const QUOTE = '6564c0ffee0123456789abcd';
const SETTINGS = 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c';
const CHECKOUT = 'cs_5CsFtExample';
const EMAIL = 'resident@example.com';

const passcode = (person) => grant(person, { type: 'passcode', label: 'Guest' });
const withGrant = async ({ person }) => ({ replace: { [ID]: (await passcode(person)).id } });
const withPass = async ({ person }) => ({
    replace: { [ID]: ok(await person.client.post('/v1/passes', { timezone: 'UTC' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201).id },
});
const webhook = async (person) => ok(await person.client.post('/v1/webhooks',
    { url: `https://receiver.test/${idempotencyKey()}`, events: ['access.granted'] }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
/** An account has five at most, so each is deleted again. */
const withWebhook = async ({ person }) => {
    const { id } = await webhook(person);
    return { replace: { [ID]: id }, after: async () => ok(await person.client.delete(`/v1/webhooks/${id}`)) };
};
const checkout = async (person) => ok(await person.client.post('/v1/billing/checkout', { plan: 'yearly' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201).id;
const withCheckout = async ({ client }) => {
    const person = await signIn(client);
    return { key: person.key, replace: { [CHECKOUT]: await checkout(person) } };
};
const endedCall = async ({ client, person }) => {
    await visit(client, { to: person.number });
    return ok(await person.client.get('/v1/calls?limit=1')).data[0].id;
};
const withCall = async (s) => ({ replace: { [ID]: await endedCall(s) } });

const PHONE = '+15550001234';
const OFFER = { sdp: contract()[1].document.paths['/v1/calls/{id}/listen'].post.requestBody.content['application/json'].example.sdp };
/** A visitor whose call rings the phone of a resident, until the example has run; with a browser that listens, if `listening`. */
const ringing = (listening) => async ({ client, daemon, trunk }) => {
    const person = await resident(client, { tone: '5' });
    await changeSettings(person, { ring: { numbers: [PHONE], accept: false } });
    const phone = await startPhone('--listen', `127.0.0.1:${trunk}`, '--answer', '60000');
    const stream = await Stream.open(person.client, person.building.id);
    const visitor = startBuzz(daemon, person.number);
    const call = (await stream.type('call.ringing')).data.call_id;
    const at = `/v1/calls/${call}`;
    const listener = listening && ok(await person.client.post(`${at}/listen`, OFFER), 201).listener_id;
    return {
        key: person.key, replace: { [ID]: call, ...listening ? { [SECOND]: listener } : {} },
        after: async () => {
            stream.cut();
            if (listening) await person.client.delete(`${at}/listeners/${listener}`); // hangs up if it answered
            await person.client.post(`${at}/open`);
            await Promise.all([visitor.ended, phone.ended]);
        },
    };
};

/**
 * The needs of an example before it runs, by operation; other operations run as they are. Gives
 * {key: in place of the resident's session, replace: {value in the example: value to run it with}, after: () => …}.
 */
const NEEDS = {
    getUnlock: withGrant, updateUnlock: withGrant, revokeUnlock: withGrant,
    getPass: withPass, updatePass: withPass, revokePass: withPass,
    createUnlockLink: withGrant, getUnlockLink: withGrant, deleteUnlockLink: withGrant,
    updateSettings: async ({ person }) => {
        const { headers } = await person.client.get(`/v1/buildings/${person.building.id}/settings`);
        return { replace: { [SETTINGS]: headers.etag.replaceAll('"', '') } };
    },
    addBuilding: async ({ client }) => {
        const person = await owner(client);
        return { key: person.key, replace: { [QUOTE]: (await quote(person)).id } };
    },
    previewBuilding: async ({ client }) => ({ key: (await owner(client)).key }),
    getBuildingOperation: async ({ client }) => {
        const person = await owner(client);
        return { key: person.key, replace: { [ID]: (await quote(person, addition())).id } };
    },
    removeBuilding: async ({ client }) => {
        const person = await owner(client);
        const cabin = await added(person);
        return { key: person.key, replace: { [ID]: cabin.id, [QUOTE]: (await quote(person, removal(cabin.id))).id } };
    },
    getCall: withCall,
    getCallMessage: async ({ client, person }) => {
        await changeSettings(person, { ring: { numbers: ['+15550009999'], message: true } });
        await visit(client, { to: person.number, message_seconds: 2, answer_forward: false });
        return { replace: { [ID]: ok(await person.client.get('/v1/calls?limit=1')).data[0].id } };
    },
    openCall: ringing(false), listenToCall: ringing(false), answerCall: ringing(true), leaveCall: ringing(true),
    requestPhoneCode: async ({ client }) => ({ key: (await resident(client)).key }),
    confirmPhoneCode: async ({ client }) => {
        const person = await resident(client);
        const phone = `+1${randomInt(2_000_000_000, 10_000_000_000)}`;
        ok(await person.client.post('/v1/account/phone/verification', { phone_number: phone }));
        return { key: person.key, replace: { 123456: (await message(client, phone, 'sms')).code } };
    },
    requestOtp: async () => ({ replace: { [EMAIL]: freshEmail() } }),
    verifyOtp: async ({ client }) => {
        const email = freshEmail();
        const sent = await challenge(client, email);
        return { replace: { [EMAIL]: email, chl_0123456789abcdef0123456789abcdef: sent.challenge, '"123456"': `"${sent.otp}"` } };
    },
    revokeOwnKey: async ({ person }) => ({ key: (await agent(person, ['account:read'])).key }),
    revokeKey: async ({ person }) => ({ replace: { [ID]: (await agent(person, ['account:read'])).id } }),
    revokeOtherKeys: async ({ client }) => ({ key: (await signIn(client)).key }),
    createWebhook: async () => ({ replace: { 'https://example.com/hooks/door': 'https://receiver.test/door' } }),
    updateWebhook: withWebhook, rotateWebhookSecret: withWebhook, deleteWebhook: withWebhook, testWebhook: withWebhook, listWebhookDeliveries: withWebhook,
    replayWebhookDelivery: async ({ person }) => {
        const { id } = await webhook(person);
        ok(await person.client.post(`/v1/webhooks/${id}/test`), 202);
        const delivery = await eventually(async () => ok(await person.client.get(`/v1/webhooks/${id}/deliveries`)).data.find((row) => row.status === 'delivered'), 'a delivery');
        return { replace: { [ID]: id, [SECOND]: delivery.id }, after: async () => ok(await person.client.delete(`/v1/webhooks/${id}`)) };
    },
    createCheckout: async ({ client }) => ({ key: (await signIn(client)).key }),
    expireCheckout: withCheckout, paySandboxCheckout: withCheckout, cancelSandboxCheckout: withCheckout,
    cancelSandboxSubscription: async ({ client }) => {
        const person = await resident(client);
        return { replace: { [CHECKOUT]: ok(await person.client.post('/v1/billing/portal')).url.split('/').at(-1) } };
    },
    placeSandboxCall: async ({ person }) => ({ replace: { '+15550100000': person.number } }),
    setSandboxSubscription: async ({ client }) => ({ replace: { [EMAIL]: (await signIn(client)).email } }),
    orderSandboxFault: async ({ client }) => ({
        after: async () => ok(await client.as(undefined).post('/sandbox/faults', { provider: 'billing', operation: 'session_create', fault: 'none' })),
    }),
};

// ---- running ----

/** The languages: how a piece of code is run in a directory, and what its output says: {status, text}. */
const LANGUAGES = {
    curl: {
        command: (directory, code) => ['sh', ['-c', code]],
        read: (output) => ({ status: Number(output.slice(-3)), text: output.slice(0, -4) }),
    },
    javascript: {
        command: (directory, code) => {
            writeFileSync(join(directory, 'example.mjs'), code);
            return [process.execPath, ['--import', `${join(directory, 'print.mjs')}`, 'example.mjs']];
        },
        read: (output) => ({ status: Number(output.slice(0, 3)), text: output.slice(4).trimEnd() }),
    },
    python: {
        command: (directory, code) => ['/usr/bin/python3', ['-c', code]],
        read: (output) => ({ status: Number(output.slice(0, 3)), text: output.slice(4).trimEnd() }),
    },
};

/** Starts a command: {child, output(), closed}. */
function start([command, args], directory, env) {
    const child = spawn(command, args, { cwd: directory, env: cleanEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const all = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (more) => { all[name] += more; });
    return { child, all, closed: once(child, 'close') };
}

/** Ends a command with all that it started. */
function end(child) {
    try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended */ }
}

function substituted(code, replace, id) {
    let text = code;
    for (const [from, to] of Object.entries(replace)) {
        assert.ok(text.includes(from), `${id}: the example has no ${from}`);
        text = text.replaceAll(from, to);
    }
    return text;
}

/** Holds a body against the schema that the document has for this status of the operation. */
function checkShape(operation, status, text) {
    const [sandbox, service] = contract();
    const doc = operation.form.path.startsWith('/sandbox/') ? sandbox : service;
    const pointer = `/paths/${operation.form.path.replaceAll('/', '~1')}/${operation.form.method}/responses/${status}`;
    const documented = doc.document.paths[operation.form.path][operation.form.method].responses[status];
    assert.ok(documented, `${operation.id}: ${status} is not documented: ${text}`);
    const { node, pointer: at } = doc.resolve(documented, pointer);
    if (node.content?.['application/json']?.schema) doc.validate(`${at}/content/application~1json/schema`, JSON.parse(text), `${operation.id}: ${status}`);
}

describe('the examples of the reference, run as they are served', () => {
    let w;
    let operations;
    let directory;
    let trunk;
    before(async () => {
        trunk = await freePort();
        directory = temporaryDirectory();
        writeFileSync(join(directory, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n%{http_code}"\n');
        writeFileSync(join(directory, 'print.mjs'), `console.log = (...values) => process.stdout.write(\`\${values.map((value) =>
            (typeof value === 'string' ? value : JSON.stringify(value))).join(' ')}\\n\`);`);
        w = await world({ args: ['--https', 'localhost:0', '--http', 'localhost:0', '--sip', '127.0.0.1:0'], config: { ...QUICK, voice: { ...QUICK.voice, 'peer phones': { server: `127.0.0.1:${trunk}`, probe_s: 0 } } } });
        operations = await referenceOperations(w.client);
    });
    after(async () => {
        await w?.close();
        rmSync(directory, { recursive: true, force: true });
    });

    const environment = (key) => {
        const certificate = join(w.daemon.data, 'tls.crt');
        return { PORTERO_KEY: key, CURL_HOME: directory, CURL_CA_BUNDLE: certificate, NODE_EXTRA_CA_CERTS: certificate, SSL_CERT_FILE: certificate };
    };

    /** The stream goes on: it is read until it tells of a grant that is created now. */
    async function follow(command, person) {
        const { child, all, closed } = start(command, directory, environment(person.key));
        const grants = setInterval(() => { passcode(person).catch(() => {}); }, 200);
        try {
            await Promise.race([eventually(() => all.stdout.includes('grant.created'), `an event in ${command}: ${all.stderr}`, LIMIT_MS), closed]);
            assert.match(all.stdout, /event: grant\.created\s+data: \{/, all.stderr);
        } finally {
            clearInterval(grants);
            end(child);
            await closed;
        }
    }

    async function runExample(language, operation, person) {
        const { command, read } = LANGUAGES[language];
        const code = operation.samples[language];
        assert.ok(code, `${operation.id} has no example in ${language}`);
        const { key = person.key, replace = {}, after: undo } = await (NEEDS[operation.id]?.({ client: w.client, daemon: w.daemon, trunk, person }) ?? {});
        const building = code.includes(BUILDING) && !replace[BUILDING] ? { [BUILDING]: person.building.id } : {};
        const text = substituted(code, { ...replace, ...building }, operation.id);
        if (operation.id === 'streamEvents') {
            await follow(command(directory, text), person);
            return;
        }
        const { child, all, closed } = start(command(directory, text), directory, environment(key));
        const limit = setTimeout(() => end(child), LIMIT_MS);
        const [exit] = await closed;
        clearTimeout(limit);
        await undo?.();
        assert.equal(exit, 0, `${operation.id}: ${all.stderr}\n${text}`);
        const answer = read(all.stdout);
        if (operation.id === 'getContract') { // leads to the document
            assert.equal(answer.status, 200);
            return;
        }
        assert.ok(answer.status >= 200 && answer.status < 300, `${operation.id}: ${answer.status} ${answer.text}\n${text}`);
        checkShape(operation, answer.status, answer.text);
    }

    it('have a need in the table only if they are there', () => {
        const ids = new Set(operations.map(({ id }) => id));
        assert.deepEqual(Object.keys(NEEDS).filter((id) => !ids.has(id)), []);
        assert.ok(ids.size > 60, `${ids.size}`);
    });

    for (const language of Object.keys(LANGUAGES)) {
        it(`in ${language}`, { timeout: 10 * LIMIT_MS }, async (t) => {
            const person = await resident(w.client);
            for (const operation of operations) await t.test(operation.id, () => runExample(language, operation, person));
        });
    }
});
