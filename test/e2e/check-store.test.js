// porterod check-store tells what is wrong with a store, next to the running service.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idempotencyKey, ok } from './lib/client.js';
import { engine, portero } from './lib/daemon.js';
import { connected, decide } from './lib/oauth.js';
import { sql } from './lib/store.js';
import { resident, useWorld } from './lib/world.js';

/** Keys that no other row belongs to. */
const FREE = "kind = 'web_session' AND NOT EXISTS (SELECT 1 FROM browser b WHERE b.hash = api_key.hash)";

describe('check-store', () => {
    const w = useWorld();
    let person;
    before(async () => {
        person = await resident(w.client);
        const { assistant: one, site } = await connected(w.client, { person });
        await decide(site, one.ask()); // a code that waits
        for (let i = 0; i < 3; i++) ok(await person.client.post('/v1/unlock', { type: 'passcode', label: `${i}` }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
    });
    const check = (options) => portero(['check-store', '--config', w.daemon.configPath, '--data', w.daemon.data], options);
    const found = (pattern) => {
        const done = check();
        assert.equal(done.status, 1, done.stdout);
        assert.match(done.stdout, pattern);
        assert.match(done.stderr, /^portero: 1 checks found faults\n$/);
    };

    it('finds nothing in a good store, running or stopped, and changes nothing', async () => {
        assert.equal(check().status, 0, check().stdout);
        await w.daemon.terminate();
        const files = readdirSync(w.daemon.data);
        const bytes = engine === 'sqlite' && readFileSync(join(w.daemon.data, 'portero.db'));
        const done = check();
        assert.equal(done.status, 0, done.stdout + done.stderr);
        assert.ok(done.stdout.trim().split('\n').every((line) => line.endsWith(': good')), done.stdout);
        if (bytes) assert.deepEqual(readFileSync(join(w.daemon.data, 'portero.db')), bytes);
        assert.deepEqual(readdirSync(w.daemon.data).filter((name) => !/-(wal|shm)$/.test(name)), files);
    });

    const faults = [
        ['grant counts', 'UPDATE grant_count SET enabled = enabled + 1;', 'UPDATE grant_count SET enabled = enabled - 1;'],
        ['primary buildings', 'UPDATE building SET is_primary = 0;', 'UPDATE building SET is_primary = 1;'],
        ['grants', "UPDATE grant_building SET id = 'x' || id;", "UPDATE grant_building SET id = substr(id, 2);"],
        ['numbers', "UPDATE number SET building_id = 'x' || building_id WHERE building_id IS NOT NULL;", "UPDATE number SET building_id = substr(building_id, 2) WHERE building_id IS NOT NULL;"],
        ['assistants', 'UPDATE api_key SET scopes = scopes + 64 WHERE EXISTS (SELECT 1 FROM oauth_grant g WHERE g.key_id = id);', 'UPDATE api_key SET scopes = scopes - 64 WHERE EXISTS (SELECT 1 FROM oauth_grant g WHERE g.key_id = id);'],
        ["assistants' codes", "UPDATE oauth_code SET account_id = 'x' || account_id WHERE used = 0;", 'UPDATE oauth_code SET account_id = substr(account_id, 2) WHERE used = 0;'],
        ["assistants' codes", "UPDATE oauth_code SET key_id = 'x' || key_id WHERE used = 1;", 'UPDATE oauth_code SET key_id = substr(key_id, 2) WHERE used = 1;'],
        ['keys', `UPDATE api_key SET account_id = 'x' || account_id WHERE ${FREE};`, `UPDATE api_key SET account_id = substr(account_id, 2) WHERE ${FREE};`],
    ];
    for (const [name, spoil, mend] of faults) {
        it(`finds wrong ${name}: ${spoil}`, () => {
            sql(w.daemon, spoil);
            found(new RegExp(`^${name}: .*: [1-9]\\d*, such as \\S+$`, 'm'));
            sql(w.daemon, mend);
            assert.equal(check().status, 0);
        });
    }

    it('finds another master key', () => {
        const done = check({ env: { PORTERO_SECRETS_MASTER_KEY: '11'.repeat(32) } });
        assert.equal(done.status, 1);
        assert.match(done.stdout, /^master key: .*another master key$/m);
    });

    if (engine === 'sqlite') it('finds what is not of its schema', () => {
        sql(w.daemon, 'CREATE TRIGGER steal AFTER INSERT ON access_grant BEGIN UPDATE setting SET value = NEW.access_code; END;');
        found(/^schema: the schema is not Portero's: trigger steal$/m);
        sql(w.daemon, 'DROP TRIGGER steal; CREATE VIEW spy AS SELECT email FROM account;');
        found(/^schema: the schema is not Portero's: view spy$/m);
        sql(w.daemon, 'DROP VIEW spy;');
        assert.equal(check().status, 0);
    });

    if (engine === 'sqlite') it('finds a damaged database', () => { // amcheck does it for PostgreSQL
        const path = join(w.daemon.data, 'portero.db');
        const bytes = readFileSync(path);
        const index = Number(sql(w.daemon, "SELECT rootpage FROM sqlite_schema WHERE name = 'access_grant';"));
        const damaged = Buffer.from(bytes);
        damaged.fill(0x55, (index - 1) * 4096 + 100, index * 4096);
        writeFileSync(path, damaged);
        const done = check();
        assert.equal(done.status, 1, done.stdout + done.stderr);
        writeFileSync(path, bytes);
    });
});
