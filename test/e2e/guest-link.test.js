// Links of grants for guests: /v1/unlock/{id}/link, and the page that a link leads to.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { admin, added, owner as makeOwner } from './lib/buildings.js';
import { portero } from './lib/daemon.js';
import { holding, rows } from './lib/person.js';
import { advance, agent, changeSettings, DAY, edit, eventually, grant, HOUR, iso, now, resident, setSubscription, signIn, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const HTML = { headers: { accept: 'text/html' }, check: false };
const pathOf = (link) => new URL(link.url).pathname;
const tokenOf = (link) => pathOf(link).slice(3);

describe('the link of a grant', () => {
    const w = useWorld({ config: { log: { requests: true } } });
    const { client } = w;
    let person;
    before(async () => { person = await resident(client); });

    const make = async (one, { id }, body) => ok(await one.client.post(`/v1/unlock/${id}/link`, body), 201);
    const open = (link, options) => client.as(undefined).get(typeof link === 'string' ? link : pathOf(link), options ?? HTML);
    const shows = async (link, ...texts) => {
        const page = await open(link);
        assert.equal(page.status, 200, page.text);
        for (const text of texts) assert.ok(page.text.includes(text), `${text} is missing: ${page.text}`);
        return page;
    };
    const ended = async (link) => assert.equal((await open(link)).status, 404);
    const NONE = { url: null, expires_at: null, timezone: null, created_at: null };

    // GRANT-28
    it('is made once, read, and ended, and a later one is another', async () => {
        const made = await grant(person, { type: 'passcode', label: 'Anna', expires_in_minutes: 60 });
        const path = `/v1/unlock/${made.id}/link`;
        assert.deepEqual(ok(await person.client.get(path)), { id: made.id, ...NONE });
        const link = await make(person, made);
        assert.match(link.url, /^https:\/\/localhost:\d+\/g\/[0-9A-Za-z]{26}$/);
        assert.deepEqual([link.id, link.expires_at, link.timezone], [made.id, made.ends_at, null]);
        assert.deepEqual(ok(await person.client.post(path)), link);
        assert.deepEqual(ok(await person.client.post(path, {})), link);
        assert.deepEqual(ok(await person.client.get(path)), link);
        assert.equal(ok(await person.client.post(path, { timezone: 'America/Toronto' })).timezone, 'America/Toronto');
        assert.deepEqual(ok(await person.client.post(path)), { ...link, timezone: 'America/Toronto' });
        await shows(link, made.access_code);
        assert.deepEqual(ok(await person.client.delete(path)), { id: made.id, deleted: true });
        assert.deepEqual(ok(await person.client.delete(path)), { id: made.id, deleted: true });
        await ended(link);
        assert.deepEqual(ok(await person.client.get(path)), { id: made.id, ...NONE });
        const later = await make(person, made);
        assert.notEqual(later.url, link.url);
        await shows(later, made.access_code);
        await visit(client, { to: person.number, digits: made.access_code });
        assert.equal(ok(await person.client.get('/v1/logs?limit=1')).data[0].succeeded, true, 'the code is used as before');
    });

    it('has no end where the grant has none', async () => {
        const made = await grant(person, { type: 'routine', label: 'Cleaner', days: ['monday'], start: '09:00', end: '12:00', timezone: 'Europe/Madrid' });
        const link = await make(person, made);
        assert.equal(link.expires_at, null);
        await shows(link, 'Mondays', '9:00 am to 12:00 pm', 'Madrid time', 'You need no code');
    });

    it('takes a known time zone and nothing else', async () => {
        const guest = await grant(person, { type: 'passcode', expires_in_minutes: 60 });
        assert.equal((await make(person, guest, { timezone: 'Europe/Madrid' })).timezone, 'Europe/Madrid');
        const made = await grant(person, { type: 'passcode' });
        for (const body of [{ timezone: 'Mars/Olympus' }, { timezone: '' }, { timezone: null }, { zone: 'UTC' }, { timezone: '../etc/passwd' }])
            refused(await person.client.post(`/v1/unlock/${made.id}/link`, body), 400, 'INVALID_UNLOCK');
        refused(await person.client.request('POST', `/v1/unlock/${made.id}/link`, { text: '[]' }), 400, 'INVALID_JSON');
    });

    // GRANT-28
    it('needs the scopes of the grant, and is nobody else\'s', async () => {
        const made = await grant(person, { type: 'passcode' });
        const path = `/v1/unlock/${made.id}/link`;
        const reader = (await agent(person, ['access:read'])).client, writer = (await agent(person, ['access:write'])).client;
        refused(await reader.post(path), 403, 'INSUFFICIENT_SCOPE');
        refused(await reader.delete(path), 403, 'INSUFFICIENT_SCOPE');
        refused(await writer.get(path), 403, 'INSUFFICIENT_SCOPE');
        const link = ok(await writer.post(path), 201);
        assert.equal(ok(await reader.get(path)).url, link.url);
        const other = await resident(client);
        for (const method of ['get', 'post', 'delete']) {
            refused(await other.client[method](path), 404, 'NOT_FOUND');
            refused(await client.as(undefined)[method](path), 401, 'AUTH_REQUIRED');
            refused(await person.client[method](`/v1/unlock/${UNKNOWN_ID}/link`), 404, 'NOT_FOUND');
            refused(await person.client[method]('/v1/unlock/7/link'), 400, 'INVALID_ID');
        }
        await shows(link, made.access_code);
        ok(await writer.delete(path));
    });

    // BUILDING-45
    it('tells the address, and the name on the call box', async () => {
        const own = await resident(client), made = await grant(own, { type: 'passcode', label: 'Guest', expires_in_minutes: 60 });
        const link = await make(own, made);
        await shows(link, 'find the person you visit');
        await changeSettings(own, { label: 'The Mill', address: { street: '1 Mill <b>Lane', city: 'Salem', state: 'OR', zip: '97301' }, call_box_name: 'Ortega & Sons' });
        const { text } = await shows(link, 'find “Ortega &amp; Sons” on the call box');
        assert.ok(text.includes('<h1>The Mill</h1>') && text.includes('1 Mill &lt;b&gt;Lane, Salem') && !text.includes('97301'), text);
    });

    // GRANT-31, GRANT-32
    it('follows its grant: off and on, changed, used up, expired, revoked', async () => {
        const made = await grant(person, { type: 'passcode', label: 'Bruno', expires_in_minutes: 60, remaining_uses: 1 });
        const path = `/v1/unlock/${made.id}/link`;
        const link = await make(person, made);
        const off = ok(await edit(person, made, { enabled: false }));
        assert.ok(!(await shows(link, 'it is not valid now')).text.includes(made.access_code));
        const changed = ok(await edit(person, off, { enabled: true, access_code: '90417'.slice(1) }));
        await shows(link, '0417');
        await visit(client, { to: person.number, digits: '0417' });
        assert.ok(!(await shows(link, 'it is not valid now')).text.includes('0417'));
        ok(await edit(person, changed, { remaining_uses: 5 }));
        await shows(link, '0417');
        await advance(client, 3600);
        await ended(link);
        refused(await person.client.post(path), 409, 'GRANT_EXPIRED');
        assert.equal(ok(await person.client.get(path)).url, null);
        const late = ok(await person.client.get(`/v1/unlock/${made.id}`));
        ok(await edit(person, late, { ends_at: iso(await now(client) + HOUR) }));
        await shows(link, '0417');
        assert.equal(ok(await person.client.get(path)).url, link.url);
        ok(await person.client.delete(`/v1/unlock/${made.id}`));
        await ended(link);
        refused(await person.client.post(path), 409, 'GRANT_REVOKED');
        assert.equal(ok(await person.client.get(path)).url, null);
        assert.deepEqual(ok(await person.client.delete(path)), { id: made.id, deleted: true });
    });

    // GRANT-32
    it('says of a door that is not connected that it is not valid now', async () => {
        const session = await signIn(client);
        const made = await grant(session, { type: 'passcode' });
        const link = await make(session, made);
        assert.ok(!(await shows(link, 'it is not valid now')).text.includes(made.access_code));
        const paying = await resident(client);
        const theirs = await grant(paying, { type: 'passcode' });
        const paid = await make(paying, theirs);
        await shows(paid, theirs.access_code);
        await setSubscription(client, paying.email, 'canceled');
        await eventually(async () => (await open(paid)).text.includes('it is not valid now'), 'the end of the subscription');
    });

    // GRANT-35
    it('tells the time at the building, else by the zone that the link was given', async () => {
        const at = Math.ceil((await now(client) + DAY) / DAY) * DAY + 22 * HOUR + 30 * 60_000; // 22:30 UTC, 17:30 or 18:30 in Toronto
        const made = await grant(person, { type: 'timer', ends_at: iso(at) });
        const bare = await make(person, made);
        await shows(bare, 'UTC time', '10:30 pm');
        const day = (zone, locale) => new Intl.DateTimeFormat(locale, { timeZone: zone, weekday: 'long' }).format(at);
        const clock = (zone) => new Intl.DateTimeFormat('en-US', { timeZone: zone, hour: 'numeric', minute: '2-digit' }).format(at).toLowerCase().replace(/\s/u, ' ');
        ok(await person.client.post(`/v1/unlock/${made.id}/link`, { timezone: 'Asia/Tokyo' }));
        await shows(bare, 'Tokyo time', clock('Asia/Tokyo'), day('Asia/Tokyo', 'en'));
        await changeSettings(person, { timezone: 'America/Toronto' });
        await shows(bare, 'Toronto time', clock('America/Toronto'), day('America/Toronto', 'en'));
        const spanish = await open(`${pathOf(bare)}?fbclid=x&lang=es`);
        assert.ok(spanish.text.includes(day('America/Toronto', 'es')) && spanish.text.includes('lang="es"'), spanish.text);
        const coming = await grant(person, { type: 'timer', starts_at: iso(at - HOUR), ends_at: iso(at) });
        await shows(await make(person, coming), 'From ', ' until ');
    });

    // GRANT-34, GRANT-36
    it('leads to a page for the guest alone: no name, no cookie, no cache, no referrer, no index', async () => {
        const made = await grant(person, { type: 'passcode', label: 'The label is private', access_code: '5127', enter_code_with_voice: true });
        const link = await make(person, made);
        const page = await shows(link, '5127', person.building.label);
        for (const text of ['The label is private', made.id, person.building.id, person.email, person.number, made.request_id]) assert.ok(!page.text.includes(text), text);
        assert.equal(page.headers['cache-control'], 'no-store');
        assert.equal(page.headers['referrer-policy'], 'no-referrer');
        assert.equal(page.headers['x-robots-tag'], 'noindex, nofollow');
        assert.match(page.headers['content-security-policy'], /^default-src 'none'; script-src 'self';/);
        assert.equal(page.headers['set-cookie'], undefined);
        assert.equal(page.headers['x-service-building-id'], undefined);
        assert.ok(!page.text.includes('<script'));
        for (const mark of ['<!--', '{building}', '{code}', '{until}', '{city}']) assert.ok(!page.text.includes(mark), mark);
    });

    // GRANT-33
    it('looks the same when it has ended as when it never was', async () => {
        const made = await grant(person, { type: 'passcode' });
        const link = await make(person, made);
        ok(await person.client.delete(`/v1/unlock/${made.id}/link`));
        const unknown = `/g/${'x'.repeat(26)}`;
        const seen = [];
        for (const path of [pathOf(link), unknown, '/g/short', `/g/${'y'.repeat(400)}`]) {
            const page = await open(path);
            assert.equal(page.status, 404);
            assert.equal(page.headers['referrer-policy'], 'no-referrer');
            seen.push(page.text.replace(/req_[0-9a-f]+/, ''));
        }
        assert.equal(new Set(seen).size, 1);
    });

    // GRANT-29, GRANT-37
    it('is on no line of the log, and in the store neither as it is nor in hexadecimal', async () => {
        const made = await grant(person, { type: 'passcode' });
        const link = await make(person, made);
        const token = tokenOf(link);
        await shows(link, made.access_code);
        const missed = [];
        for (const path of [`/g/${token}/x`, `/g/${token}x`, `/g//${token}`]) missed.push((await open(path)).headers['x-request-id']);
        assert.equal((await client.as(undefined).post(`/g/${token}`, {}, { check: false })).status, 405);
        const last = await open(`/g/${token}?lang=fr`);
        await w.daemon.logged(new RegExp(last.headers['x-request-id']));
        assert.ok(!w.daemon.stderr.includes(token) && !w.daemon.stdout.includes(token));
        assert.match(w.daemon.stderr, /method=GET path=\/g\/\{text\} status=200/);
        for (const id of missed) {
            const noted = portero(['admin', 'request', id, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
            assert.equal(noted.status, 0, noted.stderr);
            assert.ok(!noted.stdout.includes(token), noted.stdout);
        }
        assert.deepEqual(holding(w.daemon, [token]), []);
    });

    it('is in the export of the account without its token', async () => {
        const made = await grant(person, { type: 'passcode' });
        const link = await make(person, made, { timezone: 'Europe/Paris' });
        const done = portero(['admin', 'account', 'export', person.email, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
        const found = JSON.parse(done.stdout).guest_link.find((row) => row.grant_id === made.id);
        assert.deepEqual(found, { grant_id: made.id, building_id: person.building.id, timezone: 'Europe/Paris', created_at: link.created_at });
        assert.ok(!done.stdout.includes(tokenOf(link)));
    });

    // GRANT-30
    it('ends with its account', async () => {
        const leaving = await resident(client);
        const link = await make(leaving, await grant(leaving, { type: 'passcode' }));
        const home = leaving.building.id;
        assert.equal(rows(w.daemon).get('guest_link').filter((line) => line.includes(home)).length, 1);
        const done = portero(['admin', 'account', 'delete', leaving.email, '--yes', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
        await ended(link);
        await eventually(() => !rows(w.daemon).get('guest_link').some((line) => line.includes(home)), 'the end of the row');
    });

    // GRANT-30
    it('ends with its building, which must be chosen where there are several, and whose grants need the subscription', async () => {
        const owner = await makeOwner(client);
        const cabin = await added(owner);
        const there = { 'X-Service-Building-Id': cabin.id };
        const made = await grant(owner, { type: 'passcode' }, there);
        const path = `/v1/unlock/${made.id}/link`;
        refused(await owner.client.post(path), 409, 'BUILDING_REQUIRED');
        refused(await owner.client.post(path, undefined, { headers: { 'X-Service-Building-Id': owner.building.id } }), 404, 'NOT_FOUND');
        const link = ok(await owner.client.post(path, undefined, { headers: there }), 201);
        const page = await shows(link, made.access_code, cabin.label);
        assert.ok(!page.text.includes(owner.building.label));
        const child = client.as(JSON.parse(admin(w, 'key', 'create', '--building', cabin.id).stdout).api_key);
        assert.equal(ok(await child.get(path)).url, link.url);
        await setSubscription(client, owner.email, 'past_due');
        refused(await owner.client.post(path, undefined, { headers: there }), 403, 'MULTI_BUILDING_REQUIRED');
        await shows(link, made.access_code);
        ok(await owner.client.delete(path, { headers: there }));
        await ended(link);
    });

    // GRANT-32
    it('says of a pass whose calendar opens no more that it is not valid now', async () => {
        const at = await now(client), day = (ms) => new Intl.DateTimeFormat('en', { timeZone: 'UTC', weekday: 'long' }).format(ms).toLowerCase();
        const made = ok(await person.client.post('/v1/passes', { label: 'Painter', windows: [{ days: [day(at)], start: '00:00', end: '00:00' }], until: iso(at + 3 * DAY), timezone: 'UTC' },
            { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        const link = await make(person, made);
        await shows(link, made.access_code);
        await advance(client, 86_400);
        assert.ok(!(await shows(link, 'it is not valid now')).text.includes(made.access_code));
    });
});

describe('the pages of guests', () => {
    const w = useWorld({ config: { limits: { guest_per_ip: 5, requests_active: 1000, requests_free: 1000, auth_per_ip: 1000, otp_per_ip: 1000, plans_per_ip: 1000 } } });
    const { client } = w;
    const open = (path) => client.as(undefined).get(path, { check: false });

    // GRANT-36
    it('are bounded for each address, whatever the tokens, and count as no request of the account', async () => {
        const person = await resident(client);
        const made = await grant(person, { type: 'passcode' });
        const link = ok(await person.client.post(`/v1/unlock/${made.id}/link`), 201);
        const left = async () => Number((await person.client.get('/v1/account')).headers['ratelimit-remaining']);
        const earlier = await left();
        for (let i = 0; i < 4; i++) assert.equal((await open(`/g/${String(i).repeat(26)}`)).status, 404);
        assert.equal((await open(pathOf(link))).status, 200);
        const over = await open(pathOf(link));
        refused(over, 429, 'RATE_LIMIT_EXCEEDED');
        assert.ok(Number(over.headers['retry-after']) >= 1);
        assert.equal(await left(), earlier - 1);
        await advance(client, 15 * 60);
        assert.equal((await open(pathOf(link))).status, 200);
    });
});
