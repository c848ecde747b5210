// E-mail through a relay: its content, its transport, and its retries.
// engine: sqlite, because it tests SMTP
import { describe, it, before, after, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import net from 'node:net';
import { ok } from './lib/client.js';
import { temporaryDirectory } from './lib/daemon.js';
import { authority, Relay } from './lib/relay.js';
import { endLeases } from './lib/store.js';
import { advance, agent, changeSettings, DAY, eventually, freshEmail, HOUR, setSubscription, useWorld, world } from './lib/world.js';

const FROM = 'Türhüter "Portero" <portero@door.example>';
const mailTo = (relay, email) => relay.mails.filter(({ to }) => to.includes(email));

describe('mail', () => {
    let directory;
    let ca;
    let issue;
    before(() => {
        directory = temporaryDirectory();
        ({ ca, issue } = authority(directory));
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    const smtp = (relay, options) => ({ provider: 'smtp', url: `smtp://127.0.0.1:${relay.port}`, from: FROM, ...options });

    /** Asks for a code: the challenge. */
    async function asked(client, email) {
        return ok(await client.post('/v1/auth/otp', { email })).challenge;
    }

    describe('to a relay on this machine', () => {
        let relay;
        before(async () => { relay = await Relay.start(); });
        const w = useWorld(() => ({ config: { mail: smtp(relay) } }));
        const { client } = w;
        after(() => relay?.close());
        beforeEach(() => { relay.steps.length = 0; });

        const arrived = (email) => eventually(() => mailTo(relay, email)[0], `a mail to ${email}`);

        it('has the code in its subject, its text and its HTML, and signs in with it', async () => {
            const email = freshEmail();
            const challenge = await asked(client, email);
            const { mail } = await arrived(email);
            const [, otp] = /^(\d{6}) is your Portero sign-in code$/.exec(mail.subject);
            assert.ok(mail.text.includes(otp) && mail.text.includes('15 minutes') && mail.text.includes(email), mail.text);
            assert.ok(mail.html.includes(otp) && mail.html.includes('15 minutes') && mail.html.includes(email), mail.html);
            ok(await client.post('/v1/auth/verify', { email, purpose: 'web', challenge, otp }));
        });

        // SERVICE-35
        it('is proper: addresses, date, identity, two forms', async () => {
            const email = freshEmail();
            await asked(client, email);
            const { mail, raw, from, to } = await arrived(email);
            assert.deepEqual([from, to], ['portero@door.example', [email]]);
            assert.deepEqual([mail.from.value[0].name, mail.from.value[0].address], ['Türhüter "Portero"', 'portero@door.example']);
            assert.equal(mail.to.text, email);
            assert.ok(Math.abs(mail.date - Date.now()) < 600_000);
            assert.match(mail.messageId, /^<[0-9a-f]{24}@door\.example>$/);
            assert.equal(mail.headers.get('auto-submitted'), 'auto-generated');
            assert.equal(mail.headers.get('content-type').value, 'multipart/alternative');
            assert.deepEqual([...raw.matchAll(/^content-type: (text\/\w+); charset=utf-8\r$/gim)].map(([, type]) => type), ['text/plain', 'text/html']);
            assert.deepEqual(mail.attachments, []);
            for (const line of raw.split('\r\n')) assert.ok(line.length <= 998 && !/[\r\n\x80-\xff]/.test(line));
        });

        // SERVICE-35
        it('tells a resident a week before the number goes, when it went, and the new one', async () => {
            const email = freshEmail();
            const challenge = await asked(client, email);
            const [otp] = /^\d{6}/.exec((await arrived(email)).mail.subject);
            const { apiKey } = ok(await client.post('/v1/auth/verify', { email, purpose: 'web', challenge, otp }));
            const { client: owner } = await agent({ client: client.as(apiKey) }, ['account:read', 'setup:write'], { expires_in_days: 90 });
            const home = async () => ok(await owner.get('/v1/buildings')).data[0];
            const number = async () => (await home()).virtual_number;
            const told = (subject) => eventually(() => mailTo(relay, email).find(({ mail }) => mail.subject === subject), subject).then(({ mail }) => mail.text);
            await setSubscription(client, email, 'active');
            const former = await eventually(number, 'a number');
            await changeSettings({ client: owner, building: await home() }, { unlock_tone: '9' });
            await setSubscription(client, email, 'canceled');
            await advance(client, 22 * DAY / 1000);
            assert.equal(mailTo(relay, email).length, 1); // that of the sign-in
            await advance(client, (DAY + HOUR) / 1000);
            const soon = await told('Home is about to lose its telephone number');
            assert.ok(soon.includes(former) && soon.includes('/billing'), soon);
            await advance(client, 7 * DAY / 1000);
            const gone = await told('The telephone number of Home was released');
            assert.ok(gone.includes(former), gone);
            await setSubscription(client, email, 'active');
            const other = await eventually(number, 'another number');
            assert.notEqual(other, former);
            const came = await told('The new telephone number of Home');
            assert.ok(came.includes(other) && !came.includes(former), came);
        });

        it('fetches nothing, follows nothing and runs nothing', async () => {
            const email = freshEmail();
            await asked(client, email);
            const { mail } = await arrived(email);
            for (const never of [/<(img|a|link|script|iframe|form|object|embed|video)\b/i, /\b(src|href|background)\s*=/i, /url\(/i, /@import/i, /https?:/i, /\bon\w+\s*=/i]) {
                assert.ok(!never.test(mail.html), `the HTML has ${never}`);
            }
            assert.ok(mail.html.includes('<html lang="en">') && mail.html.includes('color-scheme'));
        });

        it('reaches addresses whose characters mean something elsewhere', async () => {
            for (const local of ["o'brien&co", 'a+b=c', '#!$%*/?^_`{|}~']) {
                const email = `${local}-${freshEmail()}`;
                await asked(client, email);
                const { mail } = await arrived(email);
                assert.equal(mail.to.value[0].address, email);
                assert.ok(mail.text.includes(email));
                const shown = mail.html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'' })[name]);
                assert.ok(shown.includes(email), shown);
            }
        });

        for (const step of ['connect', 'from', 'to', 'data']) {
            it(`is sent again, as the same mail, after a 4xx at ${step}`, async () => {
                const email = freshEmail();
                relay.refuse(step, step === 'connect' ? 421 : 451, 2);
                await asked(client, email);
                await eventually(() => relay.steps.includes(step), 'a first attempt');
                await advance(client, 60);
                await advance(client, 300);
                assert.equal((await arrived(email)).mail.subject.length, '123456 is your Portero sign-in code'.length);
                assert.equal(relay.steps.filter((s) => s === step).length, 3);
                assert.equal(mailTo(relay, email).length, 1);
            });
        }

        it('is not dropped by a relay that is temporarily unavailable', async () => {
            const email = freshEmail();
            relay.refuse('connect', 554, 1);
            await asked(client, email);
            await eventually(() => relay.steps.includes('connect'), 'a first attempt');
            await advance(client, 60);
            await arrived(email);
        });

        it('keeps its identity when it is sent again', async () => {
            const email = freshEmail();
            relay.refuse('data', 451);
            await asked(client, email);
            await eventually(() => relay.steps.includes('data'), 'a first attempt');
            await w.daemon.crash();
            endLeases(w.daemon);
            await w.daemon.start();
            await advance(client, 60);
            await arrived(email);
            const tries = relay.received.filter((raw) => raw.includes(`To: ${email}`)).map((raw) => raw.match(/^(Date|Message-ID): .*\r\n/gm).join(''));
            assert.deepEqual(tries, [tries[0], tries[0]]);
            assert.match(tries[0], /^Date: .+\r\nMessage-ID: <[0-9a-f]{24}@door\.example>\r\n$/);
            assert.equal(mailTo(relay, email).length, 1);
        });

        for (const [step, code] of [['from', 550], ['to', 550], ['data', 554]]) {
            // SERVICE-34
            it(`is dropped after a ${code} at ${step}`, async () => {
                const email = freshEmail();
                relay.refuse(step, code);
                await asked(client, email);
                await w.daemon.logged(/mail dropped id=\w+ error=refused/);
                await eventually(() => relay.steps.includes(step), 'the attempt');
                relay.steps.length = 0;
                await advance(client, 600);
                assert.deepEqual([relay.steps, mailTo(relay, email)], [[], []]);
            });
        }

        // SERVICE-34
        it('is dropped once its code is worth nothing', async () => {
            const email = freshEmail();
            relay.refuse('to', 451, 1000);
            await asked(client, email);
            await eventually(() => relay.steps.includes('to'), 'a first attempt');
            await advance(client, 16 * 60);
            relay.steps.length = 0;
            await advance(client, 3600);
            assert.deepEqual(relay.steps, []);
            assert.ok(await w.daemon.logged(/mail dropped id=\w+ error=too late/));
        });

        it('leaves no code and no address in the log', () => {
            for (const { mail, to } of relay.mails) {
                const code = /^\d{6}/.exec(mail.subject)?.[0];
                assert.ok(!(code && w.daemon.stderr.includes(code)) && !w.daemon.stderr.includes(to[0]));
            }
        });
    });

    describe('to a relay that requires authentication', () => {
        const login = { user: 'portero', password: 'pass word', get ca() { return ca; } };

        /** One mail to a relay of these options: the relay after the attempt. */
        async function attempt(options, mail, delivered) {
            const relay = await Relay.start(options);
            let w;
            try {
                w = await world({ config: { mail: { ...smtp(relay), ...mail(relay) } } });
                const email = freshEmail();
                await asked(w.client, email);
                if (delivered) await eventually(() => mailTo(relay, email)[0], 'the mail');
                else assert.ok(await w.daemon.logged(/smtp failed id=\w+/), w.daemon.stderr);
                return relay;
            } finally {
                await w?.close();
                await relay.close();
            }
        }

        const certificate = () => issue('localhost', 'DNS:localhost,IP:127.0.0.1');
        const starttls = (relay) => ({ url: `smtp://localhost:${relay.port}`, ...login, ca });
        const implicit = (relay) => ({ url: `smtps://127.0.0.1:${relay.port}`, ...login, ca });

        for (const method of ['PLAIN', 'LOGIN']) {
            it(`signs in with ${method}, after STARTTLS`, async () => {
                const relay = await attempt({ ...certificate(), authOptional: false, authMethods: [method] }, starttls, true);
                assert.deepEqual(relay.auths, [{ method, username: 'portero', password: 'pass word', secure: true }]);
                assert.equal(relay.mails[0].secure, true);
            });
        }

        it('speaks TLS from the start to smtps', async () => {
            const relay = await attempt({ ...certificate(), secure: true, authOptional: false }, implicit, true);
            assert.deepEqual([relay.mails[0].secure, relay.mails[0].user], [true, 'portero']);
        });

        it('trusts no authority that was not named, and no other name', async () => {
            const strangers = { ...certificate() };
            const elsewhere = issue('elsewhere', 'DNS:elsewhere.example');
            const untrusted = (relay) => ({ url: `smtps://127.0.0.1:${relay.port}`, user: 'portero', password: 'pass word' });
            for (const [options, mail] of [[{ ...strangers, secure: true }, untrusted], [{ ...elsewhere, secure: true }, implicit], [elsewhere, starttls]]) {
                const relay = await attempt(options, mail, false);
                assert.deepEqual([relay.auths, relay.mails], [[], []]);
            }
        });

        // SERVICE-35
        it('gives no credentials to a relay that hides STARTTLS', async () => {
            const relay = await attempt({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true }, starttls, false);
            assert.deepEqual([relay.auths, relay.mails], [[], []]);
        });

        // SERVICE-34
        it('keeps the mail when its credentials are refused', async () => {
            const relay = await Relay.start({ ...certificate(), authOptional: false });
            const w = await world({ config: { mail: { ...smtp(relay), ...starttls(relay) } } });
            try {
                const email = freshEmail();
                relay.password = 'another';
                await asked(w.client, email);
                await eventually(() => relay.auths.length > 0, 'a first attempt');
                relay.password = 'pass word';
                await advance(w.client, 60);
                await eventually(() => mailTo(relay, email)[0], 'the mail');
                assert.ok(!w.daemon.stderr.includes('pass word'));
            } finally {
                await w.close();
                await relay.close();
            }
        });
    });

    it('survives servers that are not mail relays', async () => {
        const talks = ['HTTP/1.1 200 OK\r\n\r\n', '220 hello\r\n'.padEnd(1 << 20, 'x'), '\0\0\0\0\r\n', '999 what\r\n', '220-endless\r\n'.repeat(50_000), ''];
        let connections = 0;
        const server = net.createServer((socket) => {
            socket.on('error', () => {});
            socket.end(talks[connections++ % talks.length]);
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const w = await world({ config: { mail: smtp({ port: server.address().port }) } });
        try {
            for (const talk of talks) {
                const before = connections;
                ok(await w.client.post('/v1/auth/otp', { email: freshEmail() }));
                await eventually(() => connections > before, `a connection for ${JSON.stringify(talk.slice(0, 20))}`);
            }
            await advance(w.client, 60);
            ok(await w.client.get('/v1/health'));
        } finally {
            await w.close();
            server.close();
        }
    });
});
