// A person of whom the service holds something in every table that the interface can fill; and all rows of a store.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientOf } from './clients.js';
import { added, admin, owner, quote } from './buildings.js';
import { sql } from './store.js';
import { eventually, freshEmail, visit } from './world.js';
import { tone } from './wav.js';

const told = (done) => {
    if (done.status !== 0) throw new Error(done.stderr);
    return JSON.parse(done.stdout);
};

/** {…owner, cabin, endpoint, codes, secrets, member, …}; `receiver` takes its events. */
export async function person(w, receiver) {
    const { client } = w;
    const one = await owner(client);
    const secrets = [one.key];
    const cabin = await added(one);
    const api = await clientOf(one.client);
    const endpoint = await api.createWebhook({ body: { url: receiver.url(`/${one.building.id}`) } });
    secrets.push(endpoint.secret);
    const at = `${String(Math.floor(Math.random() * 1e6)).padStart(6, '0')}`;
    const caller = `+15553${at}`;
    const home = { buildingId: one.building.id };
    const made = await api.createUnlock({ body: { type: 'passcode', label: `Nurse ${at}` } }, home);
    const { id: revoked } = await api.createUnlock({ body: { type: 'passcode', label: `Revoked ${at}` } }, home);
    await api.revokeUnlock({ id: revoked }, home);
    await api.createUnlock({ body: { type: 'timer', label: `Parcel ${at}`, expires_in_minutes: 60 } }, { buildingId: cabin.id });
    await api.change('updateSettings', home, () => ({ ring: { message: true }, greeting_denied: `Not for ${at}.` }));
    await visit(client, { to: one.number, digits: made.access_code, from: caller });
    await visit(client, { to: one.number, digits: '0000', from: caller });
    const left = await visit(client, { to: one.number, resident: 'busy', message_seconds: 2, from: caller });
    const childKey = told(admin(w, 'key', 'create', '--building', cabin.id));
    const member = told(admin(w, 'member', 'add', '--building', cabin.id, '--name', `Guest ${at}`, '--email', freshEmail()));
    const memberKey = told(admin(w, 'key', 'create', '--member', member.id));
    secrets.push(childKey.api_key, memberKey.api_key);
    const directory = mkdtempSync(join(tmpdir(), 'portero-person-'));
    const file = join(directory, 'welcome.wav');
    writeFileSync(file, tone(1));
    told(admin(w, 'greeting', 'set', '--building', one.building.id, '--which', 'welcome', file));
    rmSync(directory, { recursive: true });
    await quote(one);
    await eventually(async () => {
        const all = [];
        for await (const delivery of api.listWebhookDeliveries({ id: endpoint.id, limit: 2 })) all.push(delivery);
        return all.length >= 3 && all.every(({ status }) => status === 'delivered');
    }, 'the deliveries');
    const account = sql(w.daemon, `SELECT id FROM account WHERE email = '${one.email}';`).trim();
    return { ...one, account, cabin, endpoint, grant: made, caller, at, member, memberKey, childKey, call: left.call_id, secrets };
}

/** Every row of the store as text, by table: Map of table to lines. */
export function rows(daemon) {
    const tables = daemon.dsn
        ? sql(daemon, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1;")
        : sql(daemon, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY 1;");
    const names = tables.trim().split('\n');
    const [command, args] = daemon.dsn ? ['psql', ['-X', '-q', '-A', '-t', '-d', daemon.dsn]]
        : ['sqlite3', ['-cmd', '.timeout 10000', '-cmd', '.mode quote', join(daemon.data, 'portero.db')]];
    const input = names.map((table) => `SELECT '%%${table}';\nSELECT * FROM "${table}";\n`).join('');
    const done = spawnSync(command, args, { input, encoding: 'latin1', maxBuffer: 1 << 28 });
    if (done.status !== 0) throw new Error(done.stderr);
    return new Map(done.stdout.split(/^'?%%/m).slice(1).map((part) => {
        const [table, ...lines] = part.split('\n');
        return [table.replace("'", ''), lines.filter(Boolean)];
    }));
}

/** The tables with a row that has one of the texts, as it is or in hexadecimal. */
export function holding(daemon, texts) {
    const forms = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')]);
    return [...rows(daemon)].flatMap(([table, lines]) => {
        const found = lines.find((line) => forms.some((form) => line.toLowerCase().includes(form.toLowerCase())));
        return found ? [`${table}: ${found.slice(0, 300)}`] : [];
    });
}
