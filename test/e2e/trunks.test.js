// Trunks: a real SIP proxy and registrar as the provider.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import dgram from 'node:dgram';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { ok } from './lib/client.js';
import { Daemon, portero } from './lib/daemon.js';
import { Baresip, buzz, QUICK, sipp, sippResident } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { NameServer, Provider } from './lib/provider.js';
import { authority } from './lib/relay.js';
import { eventually, grant, resident, world } from './lib/world.js';

const trunks = (daemon) => {
    const done = portero(['admin', 'trunk', 'list', '--json', '--data', daemon.data, '--config', daemon.configPath]);
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout).data;
};
const trunk = (daemon, name) => trunks(daemon).find((row) => row.name === name);
const becomes = (daemon, name, state) => eventually(async () => trunk(daemon, name)?.state === state, `${name} ${state}`);
const withPeers = (peers, more = {}) => ({
    ...QUICK,
    ...more,
    voice: { ...QUICK.voice, ...more.voice, ...Object.fromEntries(Object.entries(peers).map(([name, peer]) => [`peer ${name}`, peer])) },
});
const login = (provider, more) => ({ server: provider.address, user: provider.user, password: provider.password, register: true, ...more });

describe('a trunk that registers', () => {
    let provider;
    let w;
    before(async () => {
        provider = await Provider.start({ edge: 'edge.example' });
        w = await world({
            config: withPeers({
                provider: login(provider, { caller_in: 'p_asserted_identity' }),
                stranger: login(provider, { password: 'wr0ng-password' }),
            }),
        });
    });
    after(async () => {
        await w?.close();
        await provider?.kill();
    });

    it('gives its password to the realms of proxy and registrar', async () => {
        await becomes(w.daemon, 'provider', 'registered');
        const row = trunk(w.daemon, 'provider');
        assert.deepEqual({ ...row, since: '' },
            { name: 'provider', server: provider.address, transport: 'udp', state: 'registered', since: '', calls_in: 0, calls_out: 0, last_error: null });
        assert.ok(await w.daemon.logged(/sip trunk name=provider state=registered before=trying/));
    });

    it('is down with a wrong password, which no log shows', async () => {
        await becomes(w.daemon, 'stranger', 'down');
        assert.match(trunk(w.daemon, 'stranger').last_error, /^registration refused: 40[17] /);
        assert.doesNotMatch(w.daemon.stderr, /s3cret|wr0ng/);
    });

    // PHONE-29
    it('is called at the number in To, with the caller whom the provider asserts', async () => {
        await becomes(w.daemon, 'provider', 'registered');
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        await sipp({ sip: provider.address }, 'outside', person.number, { keys: { digits: '1234' } });
        await eventually(async () => ok(await person.client.get('/v1/logs?limit=10')).data.some((entry) => entry.type === 'unlock' && entry.succeeded), 'the log entry');
    });
});

describe('a trunk that requires encrypted audio', () => {
    it('is offered it when it leaves the offer to the service', async () => {
        const port = await freePort();
        const w = await world({ config: withPeers({ provider: { server: `127.0.0.1:${port}`, probe_s: 0, srtp: 'required' } }) });
        try {
            const person = await resident(w.client, { tone: '9' });
            await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
            await sipp(w.daemon, 'late-srtp', person.number);
            await eventually(async () => ok(await person.client.get('/v1/logs?limit=10')).data.some((entry) => entry.type === 'unlock' && entry.succeeded), 'the log entry');
        } finally {
            await w.close();
        }
    });
});

describe('a service that stops', () => {
    // SERVICE-20
    it('ends its registration, so that the provider knows nobody to call', async () => {
        const provider = await Provider.start({ edge: 'edge.example' });
        const socket = dgram.createSocket('udp4');
        try {
            const daemon = await Daemon.start({ config: withPeers({ provider: login(provider) }) });
            await becomes(daemon, 'provider', 'registered');
            await daemon.stop();
            socket.bind(0, '127.0.0.1');
            await once(socket, 'listening');
            const { port } = socket.address();
            socket.send(`INVITE sip:+15550100001@pbx.example SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bKoutside;rport\r\n`
                + 'From: <sip:a@b>;tag=1\r\nTo: <sip:+15550100001@pbx.example>\r\nCall-ID: outside\r\nCSeq: 1 INVITE\r\nMax-Forwards: 9\r\n'
                + `X-From-Outside: yes\r\nContact: <sip:a@127.0.0.1:${port}>\r\nContent-Length: 0\r\n\r\n`, provider.port, '127.0.0.1');
            const [answer] = await once(socket, 'message');
            assert.match(String(answer), /^SIP\/2\.0 404 /);
        } finally {
            socket.close();
            await provider.kill();
        }
    });
});

describe('a trunk whose server dies', () => {
    // PHONE-25
    it('is down until the server answers again', async () => {
        let provider = await Provider.start();
        const daemon = await Daemon.start({ config: withPeers({ provider: { server: provider.address, probe_s: 1 } }) });
        try {
            await becomes(daemon, 'provider', 'up');
            await provider.kill();
            await becomes(daemon, 'provider', 'down');
            assert.match(trunk(daemon, 'provider').last_error, /does not answer|refused/);
            provider = await Provider.start({ port: provider.port });
            await becomes(daemon, 'provider', 'up');
            await eventually(async () => [...daemon.stderr.matchAll(/sip trunk name=provider/g)].length === 3, 'a line for each change');
        } finally {
            await daemon.stop();
            await provider.kill();
        }
    });
});

describe('the name of a server', () => {
    let provider;
    let names;
    let daemon;
    before(async () => {
        provider = await Provider.start();
        const dead = await freePort();
        names = await NameServer.start(
            '--host-record=one.example,127.0.0.1', '--host-record=dead.example,127.0.0.1',
            `--srv-host=_sip._udp.pbx.example,dead.example,${dead},1`, `--srv-host=_sip._udp.pbx.example,one.example,${provider.port},2`,
            '--naptr-record=chosen.example,20,10,s,SIP+D2U,,_sip._udp.pbx.example', '--naptr-record=chosen.example,10,10,s,SIP+D2T,,_sip._tcp.chosen.example',
            `--srv-host=_sip._tcp.chosen.example,one.example,${provider.port}`,
        );
        daemon = await Daemon.start({
            config: withPeers({
                services: { server: 'pbx.example' },
                chosen: { server: 'chosen.example' },
                address: { server: `one.example:${provider.port}`, transport: 'tcp' },
                missing: { server: 'missing.example' },
            }, { voice: { nameserver: names.address } }),
        });
    });
    after(async () => {
        await daemon?.stop();
        await names?.kill();
        await provider?.kill();
    });

    it('leads to its services in their order, past one that is dead', async () => {
        await becomes(daemon, 'services', 'up');
        assert.equal(trunk(daemon, 'services').transport, 'udp');
    });

    it('leads to the transport that its NAPTR records prefer', async () => {
        await becomes(daemon, 'chosen', 'up');
        assert.equal(trunk(daemon, 'chosen').transport, 'tcp');
    });

    it('leads to its address if it has a port', () => becomes(daemon, 'address', 'up'));

    it('that does not exist is the reason why the trunk is down', async () => {
        await becomes(daemon, 'missing', 'down');
        assert.equal(trunk(daemon, 'missing').last_error, 'the name has no address');
    });
});

describe('a trunk over TLS', () => {
    let directory;
    let provider;
    let names;
    let w;
    before(async () => {
        directory = mkdtempSync(join(tmpdir(), 'portero-trunk-'));
        const { ca, issue } = authority(directory);
        issue('pbx.example', 'DNS:pbx.example,IP:127.0.0.1');
        provider = await Provider.start({ tls: { key: join(directory, 'pbx.example.key'), certificate: join(directory, 'pbx.example.pem') } });
        names = await NameServer.start('--host-record=pbx.example,127.0.0.1', '--host-record=other.example,127.0.0.1');
        const secure = (host, port, more) => login(provider, { server: `${host}:${provider.tlsPorts[port]}`, transport: 'tls', tls_ca: ca, ...more });
        w = await world({
            config: withPeers({
                right: secure('pbx.example', 0),
                other_name: secure('other.example', 1),
                no_authority: secure('pbx.example', 2, { tls_ca: '' }),
                same_address: secure('other.example', 0),
            }, { voice: { nameserver: names.address } }),
        });
    });
    after(async () => {
        await w?.close();
        await names?.kill();
        await provider?.kill();
        rmSync(directory, { recursive: true, force: true });
    });

    // PHONE-28
    it('registers if the certificate is for the name and its authority is trusted', async () => {
        await becomes(w.daemon, 'right', 'registered');
        assert.equal(trunk(w.daemon, 'right').transport, 'tls');
    });

    // PHONE-28
    it('refuses a certificate for another name', async () => {
        await becomes(w.daemon, 'other_name', 'down');
        assert.match(trunk(w.daemon, 'other_name').last_error, /^certificate refused: .*hostname mismatch/i);
    });

    // PHONE-28
    it('refuses a certificate of an unknown authority', async () => {
        await becomes(w.daemon, 'no_authority', 'down');
        assert.match(trunk(w.daemon, 'no_authority').last_error, /^certificate refused: /);
    });

    it('does not use the connection of a trunk with another name', async () => {
        await becomes(w.daemon, 'same_address', 'down');
        assert.match(trunk(w.daemon, 'same_address').last_error, /^its address is that of a trunk with another name/);
    });

    it('is called over its connection', async () => {
        await becomes(w.daemon, 'right', 'registered');
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        await sipp({ sip: provider.address }, 'outside', person.number, { keys: { digits: '1234' } });
        assert.ok(await w.daemon.logged(/info call source=tls:127\.0\.0\.1:/));
    });
});

describe('a forwarded call', () => {
    let phones;
    let first;
    let second;
    let w;
    before(async () => {
        phones = await freePort();
        const options = { phones: `sip:127.0.0.1:${phones}` };
        first = await Provider.start(options);
        second = await Provider.start(options);
        const identity = { domain: 'pbx.example', caller_id: 'both', diversion: 'diversion', register: false };
        w = await world({
            config: withPeers({
                first: login(first, { ...identity, number_out: 'international', international_prefix: '011' }),
                second: login(second, { ...identity, transport: 'tcp', probe_s: 0 }),
            }),
        });
        await becomes(w.daemon, 'first', 'up');
        await becomes(w.daemon, 'second', 'up');
    });
    after(async () => {
        await w?.close();
        await first?.kill();
        await second?.kill();
    });

    const forwarded = async () => {
        const person = await resident(w.client, { tone: '#5' });
        const path = `/v1/buildings/${person.building.id}/settings`;
        const { headers: { etag } } = await person.client.get(path);
        ok(await person.client.patch(path, { ring: { numbers: ['+15557654399'], accept: false } }, { headers: { 'If-Match': etag } }));
        const [messages, visitor] = await Promise.all([sippResident(phones), buzz(w.daemon, person.number)]);
        assert.equal(visitor.tones, '#5', visitor.stdout + visitor.stderr);
        return { person, messages };
    };

    it('goes over the first trunk with the password, and in the form that it wants', async () => {
        const { person, messages } = await forwarded();
        assert.match(messages, /^INVITE sip:01115557654399@pbx\.example SIP/m);
        assert.match(messages, new RegExp(`^P-Asserted-Identity: <sip:011${person.number.slice(1)}@pbx\\.example>`, 'm'));
        assert.match(messages, new RegExp(`^Diversion: <sip:011${person.number.slice(1)}@pbx\\.example>;reason=`, 'm'));
    });

    it('goes over the second trunk when the first has died', async () => {
        await first.kill();
        const { messages } = await forwarded();
        assert.match(messages, /^INVITE sip:\+15557654399@pbx\.example SIP/m);
        await becomes(w.daemon, 'first', 'down');
    });
});

describe('calls over TLS', () => {
    let directory;
    let port;
    let w;
    const issue = (name) => {
        authority(directory).issue(name, `DNS:${name}`);
        for (const kind of ['key', 'pem']) copyFileSync(join(directory, `${name}.${kind}`), join(directory, `sip.${kind}`));
    };
    before(async () => {
        directory = mkdtempSync(join(tmpdir(), 'portero-sips-'));
        port = await freePort();
        issue('first.example');
        w = await world({
            config: {
                ...QUICK,
                listen: { sips: `127.0.0.1:${port}` },
                tls: { sip_certificate: join(directory, 'sip.pem'), sip_key: join(directory, 'sip.key') },
            },
        });
    });
    after(async () => {
        await w?.close();
        rmSync(directory, { recursive: true, force: true });
    });

    const shown = async () => {
        const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
        try {
            await once(socket, 'secureConnect');
            return socket.getPeerCertificate().subject.CN;
        } finally {
            socket.destroy();
        }
    };

    it('come from a telephone', async () => {
        const phone = await Baresip.start();
        try {
            const person = await resident(w.client, { tone: '9#' });
            await grant(person, { type: 'timer', expires_in_minutes: 5 });
            const from = phone.events.length;
            phone.command('dial', `sip:${person.number}@127.0.0.1:${port};transport=tls`);
            await phone.event('CALL_CLOSED', from);
            assert.equal(phone.tones(from), '9#');
            assert.ok(await w.daemon.logged(/info call source=tls:127\.0\.0\.1:/));
        } finally {
            await phone.stop();
        }
    });

    // PHONE-10
    it('wait for a descriptor, which the log tells, and the connections that are there go on', async () => {
        const ask = async (socket) => {
            const id = randomUUID();
            socket.write(`OPTIONS sip:door@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bK${id};rport\r\nFrom: <sip:box@127.0.0.1>;tag=1\r\n`
                + `To: <sip:door@127.0.0.1>\r\nCall-ID: ${id}\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n`);
            assert.match(String((await once(socket, 'data'))[0]), /^SIP\/2\.0 200 /);
        };
        const connect = () => tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
        const early = connect();
        await ask(early);
        const give = w.daemon.takeDescriptors();
        const late = connect();
        assert.ok(await w.daemon.logged(/ warn sip connections refused limit=descriptors count=\d+\n/));
        await ask(early);
        give();
        await ask(late);
        early.destroy();
        late.destroy();
    });

    it('see the renewed certificate after SIGHUP, and the old one while the new one cannot be used', async () => {
        assert.equal(await shown(), 'first.example');
        issue('second.example');
        w.daemon.process.kill('SIGHUP');
        await eventually(async () => await shown() === 'second.example', 'the new certificate');
        copyFileSync(join(directory, 'first.example.key'), join(directory, 'sip.key'));
        w.daemon.process.kill('SIGHUP');
        assert.ok(await w.daemon.logged(/reload sip_certificates=kept/));
        assert.equal(await shown(), 'second.example');
    });
});
