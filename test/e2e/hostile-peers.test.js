// Peers that keep a connection busy for ever, at each of its layers (lib/hostile.c), against all that the service asks
// others, and against its own ports: each is given up, nobody else is delayed, and a stop ends.
// engine: sqlite, because it tests what the service does on the network
import { describe, it, after, before, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { useHostilePeers } from './lib/hostile.js';
import { known } from './lib/oauth.js';
import { METRICS, page, raised } from './lib/metrics.js';
import { ownNames } from './lib/names.js';
import { buzz, QUICK } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { PushService, Subscription } from './lib/push.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { StripeImitation } from './lib/stripe.js';
import { signInBrowser } from './lib/site.js';
import { eventually, freshEmail, grant, resident, signIn, useWorld, world } from './lib/world.js';

const ENDPOINTS = 5; // of an account
const ACCOUNTS = 4;
const TRUNKS_MS = 120_000; // a question has 32 s
const FLOODS = 3; // of a port: one more than most processors of a test machine
const TLS_ONLY = ['keys', 'keys-at-once', 'greeting'];
const TAKEN = ['body', 'slow-body', 'chunks', 'extension', 'trailers']; // their status is an answer

describe('a peer that keeps its connection busy for ever', () => {
    const peers = useHostilePeers();
    let sips;
    before(async () => { sips = await freePort(); });
    const w = useWorld(() => ({
        config: {
            ...REACHABLE, ...METRICS, oauth: { allow_private: true, ca: peers.ca },
            listen: { ...METRICS.listen, sips: `127.0.0.1:${sips}` }, tls: { sip_certificate: peers.certificate, sip_key: peers.certificate },
        },
    }));
    const { client } = w;
    const receiver = useReceiver();
    const service = new PushService();
    before(() => service.listen());
    let owner;
    before(async () => { owner = await resident(client); });
    beforeEach(() => { receiver.requests.length = 0; });
    const each = () => [...peers.ports].map(([name, port]) => ({ name, url: `https://localhost:${port}/x` }));
    const endpointOf = async (who, url) => ok(await who.client.post('/v1/webhooks', { url }), 201);
    const tested = async (who, { id }) => ok(await who.client.post(`/v1/webhooks/${id}/test`), 202).delivery_id;
    const deliveries = async (who, { id }) => ok(await who.client.get(`/v1/webhooks/${id}/deliveries`)).data;

    it('is given up as a receiver of webhooks, and other receivers are not delayed', async () => {
        const own = await endpointOf(owner, receiver.url());
        const attempts = [];
        const all = each();
        for (let from = 0; from < all.length; from += ENDPOINTS) {
            const who = await signIn(client);
            for (const { name, url } of all.slice(from, from + ENDPOINTS)) {
                const endpoint = await endpointOf(who, url);
                attempts.push({ name, who, endpoint });
                await tested(who, endpoint);
                await eventually(() => peers.met(name), `an attempt at ${name}`);
                const mine = await tested(owner, own);
                await eventually(async () => (await deliveries(owner, own)).find(({ id }) => id === mine).status === 'delivered', `a delivery next to ${name}`);
            }
        }
        for (const { name, who, endpoint } of attempts) {
            const [found] = await eventually(async () => {
                const list = await deliveries(who, endpoint);
                return list[0].attempts && list;
            }, `the end of ${name}`);
            if (TAKEN.includes(name)) assert.equal(found.status, 'delivered', name);
            else assert.match(found.last_error, /^(timeout|broken|tls|status)$/, name);
        }
    });

    it('is given up as a push service, and other browsers are told', async () => {
        const before = await page(w.daemon);
        for (const { name, url } of each()) {
            const met = peers.met(name);
            const bad = await resident(client);
            const { site } = await signInBrowser(client, { email: bad.email });
            const path = `/v1/buildings/${bad.building.id}/notices/push`;
            ok(await site.put(path, { ...new Subscription({ url: () => url }).keys, notices: ['ring'] }));
            ok(await site.post(`${path}/test`), 202);
            await eventually(() => peers.met(name) > met, `a message to ${name}`);
            const good = await signInBrowser(client, { email: owner.email });
            const subscription = new Subscription(service);
            ok(await good.site.put(`/v1/buildings/${owner.building.id}/notices/push`, { ...subscription.keys, notices: ['ring'] }));
            ok(await good.site.post(`/v1/buildings/${owner.building.id}/notices/push/test`), 202);
            await subscription.first('test');
        }
        const failed = each().length - TAKEN.length;
        await eventually(async () => {
            const more = raised(before, await page(w.daemon));
            return ['later', 'dropped'].reduce((sum, end) => sum + (more[`portero_pushes_total{outcome="${end}"}`] ?? 0), 0) >= failed;
        }, 'the end of all');
    });

    it('is given up as the host of an assistant\'s document', async () => {
        const queue = each();
        await Promise.all(Array.from({ length: ACCOUNTS }, async () => {
            const { site } = await signInBrowser(client);
            for (let one = queue.shift(); one; one = queue.shift()) {
                const view = ok(await site.post('/v1/oauth/client', { request: known(client, one.url).ask() }));
                assert.match(view.reason, /^the document(?: did not arrive within|'s host cannot be reached| was answered with another status)/, one.name);
            }
        }));
    });

    /** Each ask(person), all at once, meets another peer; meanwhile others are served. Then a stop in the middle of one more. */
    const providers = async (one, front, people, ask, check) => {
        const met = new Map(plain().map((name) => [name, peers.met(name)]));
        front.turn();
        let over = false;
        const answers = Promise.all(people.map(ask));
        answers.finally(() => { over = true; });
        do {
            ok(await one.client.get('/v1/health'));
            ok(await people[0].client.get('/v1/account'));
            await pause(50);
        } while (!over);
        for (const answer of await answers) check(answer);
        for (const [name, before] of met) assert.ok(peers.met(name) > before, name);
        const asked = ask(people[0]).catch(() => {});
        assert.deepEqual(await one.daemon.terminate(), { code: 0, signal: null });
        await asked;
    };
    const plain = () => [...peers.ports.keys()].filter((name) => !TLS_ONLY.includes(name));

    it('is given up as Stripe, while others are served, and keeps no stop from its end', async () => {
        const stripe = await StripeImitation.open();
        const front = await peers.front(plain(), new URL(stripe.url).port);
        const one = await world({ config: stripe.config({ url: front.url, timeout_s: 2 }) });
        try {
            await eventually(async () => ok(await one.client.get('/v1/plans')).data[0].amount, 'prices');
            const people = await Promise.all(plain().map(() => signIn(one.client)));
            await providers(one, front, people, ({ client: their }) => their.post('/v1/billing/checkout', { plan: 'weekly' }, { headers: { 'Idempotency-Key': idempotencyKey() } }),
                (answer) => refused(answer, 503, 'CHECKOUT_UNAVAILABLE'));
        } finally {
            await one.close();
            front.close();
            stripe.close();
        }
    });

    it('is given up as Twilio, while others are served, and keeps no stop from its end', async () => {
        const front = await peers.front(plain());
        const one = await world({
            config: { sms: { provider: 'twilio' }, twilio: { url: front.url, account_sid: `AC${'0'.repeat(32)}`, auth_token: 'token', from: '+15005550006', timeout_s: 2 } },
        });
        try {
            const people = await Promise.all(plain().map(() => resident(one.client)));
            await providers(one, front, people, ({ client: their }, i = 0) => their.post('/v1/account/phone/verification', { phone_number: `+1555000${1000 + i}` }),
                (answer) => refused(answer, 500, 'PHONE_CODE_SEND_FAILED'));
        } finally {
            await one.close();
            front.close();
        }
    });

    it('is cut off as a client of HTTPS and of SIP over TLS, while others are served', async () => {
        await grant(owner, { type: 'timer', expires_in_minutes: 60 });
        let over = false;
        const floods = Promise.all([new URL(w.daemon.https).port, sips].flatMap((port) => Array.from({ length: FLOODS }, () => peers.flood(port))));
        floods.then(() => { over = true; });
        do {
            ok(await client.get('/v1/health'));
            assert.equal((await buzz(w.daemon, owner.number)).tones, owner.tone);
            await pause(250);
        } while (!over);
        assert.deepEqual(new Set(await floods), new Set(['closed\n']));
    });

    it('keeps no stop from its end', async () => {
        const who = await signIn(client);
        const endpoint = await endpointOf(who, each().find(({ name }) => name === 'keys').url);
        const met = peers.met('keys');
        await tested(who, endpoint);
        await eventually(() => peers.met('keys') > met, 'an attempt');
        assert.deepEqual(await w.daemon.terminate(), { code: 0, signal: null });
    });

    it('keeps no stop from its end as a mail server', () => Promise.all([...peers.ports].map(async ([name, port]) => {
        const met = peers.met(name);
        const one = await world({ config: { mail: { provider: 'smtp', url: `smtps://localhost:${port}`, ca: peers.ca, from: 'door@door.example', user: '' } } });
        try {
            ok(await one.client.post('/v1/auth/otp', { email: freshEmail() }));
            await eventually(() => peers.met(name) > met, `a mail to ${name}`);
            ok(await one.client.get('/v1/health'));
            assert.deepEqual(await one.daemon.terminate(), { code: 0, signal: null }, name);
        } finally {
            await one.close();
        }
    })));

    it('is given up as a trunk, while calls are served, and keeps no stop from its end', async () => {
        const met = new Map([...peers.ports.keys()].map((name) => [name, peers.met(name)]));
        const trunks = Object.fromEntries([...peers.ports].map(([name, port]) => [`peer ${name.replaceAll('-', '_')}`, { server: `localhost:${port}`, transport: 'tls', tls_ca: peers.ca }]));
        const one = await world({ config: { ...QUICK, voice: { ...QUICK.voice, peers: ['127.0.0.0/8'], ...trunks } } });
        try {
            const person = await resident(one.client);
            await grant(person, { type: 'timer', expires_in_minutes: 60 });
            const list = () => JSON.parse(portero(['admin', 'trunk', 'list', '--json', '--data', one.daemon.data, '--config', one.daemon.configPath]).stdout).data;
            await eventually(async () => {
                ok(await one.client.get('/v1/health'));
                assert.equal((await buzz(one.daemon, person.number)).tones, person.tone);
                return list().every(({ state }) => state === 'down' || state === 'failing');
            }, 'the end of all', TRUNKS_MS);
            for (const [name, before] of met) assert.ok(peers.met(name) > before, name);
            assert.deepEqual(await one.daemon.terminate(), { code: 0, signal: null });
        } finally {
            await one.close();
        }
    });
});

describe('a name server that does not answer for one host', () => {
    const directory = temporaryDirectory();
    const names = ownNames(directory);
    const receiver = useReceiver();
    const NAMED = 'database.example'; // for which lib/names.c may be silent
    const HUNG = 3;

    const close = async (w) => {
        names.answer();
        await w.close();
    };

    it('delays no deliveries to others, and keeps no stop from its end', async () => {
        const w = await world({ config: REACHABLE, env: names.env });
        try {
            const [who, owner] = [await resident(w.client), await resident(w.client)];
            const add = async (one, url) => ok(await one.client.post('/v1/webhooks', { url }), 201);
            const send = async (one, { id }) => ok(await one.client.post(`/v1/webhooks/${id}/test`), 202).delivery_id;
            const found = async (one, { id }, delivery) => ok(await one.client.get(`/v1/webhooks/${id}/deliveries`)).data.find((row) => row.id === delivery);
            const hung = [];
            for (let i = 0; i < HUNG; i++) hung.push({ endpoint: await add(who, `https://${NAMED}:${1024 + i}/`) });
            const own = await add(owner, receiver.url());
            names.silence();
            for (const one of hung) one.delivery = await send(who, one.endpoint);
            const mine = await send(owner, own);
            await eventually(async () => (await found(owner, own, mine)).status === 'delivered', 'a delivery to another host');
            for (const { endpoint, delivery } of hung) {
                const { last_error: error } = await eventually(async () => {
                    const row = await found(who, endpoint, delivery);
                    return row.attempts && row;
                }, 'the end of an attempt');
                assert.match(error, /^(resolve|timeout)$/);
            }
            await send(who, hung[0].endpoint);
            assert.deepEqual(await w.daemon.terminate(), { code: 0, signal: null });
        } finally {
            await close(w);
        }
    });

    it('keeps no stop from its end while a mail server is looked up', async () => {
        const w = await world({ config: { mail: { provider: 'smtp', url: `smtps://${NAMED}:465`, from: 'door@door.example', user: '' } }, env: names.env });
        try {
            names.silence();
            ok(await w.client.post('/v1/auth/otp', { email: freshEmail() }));
            ok(await w.client.get('/v1/health'));
            assert.deepEqual(await w.daemon.terminate(), { code: 0, signal: null });
        } finally {
            await close(w);
        }
    });

    after(() => rmSync(directory, { recursive: true, force: true }));
});
