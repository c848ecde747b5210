// The master key: a store takes only its own, and `porterod rekey` replaces it while the service runs.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { Daemon, portero } from './lib/daemon.js';
import { assistant, connected, failed, post } from './lib/oauth.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { challenge, freshEmail, grant, signIn } from './lib/world.js';

const hex = () => randomBytes(32).toString('hex');

describe('the master key', () => {
    const receiver = useReceiver();
    let daemon;
    let owner;
    const key = idempotencyKey();
    const register = (who) => who.client.post('/v1/webhooks', { url: 'https://127.0.0.1:9/hook' }, { headers: { 'Idempotency-Key': key } });
    const rekey = () => portero(['rekey', '--config', daemon.configPath, '--data', daemon.data, '--json']);

    /** Starts again with these secrets; the owner's client follows. */
    async function restart(secrets) {
        await daemon.terminate();
        daemon.config.secrets = secrets;
        await daemon.start();
        owner.client = new Client(daemon).as(owner.key);
    }

    /** The error line of `serve`, which must not start. */
    async function refusal(secrets, status = 1) {
        await daemon.terminate();
        daemon.config.secrets = secrets;
        daemon.stderr = '';
        daemon.spawn();
        const { code } = await daemon.exited();
        assert.equal(code, status, daemon.stderr);
        assert.equal(daemon.stdout, '');
        return /^portero: [^\n]+$/m.exec(daemon.stderr)[0];
    }

    before(async () => {
        daemon = await Daemon.start({ config: REACHABLE });
        owner = await signIn(new Client(daemon));
    });
    after(() => daemon?.stop());

    // STORE-17
    it('stops the start when it is lost or another, and nothing is lost by that', async () => {
        const { secret } = ok(await register(owner), 201);
        const file = join(daemon.data, 'master.key'), kept = join(daemon.data, 'kept');
        renameSync(file, kept);
        assert.match(await refusal({}), /master\.key: not found, and the store has secrets/);
        assert.ok(!existsSync(file), 'no new key is made');
        assert.match(await refusal({ master_key: hex() }), /sealed with another master key/);
        renameSync(kept, file);
        await restart({});
        assert.equal(ok(await register(owner)).secret, secret);
    });

    // STORE-18
    it('is replaced while the service runs, and both keys open until then', async () => {
        const { secret } = ok(await register(owner));
        const old = readFileSync(join(daemon.data, 'master.key'), 'utf8').trim(), fresh = hex();
        assert.match(await refusal({ master_key: fresh }), /sealed with another master key/);

        daemon.stderr = '';
        await restart({ master_key: fresh, previous_master_key: old });
        assert.ok(await daemon.logged(/master_key .*porterod rekey/));
        assert.equal(ok(await register(owner)).secret, secret);
        const email = freshEmail(), sent = await challenge(owner.client, email);
        const made = await grant(owner, { type: 'passcode' });
        const link = async () => new URL(ok(await owner.client.get(`/v1/unlock/${made.id}/link`)).url).pathname; // the port changes
        const { url } = ok(await owner.client.post(`/v1/unlock/${made.id}/link`), 201);

        const hook = ok(await owner.client.post('/v1/webhooks', { url: receiver.url() }), 201);
        ok(await owner.client.post(`/v1/webhooks/${hook.id}/secret`));

        const done = rekey();
        assert.equal(done.status, 0, done.stderr);
        assert.equal(JSON.parse(done.stdout).unreadable, 0);
        assert.ok(JSON.parse(done.stdout).sealed >= 1);
        assert.equal(JSON.parse(rekey().stdout).sealed, 0, 'the second time there is nothing to do');
        assert.equal(ok(await register(owner)).secret, secret);
        ok(await owner.client.as(undefined).post('/v1/auth/verify', { email, purpose: 'web', ...sent }));

        daemon.stderr = '';
        await restart({ master_key: fresh });
        assert.doesNotMatch(daemon.stderr, /rekey/);
        assert.equal(await link(), new URL(url).pathname);
        assert.equal(ok(await register(owner)).secret, secret);
        ok(await owner.client.post(`/v1/webhooks/${hook.id}/test`), 202);
        const { headers } = await receiver.first();
        assert.match(headers['service-signature'], /^t=\d+(,v1=[0-9a-f]{64}){2}$/, 'both secrets of an endpoint sign');
        assert.match(await refusal({ master_key: old }), /sealed with another master key/);
        await restart({ master_key: fresh });
    });

    // OAUTH-3
    it('leaves connected assistants as they are, and others register again', async () => {
        const old = daemon.config.secrets.master_key, fresh = hex();
        const kept = await connected(owner.client), other = await assistant(owner.client);
        await restart({ master_key: fresh, previous_master_key: old });
        assert.equal(rekey().status, 0);
        await restart({ master_key: fresh });
        const form = { grant_type: 'refresh_token', client_id: kept.assistant.id, refresh_token: kept.tokens.refresh_token };
        const { access_token: token } = ok(await post(owner.client, '/oauth/token', form));
        ok(await owner.client.as(token).get('/v1/account'));
        failed(await post(owner.client, '/oauth/token', { grant_type: 'authorization_code', client_id: other.id, code: 'x', code_verifier: 'x' }), 'invalid_client');
    });

    it('is a file or a variable as well, and a malformed previous one is named', async () => {
        const file = join(daemon.directory, 'key');
        const { master_key: current } = daemon.config.secrets;
        writeFileSync(file, `${current}\n`);
        assert.match(await refusal({ master_key: `file:${file}`, previous_master_key: 'short' }, 2), /secrets\.previous_master_key must be 64 hexadecimal/);
        await restart({ master_key: `file:${file}` });
    });

    it('is not replaced by a service that is not running', async () => {
        await daemon.terminate();
        const done = rekey();
        assert.equal(done.status, 1);
        assert.match(done.stderr, /^portero: /);
    });
});
