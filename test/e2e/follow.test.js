// engine: sqlite
// A directory that follows the store: each moment of it can be restored, whatever ended the service.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { Daemon, portero, temporaryDirectory } from './lib/daemon.js';
import { sql } from './lib/store.js';
import { eventually, resident } from './lib/world.js';

const HOUR_MS = 3_600_000;
const COPY = /^follow-\d{8}T\d{6}Z\.db$/;
const CHANGES = /^follow-\d{8}T\d{6}Z\.pages$/;

/** follow-20261122T140300Z.pages as a time. */
const timeOf = (name) => Date.parse(name.slice(7, 23).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
const nameAt = (at, end) => `follow-${new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')}${end}`;
const iso = (at) => new Date(at).toISOString();

describe('a directory that follows the store', () => {
    const copies = temporaryDirectory();
    const restored = temporaryDirectory();
    let daemon, client, person;
    const files = (pattern = /^follow-.*Z\.(db|pages)$/) => readdirSync(copies).filter((name) => pattern.test(name)).sort();

    async function start() {
        await daemon.start();
        client?.close();
        client = new Client(daemon);
        if (person) person.client = client.as(person.key);
    }
    const create = async (label) => ok(await person.client.post('/v1/unlock', { type: 'passcode', label, enabled: false },
        { headers: { 'Idempotency-Key': idempotencyKey() } }), 201).id;
    /** Writes, and waits for the first file that has it: {at}. */
    async function createAndFollow(label) {
        await create(label);
        let newest;
        await eventually(() => {
            newest = files().at(-1);
            return restore('--at', iso(timeOf(newest)), copies).status === 0 && labels().includes(label);
        }, 'the next copy');
        return { at: timeOf(newest) };
    }

    const restore = (...args) => {
        rmSync(join(restored, 'portero.db'), { force: true });
        return portero(['restore', ...args, '--config', daemon.configPath, '--data', restored]);
    };
    const labels = () => sql({ data: restored }, 'SELECT label FROM access_grant ORDER BY label;').trim().split('\n').filter(Boolean);
    function refuses(pattern, ...args) {
        const done = restore(...args);
        assert.equal(done.status, 1, done.stderr);
        assert.match(done.stderr, pattern);
        assert.ok(!existsSync(join(restored, 'portero.db')));
    }

    before(async () => {
        daemon = new Daemon({ config: { backup: { directory: copies, every_s: 1, keep_h: 1 }, listen: { metrics: '127.0.0.1:0' } } });
        await start();
        person = await resident(client);
        writeFileSync(join(restored, 'master.key'), readFileSync(join(daemon.data, 'master.key')));
    });
    after(async () => {
        client?.close();
        await daemon.stop();
        for (const directory of [copies, restored]) rmSync(directory, { recursive: true, force: true });
    });

    // STORE-22
    it('gives back the store as it was at each moment', async () => {
        await eventually(() => files(COPY).length === 1, 'the first copy');
        const moments = [];
        for (const label of ['a', 'b', 'c']) moments.push(await createAndFollow(label));
        for (const [i, { at }] of moments.entries()) {
            const done = restore('--at', iso(at), copies);
            assert.equal(done.status, 0, done.stderr);
            assert.equal(done.stdout.trim(), `${restored}/portero.db restored from ${copies} as it was at ${iso(at)}`);
            assert.deepEqual(labels(), ['a', 'b', 'c'].slice(0, i + 1));
            assert.match(sql({ data: restored }, 'PRAGMA integrity_check;'), /^ok/);
        }
        assert.equal(restore(copies).status, 0);
        assert.deepEqual(labels(), ['a', 'b', 'c']);
        refuses(/no copy from before that time/, '--at', iso(timeOf(files()[0]) - 1000), copies);
        assert.equal(restore('--at', 'yesterday', copies).status, 2);
    });

    // STORE-22
    it('writes no file where nothing was written, and little where little was', async () => {
        const { at } = await createAndFollow('small');
        const file = nameAt(at, '.pages');
        assert.ok(statSync(join(copies, file)).size < statSync(join(copies, files(COPY)[0])).size / 4, 'all of the store is copied');
        const quiet = files();
        const told = await followed();
        await eventually(async () => await followed() > told + 2, 'two more copies');
        assert.deepEqual(files(), quiet);
        assert.deepEqual(readdirSync(copies).filter((name) => !/\.(db|pages)$/.test(name)), []);
    });

    /** The metric. */
    async function followed() {
        const page = await (await fetch(`http://${daemon.metrics}/metrics`)).text();
        return Number(/^portero_store_followed_timestamp_seconds (\S+)$/m.exec(page)[1]);
    }

    // STORE-22
    it('has all that was acknowledged before the time of its last file, and goes on, however the service ends', async () => {
        for (let round = 0; round < 4; round++) {
            const acknowledged = [];
            let ended = false;
            const writers = Array.from({ length: 3 }, async (_, n) => {
                for (let i = 0; !ended; i++) {
                    const label = `${round}.${n}.${i}`;
                    await create(label).then(() => acknowledged.push({ label, at: Date.now() }), () => { ended = true; });
                }
            });
            const first = files().length;
            await eventually(() => files().length > first + 1 && acknowledged.some(({ at }) => at < timeOf(files().at(-1))), 'copies while clients write');
            await daemon.crash();
            ended = true;
            await Promise.all(writers);
            const done = restore(copies);
            assert.equal(done.status, 0, done.stderr);
            const found = new Set(labels());
            const last = timeOf(files().at(-1));
            const due = acknowledged.filter(({ at }) => at < last);
            assert.ok(due.length > 0);
            for (const { label } of due) assert.ok(found.has(label), `${label} was acknowledged before ${iso(last)}, and is gone`);
            assert.match(sql({ data: restored }, 'PRAGMA integrity_check;'), /^ok/);
            await start();
            assert.equal(files(COPY).length, 1, 'a start goes on with the copy that is there');
        }
    });

    // STORE-23
    it('says which file is damaged or missing, and gives what was before it', async () => {
        const before = await createAndFollow('before');
        const hit = await createAndFollow('hit');
        await createAndFollow('behind');
        await daemon.terminate();
        const path = join(copies, nameAt(hit.at, '.pages'));
        const bytes = readFileSync(path);
        for (const at of [3, 30, 100, 140, bytes.length >> 1, bytes.length - 100, bytes.length - 3]) {
            const flipped = Buffer.from(bytes);
            flipped[at] ^= 4;
            writeFileSync(path, flipped);
            refuses(new RegExp(`${nameAt(hit.at, '.pages')}: damaged`), copies);
        }
        writeFileSync(path, bytes.subarray(0, bytes.length - 4096));
        refuses(/damaged/, copies);
        assert.equal(restore('--at', iso(before.at), copies).status, 0);
        assert.ok(labels().includes('before') && !labels().includes('hit'));
        renameSync(path, `${path}.away`);
        refuses(/follow-\S+\.pages: the file before it is missing/, copies);
        // A start does not build on it.
        await start();
        await eventually(() => files(COPY).length === 2, 'a whole copy');
        assert.match(daemon.stderr, /warn copies not continued next="a whole copy" reason="[^"]*the file before it is missing"/);
        assert.equal(restore(copies).status, 0);
        assert.ok(labels().includes('behind'));
        rmSync(`${path}.away`);
    });

    it('says that a copy fails, and goes on when it can', async () => {
        const failed = () => [...daemon.stderr.matchAll(/error copies of the store fail directory="[^"]*" reason="[^"]*No such file or directory"/g)].length;
        const told = await followed();
        renameSync(copies, `${copies}.away`); // at once, so that no copy is made in it while it is emptied
        rmSync(`${copies}.away`, { recursive: true, maxRetries: 5 });
        await eventually(() => failed() === 1, 'the error');
        await create('meanwhile');
        await new Promise((done) => { setTimeout(done, 2_500); });
        assert.equal(failed(), 1, 'one line for one fault');
        assert.ok(await followed() <= told + 2);
        mkdirSync(copies);
        await eventually(() => files(COPY).length === 1, 'a whole copy');
        await eventually(() => /copies of the store are made again/.test(daemon.stderr), 'the line');
        assert.equal(restore(copies).status, 0);
        assert.ok(labels().includes('meanwhile'));
    });

    it('deletes what is older than asked, and sets aside what a wrong clock dated', async () => {
        await createAndFollow('dated');
        await daemon.terminate();
        const copy = files(COPY)[0];
        const at = Date.now();
        const old = [nameAt(at - 72 * HOUR_MS, '.db'), nameAt(at - 71 * HOUR_MS, '.pages'), nameAt(at - 70 * HOUR_MS, '.db.ahead')];
        const kept = [nameAt(at - 2 * HOUR_MS, '.db'), nameAt(at - HOUR_MS, '.pages')];
        for (const name of [...old, ...kept]) writeFileSync(join(copies, name), readFileSync(join(copies, copy)));
        const ahead = nameAt(at + 9 * HOUR_MS, '.db');
        renameSync(join(copies, copy), join(copies, ahead));
        await start();
        await eventually(() => existsSync(join(copies, `${ahead}.ahead`)), 'the file set aside');
        await eventually(() => !old.some((name) => existsSync(join(copies, name))), 'the end of the old ones');
        for (const name of kept) assert.ok(existsSync(join(copies, name)), name);
        const done = restore(copies);
        assert.equal(done.status, 0, done.stderr);
        assert.ok(labels().includes('dated'));
        assert.ok(Math.abs(timeOf(files(COPY).at(-1)) - at) < HOUR_MS);
    });

    it('is refused with PostgreSQL, which has an archive of its own', () => {
        const path = join(copies, 'postgresql.conf');
        writeFileSync(path, 'store { engine = postgresql\n dsn = "host=127.0.0.1" }\nbackup { directory = "/var/backups" }\n');
        const done = portero(['check-config', '--config', path]);
        assert.equal(done.status, 2);
        assert.match(done.stderr, /backup\.directory follows a SQLite store; PostgreSQL has its own archive/);
    });
});
