// listen.metrics: the metrics page, readiness, and `porterod health`.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { Daemon, engine, portero } from './lib/daemon.js';
import { METRICS, page, promtool, raised, ready, samples } from './lib/metrics.js';
import { buzz, QUICK } from './lib/phone.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { sql } from './lib/store.js';
import { Twiml } from './lib/twiml.js';
import { advance, eventually, grant, resident, signIn, useWorld, visit } from './lib/world.js';

const DATAGRAMS = 5000; // more than the kernel keeps for a socket

describe('the metrics page', () => {
    const w = useWorld({ config: METRICS });

    it('is what Prometheus reads', async () => {
        ok(await w.client.get('/v1/health'));
        const done = promtool(['check', 'metrics'], await page(w.daemon));
        assert.equal(done.stderr, '');
    });

    it('says what is running, and since when', async () => {
        const found = samples(await page(w.daemon));
        const build = Object.keys(found).find((name) => name.startsWith('portero_build_info'));
        assert.match(build, /\{version="\d+\.\d+\.\d+",engine="(sqlite|postgresql)",mode="sandbox"\}$/);
        assert.ok(Math.abs(found.portero_start_time_seconds - Date.now() / 1000) < 600);
    });

    // SERVICE-23
    it('has no other paths and takes no other methods', async () => {
        const at = `http://${w.daemon.metrics}`;
        assert.equal((await fetch(`${at}/v1/health`)).status, 404);
        assert.equal((await fetch(`${at}/`)).status, 404);
        const put = await fetch(`${at}/metrics`, { method: 'POST' });
        assert.equal(put.status, 405);
        assert.equal(put.headers.get('allow'), 'GET, HEAD');
        assert.equal((await fetch(`${at}/metrics`, { method: 'POST', body: 'x'.repeat(200_000) })).status, 413);
        assert.equal((await fetch(`${w.daemon.http}/metrics`)).status, 426);
    });

    it('stays in reach while others hold all of its connections', async () => {
        const [host, port] = w.daemon.metrics.split(':');
        const held = Array.from({ length: 40 }, () => connect(Number(port), host).on('error', () => {}));
        try {
            await Promise.all(held.map((socket) => once(socket, 'connect')));
            const again = () => eventually(() => page(w.daemon).catch(() => null), 'an answer'); // an idle connection made room
            assert.match(await again(), /portero_build_info/);
            assert.equal((await ready(w.daemon)).ready, true);
        } finally {
            for (const socket of held) socket.destroy();
        }
    });
});

describe('the metrics of calls', () => {
    const twilio = new Twiml();
    const w = useWorld({ config: { ...twilio.config, ...METRICS, ...QUICK } });
    after(() => twilio.close());

    const fronts = {
        SIP: (to, digits) => buzz(w.daemon, to, ...(digits ? ['--digits', digits] : [])),
        Twilio: (to, digits) => twilio.call({ to, from: '+15550001111', digits }),
        'the sandbox': (to, digits) => visit(w.client, { to, from: '+15550001111', digits }),
    };
    const calls = [ // and their decisions: the arrival, and a code or the forwarding
        [{ type: 'timer', expires_in_minutes: 60 }, undefined, 1],
        [{ type: 'passcode', access_code: '1234' }, '1234', 2],
        [null, undefined, 2],
    ];
    const total = (found, name) => Object.entries(found).reduce((sum, [one, n]) => (one.split('{')[0] === name ? sum + n : sum), 0);

    for (const [front, call] of Object.entries(fronts)) {
        it(`count a call through ${front}, and time each of its decisions`, async () => {
            twilio.daemon = w.daemon;
            for (const [body, digits, decisions] of calls) {
                const person = await resident(w.client, { tone: '9' });
                if (body) await grant(person, body);
                const before = await page(w.daemon);
                await call(person.number, digits);
                const found = () => page(w.daemon).then((text) => raised(before, text));
                await eventually(async () => total(await found(), 'portero_calls_total') === 1, 'the end of the call');
                assert.equal((await found()).portero_call_decision_seconds_count, decisions);
            }
        });
    }
});

describe('the metrics', () => {
    const w = useWorld({ config: { ...METRICS, ...QUICK, ...REACHABLE } });
    const receiver = useReceiver();

    /** The samples of one metric, or several, that differ: {'labels': by how much}. */
    const differ = (before, text, ...names) => Object.fromEntries(Object.entries(raised(before, text)).filter(([name]) => names.some((one) => name.split('{')[0] === one)));
    const calls = ['portero_calls_total', 'portero_call_reasons_total', 'portero_calls_active'];

    it('show a call that opened the door, once it has ended, and nothing else of calls', async () => {
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        const before = await page(w.daemon);
        assert.equal((await buzz(w.daemon, person.number, '--digits', '1234')).tones, '9');
        await w.daemon.logged(/ended=released/);
        const text = await page(w.daemon);
        assert.deepEqual(differ(before, text, ...calls), { 'portero_calls_total{outcome="released"}': 1, 'portero_call_reasons_total{reason="passcode"}': 1 });
        const found = raised(before, text);
        assert.equal(found.portero_call_tone_seconds_count, 1);
        assert.equal(found.portero_call_decision_seconds_count, 2); // the arrival and the code
        assert.equal(found['portero_sip_responses_total{method="INVITE",class="2xx"}'], 1);
    });

    it('show a call to an unknown number as rejected', async () => {
        const before = await page(w.daemon);
        await buzz(w.daemon, '+15550198766');
        await w.daemon.logged(/ended=rejected/);
        const text = await page(w.daemon);
        assert.deepEqual(differ(before, text, ...calls), { 'portero_calls_total{outcome="rejected"}': 1, 'portero_call_reasons_total{reason="unknown_number"}': 1 });
        assert.equal(raised(before, text)['portero_sip_responses_total{method="INVITE",class="4xx"}'], 1);
    });

    it('show datagrams of SIP that the service was too slow to read', async () => {
        const before = await page(w.daemon);
        const socket = dgram.createSocket('udp4');
        w.daemon.freeze();
        for (let i = 0; i < DATAGRAMS; i++) await new Promise((sent) => { socket.send(Buffer.alloc(1000, 'x'), w.daemon.sipPort, '127.0.0.1', sent); });
        w.daemon.thaw();
        socket.close();
        await eventually(async () => raised(before, await page(w.daemon)).portero_sip_datagrams_dropped_total > 0, 'the count');
    });

    it('show requests by operation and class of status', async () => {
        const { client } = await signIn(w.client);
        const before = await page(w.daemon);
        ok(await client.get('/v1/account'));
        await client.get('/v1/unlock/no-id');
        await client.get('/v1/nowhere');
        const found = raised(before, await page(w.daemon));
        assert.equal(found['portero_http_requests_total{operation="getAccount",class="2xx"}'], 1);
        assert.equal(found['portero_http_requests_total{operation="getUnlock",class="4xx"}'], 1);
        assert.equal(found['portero_http_requests_total{operation="none",class="4xx"}'], 1);
        assert.equal(found['portero_http_request_seconds_count{run="read"}'], 2);
    });

    it('show commits, and the time of transactions', async () => {
        const before = await page(w.daemon);
        await signIn(w.client);
        const found = raised(before, await page(w.daemon));
        assert.ok(found.portero_store_commits_total > 0);
        assert.ok(found['portero_store_task_seconds_count{mode="write"}'] > 0);
    });

    it('show deliveries, how many wait, and how late the oldest is', async () => {
        const { client } = await signIn(w.client);
        const { id } = ok(await client.post('/v1/webhooks', { url: receiver.url() }), 201);
        const before = await page(w.daemon);
        ok(await client.post(`/v1/webhooks/${id}/test`, {}), 202);
        await eventually(async () => raised(before, await page(w.daemon))['portero_deliveries_total{result="delivered"}'] === 1, 'the delivery');
        receiver.answer = (request, response) => response.writeHead(500).end();
        ok(await client.post(`/v1/webhooks/${id}/test`, {}), 202);
        await eventually(async () => raised(before, await page(w.daemon))['portero_deliveries_total{result="failed"}'] === 1, 'the failure');
        await eventually(async () => samples(await page(w.daemon)).portero_deliveries_pending === 1, 'the pending delivery');
        receiver.answer = (request, response) => response.writeHead(200).end();
        assert.equal(raised(before, await page(w.daemon)).portero_deliveries_given_up_total, undefined);
        await advance(w.client, 3600);
        await eventually(async () => samples(await page(w.daemon)).portero_deliveries_pending === 0, 'the end of the pending delivery');
    });

    it('show mails and text messages, by what became of them', async () => {
        const before = await page(w.daemon);
        const { client } = await resident(w.client);
        ok(await client.post('/v1/account/phone/verification', { phone_number: '+15550001234' }));
        const found = async () => raised(before, await page(w.daemon));
        for (const channel of ['mail', 'sms']) {
            await eventually(async () => (await found())[`portero_messages_total{channel="${channel}",outcome="done"}`] === 1, channel);
        }
    });

    it('show what the store, the process and the certificate are', async () => {
        await eventually(async () => samples(await page(w.daemon)).portero_collected_timestamp_seconds > 0, 'the first collection');
        const found = samples(await page(w.daemon));
        assert.equal(found.portero_ready, 1);
        assert.equal(found.portero_nodes, 1);
        assert.ok(found.portero_certificate_expiry_timestamp_seconds > Date.now() / 1000);
        assert.equal('portero_sip_certificate_expiry_timestamp_seconds' in found, false); // no SIP over TLS
        assert.ok(found.process_resident_memory_bytes > 1 << 20);
        assert.ok(found.process_open_fds > 10 && found.process_open_fds < found.process_max_fds);
        assert.equal(found['portero_store_bytes{file="database"}'] > 0, engine === 'sqlite');
        assert.equal('portero_clock_ahead_seconds' in found, engine === 'postgresql');
        assert.equal(found.portero_store_connections, engine === 'postgresql' ? 8 : undefined); // store.workers
        assert.equal(found['portero_leases_freed_total{kind="job"}'], engine === 'postgresql' ? 0 : undefined);
    });

    // SERVICE-23
    it('are as many, however many accounts there are, and name none of them', async () => {
        const use = async () => {
            const person = await signIn(w.client);
            ok(await person.client.get('/v1/account'));
            return person;
        };
        await use();
        const before = Object.keys(samples(await page(w.daemon)));
        for (let i = 0; i < 30; i++) await use();
        const text = await page(w.daemon);
        assert.deepEqual(Object.keys(samples(text)), before);
        assert.ok(before.length <= 400, `${before.length} series`);
        assert.ok(text.length <= 30_000, `${text.length} bytes`);
        assert.doesNotMatch(text, /@|\+1555|127\.0\.0\.1|[0-9a-f]{24}/);
        promtool(['check', 'metrics'], text);
    });
});

describe('readiness', () => {
    const w = useWorld({ config: { ...METRICS, http: { drain_s: 3 } } });
    const health = (daemon = w.daemon) => portero(['health', '--data', daemon.data]);
    const reasons = async () => (await ready(w.daemon)).reasons;
    const isReady = () => eventually(async () => (await ready(w.daemon)).ready, 'readiness');

    it('is given to balancers and to `porterod health`', async () => {
        assert.deepEqual(await ready(w.daemon), { ready: true, reasons: [] });
        const done = health();
        assert.deepEqual([done.status, done.stdout, done.stderr], [0, 'ready\n', '']);
        const configured = portero(['health', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(configured.stdout, 'ready\n');
    });

    it('is denied by `porterod health` while the service is frozen', () => {
        w.daemon.freeze();
        try {
            const done = health();
            assert.deepEqual([done.status, done.stdout], [1, '']);
            assert.match(done.stderr, /time/i);
        } finally {
            w.daemon.thaw();
        }
    });

    it('ends while the store has a schema for later programs', async () => {
        sql(w.daemon, 'INSERT INTO schema_version (version, oldest) VALUES (9999, 9999)');
        await eventually(async () => (await reasons())[0] === 'the schema does not fit this program', 'the reason');
        const done = health();
        assert.deepEqual([done.status, done.stdout], [1, 'not ready: the schema does not fit this program\n']);
        sql(w.daemon, 'UPDATE schema_version SET oldest = 1 WHERE version = 9999'); // admits this program
        await isReady();
        sql(w.daemon, 'DELETE FROM schema_version WHERE version = 9999');
    });

    it('ends while the secrets are sealed with another master key', async () => {
        const [[, value]] = [sql(w.daemon, "SELECT value FROM setting WHERE name = 'master_key'").match(/(.*)\n/)];
        sql(w.daemon, "UPDATE setting SET value = 'another' WHERE name = 'master_key'");
        await eventually(async () => (await reasons())[0] === "the master key is not the store's", 'the reason');
        assert.equal(health().status, 1);
        sql(w.daemon, `UPDATE setting SET value = '${value}' WHERE name = 'master_key'`);
        await isReady();
    });

    it('is shown by `porterod admin status`, with versions, queues and the certificate', async () => {
        const ask = (...more) => portero(['admin', 'status', ...more, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        const text = ask();
        assert.equal(text.status, 0, text.stderr);
        assert.match(text.stdout, /^ready +yes$/m);
        const shown = JSON.parse(ask('--json').stdout);
        assert.deepEqual([shown.ready, shown.store, shown.nodes, shown.calls, shown.operations_waiting], [true, engine, 1, 0, 0]);
        assert.ok(shown.schema_version > 20);
        assert.ok(Date.parse(shown.certificate_ends_at) > Date.now());
        assert.equal(shown.last_backup_at, null);
        if (engine !== 'sqlite') return;
        assert.equal(portero(['backup', join(w.daemon.directory, 'copy.db'), '--config', w.daemon.configPath, '--data', w.daemon.data]).status, 0);
        assert.ok(Math.abs(Date.parse(JSON.parse(ask('--json').stdout).last_backup_at) - Date.now()) < 600_000);
        await eventually(async () => samples(await page(w.daemon)).portero_store_last_backup_timestamp_seconds > 0, 'the time of the backup');
    });

    // SERVICE-21
    it('does not change what /v1/health says', async () => {
        sql(w.daemon, 'INSERT INTO schema_version (version, oldest) VALUES (9999, 9999)');
        await eventually(async () => !(await ready(w.daemon)).ready, 'the end of readiness');
        ok(await w.client.get('/v1/health'));
        sql(w.daemon, 'DELETE FROM schema_version WHERE version = 9999');
        await isReady();
    });

    it('ends at SIGTERM, before connections are closed', async () => {
        const daemon = await Daemon.start({ config: { ...METRICS, http: { drain_s: 5 } } });
        const [host, port] = new URL(daemon.http).host.split(':');
        const idle = connect(Number(port), host);
        await once(idle, 'connect');
        daemon.process.kill('SIGTERM');
        await eventually(async () => (await ready(daemon)).reasons[0] === 'stopping', 'the reason');
        idle.destroy();
        assert.equal((await daemon.exited()).code, 0);
        await daemon.stop();
    });

    it('is denied by `porterod health` when no service is running', () => {
        const done = portero(['health', '--data', join(w.daemon.directory, 'nothing')]);
        assert.deepEqual([done.status, done.stdout], [1, '']);
        assert.match(done.stderr, /^portero: the service is not running: /);
    });
});
