// porterod admin account export writes all that is held of a person, and no secret.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { useWorld } from './lib/world.js';
import { person, rows } from './lib/person.js';

describe('an account that is exported', () => {
    const w = useWorld({ config: REACHABLE });
    const receiver = useReceiver();
    const directory = temporaryDirectory();
    let one, other, text, document;
    const run = (...args) => portero(['admin', 'account', 'export', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);
    before(async () => {
        other = await person(w, receiver);
        one = await person(w, receiver);
        const done = run(one.email);
        assert.equal(done.status, 0, done.stderr);
        text = done.stdout;
        document = JSON.parse(text);
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    // ACCOUNT-30
    it('has a decision for every table of the schema', () => {
        const known = new Set([...Object.keys(document), ...Object.keys(document.not_included)]);
        assert.deepEqual([...rows(w.daemon).keys()].filter((table) => !known.has(table)), [], 'add the table to privacy/personal.c, and to store/sql/erasure.sql if it holds something of a person');
    });

    it('has what the person made', () => {
        assert.equal(document.account[0].id, one.account);
        assert.deepEqual([document.account[0].email, document.account[0].phone], [one.email, one.phone]);
        assert.deepEqual(document.building.map(({ id }) => id).sort(), [one.building.id, one.cabin.id].sort());
        assert.equal(document.access_grant.find(({ id }) => id === one.grant.id).access_code, one.grant.access_code);
        assert.deepEqual(document.access_grant.map(({ label }) => label).sort(), [`Nurse ${one.at}`, `Parcel ${one.at}`, `Revoked ${one.at}`]);
        assert.ok(document.activity.some(({ name }) => name === `Nurse ${one.at}`));
        assert.ok(document.call_record.some(({ caller }) => caller === one.caller));
        assert.equal(Buffer.from(document.call_message[0].audio, 'base64').toString('latin1', 8, 12), 'WAVE');
        assert.equal(document.recording.length, 1);
        assert.equal(document.webhook[0].id, one.endpoint.id);
        assert.ok(document.event.length >= 3 && document.delivery.length >= 3);
        assert.deepEqual(document.member.map(({ id }) => id), [one.member.id]);
        assert.ok(document.building_operation.length >= 2 && document.api_key.length >= 4);
        assert.ok(document.phone_change.some(({ phone }) => phone === one.phone));
    });

    // ACCOUNT-30
    it('has no secret, and nothing of others', () => {
        for (const secret of [...one.secrets, other.account, other.email, other.phone, `Nurse ${other.at}`]) assert.ok(!text.includes(secret), secret);
    });

    it('is a private file that appears when it is whole, and replaces none', () => {
        const file = join(directory, 'ada.json');
        const done = run(one.account, '--output', file);
        assert.equal(done.status, 0, done.stderr);
        assert.equal(statSync(file).mode & 0o777, 0o600);
        assert.equal(JSON.parse(readFileSync(file, 'utf8')).account[0].id, one.account);
        assert.deepEqual(readdirSync(directory), ['ada.json']);
        assert.match(run(one.account, '--output', file).stderr, /File exists/);
    });

    it('names an unknown account', () => {
        const done = run('nobody@example.com');
        assert.equal(done.status, 1);
        assert.match(done.stderr, /^portero: The account was not found\. \(ACCOUNT_NOT_FOUND\)\n$/);
        assert.equal(done.stdout, '');
    });
});
