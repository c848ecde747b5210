// A service in production mode, whose providers are never asked.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from './client.js';
import { Daemon, temporaryDirectory } from './daemon.js';

/** The daemon's options in a directory, which gets a certificate. */
export function productionOptions(directory) {
    const file = (name) => join(directory, name);
    const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30',
        '-subj', '/CN=localhost', '-keyout', file('tls.key'), '-out', file('tls.pem')], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    return { directory, env: { PORTERO_TEST_MASTER_KEY: '5a'.repeat(32) }, config: {
        mode: 'production', public_url: 'https://door.example', tls: { certificate: file('tls.pem'), key: file('tls.key') },
        secrets: { master_key: 'env:PORTERO_TEST_MASTER_KEY' }, mail: { provider: 'smtp', url: 'smtp://127.0.0.1:9' },
        sms: { provider: 'twilio' }, numbers: { provider: 'twilio' },
        twilio: { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'token', from: '+15550001111' },
        billing: { provider: 'stripe', 'plan weekly': { stripe_price: 'price_1' } }, stripe: { url: 'http://127.0.0.1:9', secret_key: 'sk_test_1', webhook_secret: 'whsec_1' },
    } };
}

/** A running one on SQLite: {daemon, client, close}. */
export async function production() {
    const directory = temporaryDirectory();
    const daemon = new Daemon(productionOptions(directory));
    const client = new Client(daemon);
    const close = async () => {
        client.close();
        await daemon.stop();
        rmSync(directory, { recursive: true, force: true });
    };
    try {
        await daemon.start();
    } catch (error) {
        await close();
        throw error;
    }
    return { daemon, client, close };
}
