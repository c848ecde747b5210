// `portero listen`: the account's events at a receiver on the developer's machine, as an endpoint gets them.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import Stripe from 'stripe';
import { ok } from './lib/client.js';
import { added, addition, owner } from './lib/buildings.js';
import { Commands } from './lib/commands.js';
import { freePort } from './lib/port.js';
import { changeSettings, eventually, freshEmail, grant, provisioned, signIn, visit, world } from './lib/world.js';

const servers = new Set();

/** A receiver that keeps each request; `answer` gives the status. */
async function receiver(answer = () => 204) {
    const requests = [];
    const server = http.createServer(async (request, response) => {
        let body = '';
        for await (const part of request.setEncoding('utf8')) body += part;
        requests.push({ url: request.url, headers: request.headers, body, event: JSON.parse(body) });
        response.writeHead(answer(requests.length)).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.add(server);
    return { requests, url: `http://127.0.0.1:${server.address().port}/hook?from=portero`, close: () => { server.closeAllConnections(); server.close(); } };
}

const types = (requests) => requests.map(({ event }) => event.type);

describe('portero listen', () => {
    const commands = new Commands();
    const email = freshEmail();
    let w, person, code = 1000;

    before(async () => {
        const ports = [await freePort(), await freePort()];
        w = await world({ args: ['--https', `127.0.0.1:${ports[0]}`, '--http', `127.0.0.1:${ports[1]}`, '--sip', '127.0.0.1:0'] });
        assert.equal((await commands.login(w.client, email)).status, 0);
        const session = await signIn(w.client, email);
        person = { ...session, building: await provisioned(session) };
        await changeSettings(person, { unlock_tone: '9' });
        await grant(person, { type: 'passcode', label: 'Always', access_code: '9999' }); // so that a code is asked for
    });
    after(async () => {
        await commands.close();
        for (const server of servers) {
            server.closeAllConnections();
            server.close();
        }
        rmSync(commands.directory, { recursive: true, force: true });
        await w.close();
    });

    const call = (digits) => visit(w.client, { to: person.building.virtual_number, digits });
    /** A passcode for one use, and the call that uses it. */
    async function visitor(label) {
        const access_code = String(code++);
        await grant(person, { type: 'passcode', label, access_code, remaining_uses: 1 });
        await call(access_code);
    }
    /** Starts it, and waits until it follows the stream. */
    async function listen(receiving, ...args) {
        const run = commands.start(['listen', '--forward-to', receiving.url, ...args]);
        await eventually(() => run.stdout.includes('Forwarding to') || run.process.exitCode !== null, 'the beginning');
        run.secret = /^Secret of the signatures: (whsec_[0-9A-Za-z]{43})$/m.exec(run.stdout)?.[1];
        run.lines = () => run.stdout.split('\n').slice(2).filter(Boolean);
        return run;
    }
    /** Makes calls until one arrives, so that the stream is known to be followed; then waits until all of them have: events keep their order. */
    async function following(receiving) {
        await eventually(async () => {
            await call(undefined); // no code: wrong ones would close the keypad
            return receiving.requests.some(({ event }) => event.type === 'access.call_forwarded');
        }, 'an event');
        const label = `Mark ${code}`;
        await visitor(label);
        await eventually(() => receiving.requests.some(({ event }) => event.type === 'unlock.no_uses_remaining' && event.data.label === label), 'the last of them');
        receiving.requests.length = 0;
    }

    // CLI-8
    it('posts what an endpoint gets: the same types, data and times, in the same envelope', async () => {
        const local = await receiver();
        const run = await listen(local);
        try {
            await following(local);
            const endpoint = ok(await person.client.post('/v1/webhooks', { url: 'https://receiver.test/' }), 201);
            await visitor('Parcel');
            await call('0000');
            const expected = await eventually(async () => {
                const all = ok(await w.client.as(undefined).get('/sandbox/webhooks')).data.map((one) => ({ ...one, event: typeof one.body === 'string' ? JSON.parse(one.body) : one.body }));
                return all.some(({ event }) => event.type === 'access.call_forwarded') && all;
            }, 'the deliveries of the endpoint');
            await eventually(() => local.requests.length >= expected.length, 'the same number of events');
            assert.equal(expected.length, 4);
            const plain = ({ event: { id, ...rest } }) => JSON.stringify(rest);
            assert.deepEqual(local.requests.map(plain).sort(), expected.map(plain).sort());
            assert.ok(types(local.requests).includes('unlock.no_uses_remaining'));
            assert.deepEqual([...new Set(types(local.requests))].sort(), ['access.call_forwarded', 'access.denied', 'access.granted', 'unlock.no_uses_remaining']);
            assert.deepEqual(Object.keys(local.requests[0].event), Object.keys(expected[0].event));
            assert.equal(new Set(local.requests.map(({ event }) => event.id)).size, local.requests.length);
            for (const { event, headers, url } of local.requests) {
                assert.match(event.id, /^evt_[0-9a-f]{24}$/);
                assert.equal(url, '/hook?from=portero');
                assert.equal(headers['content-type'], 'application/json');
            }
            ok(await person.client.delete(`/v1/webhooks/${endpoint.id}`));
        } finally {
            run.process.kill();
            local.close();
        }
    });

    // CLI-8
    it('signs with the secret that it prints, as a library of others verifies', async () => {
        const local = await receiver();
        const run = await listen(local, '--test');
        try {
            await following(local);
            await visitor('Cleaner');
            await eventually(() => types(local.requests).includes('access.granted'), 'the event');
            for (const { body, headers } of local.requests) {
                const verify = (text, secret) => Stripe.webhooks.constructEvent(text, headers['service-signature'], secret);
                assert.equal(verify(body, run.secret).id, JSON.parse(body).id);
                assert.throws(() => verify(`${body} `, run.secret));
                assert.throws(() => verify(body, `${run.secret}x`));
            }
            const again = await listen(local);
            assert.equal(again.secret, run.secret, 'the secret stays the same for a login');
            again.process.kill();
            assert.doesNotMatch(run.stdout + run.stderr, /svc_agent/);
        } finally {
            run.process.kill();
            local.close();
        }
    });

    it('prints a line for each event with the status of the receiver, and goes on when that fails', async () => {
        const local = await receiver((n) => (n % 2 ? 500 : 204));
        const run = await listen(local, '--type', 'access.granted,unlock.no_uses_remaining', '--test');
        try {
            await eventually(() => run.lines().length === 1, 'the test event');
            assert.match(run.lines()[0], /^\S+Z {2}webhook\.test +evt_[0-9a-f]{24} {2}500$/);
            await eventually(async () => {
                await visitor('Guest');
                return local.requests.length >= 3;
            }, 'two events');
            assert.deepEqual([...new Set(types(local.requests))].sort(), ['access.granted', 'unlock.no_uses_remaining', 'webhook.test']);
            await eventually(() => run.lines().length >= 3, 'their lines');
            assert.ok(run.lines().some((line) => line.endsWith('  204')));
            local.close();
            await visitor('Nobody');
            await eventually(() => /no answer: /.test(run.stdout), 'the line of a receiver that is gone');
            assert.equal(run.process.exitCode, null);
        } finally {
            run.process.kill();
            local.close();
        }
    });

    it('sends past events first, the last of them or those since a time, as they were', async () => {
        const live = await receiver();
        const run = await listen(live);
        try {
            await following(live);
            const since = ok(await w.client.as(undefined).get('/sandbox/clock')).now;
            await visitor('One');
            await call('0000');
            await eventually(() => types(live.requests).includes('access.call_forwarded'), 'the events');
            const bodies = ({ requests }) => requests.map(({ body }) => body);
            const released = live.requests.filter(({ event }) => event.data.unlock_id).map(({ body }) => body);
            assert.deepEqual(types(live.requests), ['access.granted', 'unlock.no_uses_remaining', 'access.denied', 'access.call_forwarded']);
            for (const [args, expected] of [
                [['--replay', since], bodies(live)],
                [['--replay', '4'], bodies(live)],
                [['--replay', '2', '--type', 'access.granted,unlock.no_uses_remaining'], released],
                [['--replay', '1', '--type', 'access.denied'], [live.requests[2].body]],
            ]) {
                const local = await receiver();
                const again = await listen(local, ...args);
                await eventually(() => local.requests.length >= expected.length, `past events of ${args.join(' ')}`);
                assert.deepEqual(bodies(local), expected);
                again.process.kill();
                local.close();
            }
            const all = await receiver();
            const hour = await listen(all, '--replay', '1h');
            await eventually(() => bodies(all).at(-1) === bodies(live).at(-1), 'the events of an hour');
            assert.deepEqual(bodies(all).slice(-4), bodies(live));
            await visitor('Later');
            await eventually(() => all.requests.at(-1).event.data.label === 'Later', 'an event after the past ones');
            hour.process.kill();
            all.close();
        } finally {
            run.process.kill();
            live.close();
        }
    });

    // CLI-8
    it('loses no event while the service is away, and sends none twice', async () => {
        const local = await receiver();
        const run = await listen(local, '--type', 'access.granted');
        try {
            await eventually(async () => { await visitor('First'); return local.requests.length > 0; }, 'an event');
            await eventually(() => run.lines().length === local.requests.length, 'its line');
            assert.equal((await w.daemon.terminate()).code, 0);
            await w.daemon.start();
            for (let i = 0; i < 8; i++) await visitor(`After ${i}`);
            await eventually(() => local.requests.some(({ event }) => event.data.label === 'After 7'), 'the events after the restart');
            await visitor('Last');
            await eventually(() => local.requests.at(-1).event.data.label === 'Last', 'the last event');
            const labels = local.requests.map(({ event }) => event.data.label).filter((label) => label !== 'First');
            assert.equal(new Set(local.requests.map(({ event }) => event.id)).size, local.requests.length, 'no event comes twice');
            assert.deepEqual(labels, [...Array.from({ length: 8 }, (_, i) => `After ${i}`), 'Last']);
        } finally {
            run.process.kill();
            local.close();
        }
    });

    it('follows all buildings of the account at once, with one order of their past events', async () => {
        const two = new Commands();
        const local = await receiver();
        try {
            const who = await owner(w.client);
            const cabin = await added(who);
            assert.equal((await two.login(w.client, who.email)).status, 0);
            const visits = [cabin.virtual_number, who.number, cabin.virtual_number];
            for (const to of visits) await visit(w.client, { to });
            const run = two.start(['listen', '--forward-to', local.url, '--replay', '10']);
            const labels = () => local.requests.map(({ event }) => event.data.building_label);
            await eventually(() => labels().length >= 3 || run.process.exitCode !== null, 'the past events');
            assert.deepEqual(labels(), ['Cabin', 'Home', 'Cabin'], run.stderr);
            for (const to of visits) await visit(w.client, { to });
            await eventually(() => labels().length >= 6, 'the later events');
            assert.deepEqual(labels().slice(3).sort(), ['Cabin', 'Cabin', 'Home']);
            const several = await two.run(['settings', 'show']);
            assert.equal(several.status, 2);
            assert.match(several.stderr, /several buildings; name one:\nportero: +[0-9a-f]{24} +\w+\nportero: +[0-9a-f]{24} +\w+\n$/);
            assert.equal((await two.run(['settings', 'show', cabin.id])).status, 0);
            assert.equal((await two.run(['log', 'list'])).status, 1);
            assert.match((await two.run(['log', 'list', '--building', cabin.id])).stdout, /Forwarded/);
        } finally {
            await two.close();
            rmSync(two.directory, { recursive: true, force: true });
            local.close();
        }
    });

    it('follows the twenty buildings that an account can have', async () => {
        const many = new Commands();
        const local = await receiver();
        try {
            const who = await owner(w.client);
            const numbers = [who.number];
            for (let i = 2; i <= 20; i++) numbers.push((await added(who, addition({ label: `House ${i}` }))).virtual_number);
            assert.equal((await many.login(w.client, who.email)).status, 0);
            const visits = () => Promise.all(numbers.map((to) => visit(w.client, { to })));
            await visits();
            const run = many.start(['listen', '--forward-to', local.url, '--replay', '20']);
            const labels = (from) => new Set(local.requests.slice(from).map(({ event }) => event.data.building_label)).size;
            await eventually(() => labels(0) === 20 || run.process.exitCode !== null, 'a past event of each');
            assert.equal(labels(0), 20, run.stderr);
            await visits();
            await eventually(() => labels(20) === 20, 'a later event of each');
        } finally {
            await many.close();
            rmSync(many.directory, { recursive: true, force: true });
            local.close();
        }
    });

    it('refuses options that it does not understand, and a key that may not listen', async () => {
        for (const args of [['--forward-to', 'ftp://localhost'], ['--forward-to', 'localhost:3000'], ['--forward-to', 'http://localhost', '--type', 'door.opened'],
            ['--forward-to', 'http://localhost', '--replay', '0'], ['--forward-to', 'http://localhost', '--replay', '201'], ['--forward-to', 'http://localhost', '--replay', 'soon'], []]) {
            assert.equal((await commands.run(['listen', ...args])).status, 2, args.join(' '));
        }
        assert.equal((await commands.run(['listen', '--forward-to', 'http://localhost', '--building', 'f0f0f0f0f0f0f0f0f0f0f0f0'])).status, 2);
        const narrow = new Commands();
        try {
            assert.equal((await narrow.login(w.client, email, ['--scopes', 'account:read'])).status, 0);
            const done = await narrow.run(['listen', '--forward-to', 'http://localhost']);
            assert.equal(done.status, 1);
            assert.match(done.stderr, /\(INSUFFICIENT_SCOPE\)/);
        } finally {
            rmSync(narrow.directory, { recursive: true, force: true });
        }
    });
});
