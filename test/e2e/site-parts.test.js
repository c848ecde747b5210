// The data in a page is what the same GETs below /app/v1 answer, checked by the same gate.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { added, owner } from './lib/buildings.js';
import { ok } from './lib/client.js';
import { COOKIE, signInBrowser } from './lib/site.js';
import { sql } from './lib/store.js';
import { freshEmail, grant, resident, UNKNOWN_ID, useWorld } from './lib/world.js';

const HOSTILE = '</script><!--<script>&amp;\u2028\u2029"\\';

describe('the data in a page', () => {
    const w = useWorld({ config: { limits: { requests_free: 12 } } });
    const { client } = w;

    const open = (cookie, { query = '', ...headers } = {}) => client.as(undefined).get(`/${query}`,
        { headers: { cookie: `${COOKIE}=${cookie}`, ...headers }, check: false });
    const textOf = (answer) => /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(answer.text)[1];

    /** The answers of the calls below /app/v1, in place of the page's data. */
    async function calls(site, id, headers) {
        const get = async (path) => ok(await site.get(path, { headers: { 'x-service-building-id': id, ...headers } }));
        return {
            account: await get('/v1/account'),
            places: await get('/v1/places'),
            buildings: await get('/v1/buildings'),
            setup: await get(`/v1/buildings/${id}/setup`),
            settings: await get(`/v1/buildings/${id}/settings`),
            decision: await get(`/v1/buildings/${id}/decision`),
            grants: await get('/v1/unlock?status=active&limit=100'),
            visits: await get('/v1/visits?limit=4'),
            phone: await get('/v1/account/phone'),
        };
    }

    /** Without the times of the page and the decision, which are the request's. */
    const timeless = ({ page, decision: { at, ...decision }, ...data }) => ({ ...data, decision });

    async function same({ cookie, site }, id, headers) {
        const answer = await open(cookie, headers);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.headers['cache-control'], 'no-store');
        const data = JSON.parse(textOf(answer));
        assert.equal(data.page.building, id);
        assert.deepEqual(timeless(data), timeless(await calls(site, id)));
        return answer;
    }

    const buildingOf = async ({ site }) => ok(await site.get('/v1/buildings')).data[0].id;

    // SITE-1
    it('is what the calls answer to a subscriber, whatever the page\'s query says', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60 });
        const other = await resident(client);
        const signedIn = await signInBrowser(client, { email: person.email });
        const { id } = person.building;
        await same(signedIn, id);
        await same(signedIn, id, { query: `?buildingId=${other.building.id}&digits=4711&at=2020-01-01T00:00:00Z&caller=x` });
    });

    it('is what the calls answer to an account without a subscription', async () => {
        const signedIn = await signInBrowser(client);
        const id = await buildingOf(signedIn);
        const answer = await same(signedIn, id);
        assert.equal(answer.headers['ratelimit-limit'], '12');
    });

    it('is refused where the calls are: for another building in the header', async () => {
        const person = await resident(client), other = await resident(client);
        const { cookie, site } = await signInBrowser(client, { email: person.email });
        const { id } = person.building;
        for (const wanted of [other.building.id, UNKNOWN_ID, 'x']) {
            const headers = { 'x-service-building-id': wanted };
            const call = await site.get(`/v1/buildings/${id}/setup`, { headers });
            const page = await open(cookie, headers);
            assert.equal(page.status, call.status, page.text);
            assert.ok(page.status >= 400 && !page.text.includes(person.number) && !page.text.includes(other.number), page.text);
        }
        await same({ cookie, site }, id, { 'x-service-building-id': id });
    });

    it('belongs to the primary building, or to the only building that the browser\'s key opens', async () => {
        const person = await owner(client);
        const { id } = person.building, other = (await added(person)).id;
        await same(await signInBrowser(client, { email: person.email }), id);
        const bound = await signInBrowser(client, { email: person.email });
        sql(w.daemon, `UPDATE api_key SET building_id = '${other}' WHERE hash = (SELECT hash FROM browser WHERE id = '${bound.id}');`);
        const answer = await same(bound, other);
        assert.ok(!textOf(answer).includes(id) && !textOf(answer).includes(person.number), textOf(answer));
        for (const wanted of [id, UNKNOWN_ID]) {
            const headers = { 'x-service-building-id': wanted };
            const page = await open(bound.cookie, headers);
            assert.ok(page.status >= 400 && !page.text.includes(person.number), page.text);
        }
        assert.equal((await bound.site.get(`/v1/buildings/${id}/setup`)).status, 404);
    });

    it('cannot be ended by a text, and is read back as it was', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: HOSTILE, expires_in_minutes: 60 });
        const signedIn = await signInBrowser(client, { email: person.email });
        const answer = await same(signedIn, person.building.id);
        assert.doesNotMatch(textOf(answer), /</);
        assert.ok(JSON.stringify(JSON.parse(textOf(answer))).includes(JSON.stringify(HOSTILE).slice(1, -1)));
    });

    // SITE-4
    it('belongs to a building of the account that the address or the browser names, and to no other', async () => {
        const person = await owner(client), stranger = await resident(client);
        const { id } = person.building, other = (await added(person)).id;
        const signedIn = await signInBrowser(client, { email: person.email });
        const cookie = (chosen) => ({ cookie: `${COOKIE}=${signedIn.cookie}; __Host-building=${chosen}` });
        const query = (wanted) => ({ query: `?building=${wanted}` });
        const remembered = (chosen) => client.as(undefined).get('/', { headers: cookie(chosen), check: false });
        await same(signedIn, other, query(other));
        await same(signedIn, id, query(id));
        await same(signedIn, other, cookie(other));
        await same(signedIn, id, { ...cookie(other), ...query(id) });
        for (const gone of [stranger.building.id, UNKNOWN_ID, 'x', '']) {
            const answer = await remembered(gone);
            assert.deepEqual([answer.status, JSON.parse(textOf(answer)).page.building], [200, id]);
        }
        for (const wanted of [stranger.building.id, UNKNOWN_ID, 'x', '']) {
            for (const path of ['/', '/access', '/billing']) {
                const page = await client.as(undefined).get(`${path}?building=${wanted}`, { headers: cookie(other), check: false });
                assert.equal(page.status, wanted.length > 1 ? 404 : 400, page.text);
                assert.ok(!page.text.includes(person.number) && !page.text.includes(stranger.number), page.text);
            }
        }
    });

    // HTTP-52, SITE-2
    it('comes with every page for signed-in people, which asks to sign in first', async () => {
        const person = await resident(client);
        const { cookie } = await signInBrowser(client, { email: person.email });
        for (const path of ['/', '/access', '/activity', '/building', '/buildings', '/notices', '/billing', '/agents', '/webhooks', '/account', '/account?checkout=success']) {
            const answer = await client.as(undefined).get(path, { headers: { cookie: `${COOKIE}=${cookie}`, 'accept-encoding': 'br, gzip' }, check: false });
            assert.deepEqual([path, answer.status, answer.headers['cache-control'], answer.headers['content-encoding']], [path, 200, 'no-store', undefined]);
            assert.equal(JSON.parse(textOf(answer)).account.email, person.email);
            const without = await client.as(undefined).get(path, { check: false });
            assert.deepEqual([path, without.status, without.headers['cache-control']], [path, 200, 'no-cache']);
            assert.match(without.text, path.includes('?') ? /data-checkout/ : /one-time-code/);
        }
    });

    // SITE-1
    it('costs one request of the limit, and none is sent beyond it', async () => {
        const { cookie, email } = await signInBrowser(client);
        for (let left = 11; left >= 0; left--) {
            const answer = await open(cookie);
            assert.deepEqual([answer.status, answer.headers['ratelimit-remaining']], [200, `${left}`]);
        }
        const answer = await open(cookie);
        assert.equal(answer.status, 429);
        assert.ok(answer.headers['retry-after'] && !answer.text.includes(email), answer.text);
    });

    // SITE-3
    it('may be reached by a link from elsewhere, but not framed or read there', async () => {
        const { cookie } = await signInBrowser(client, { email: freshEmail() });
        const { status, headers } = await open(cookie, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', origin: 'https://elsewhere.test' });
        assert.equal(status, 200);
        assert.match(headers['content-security-policy'], /frame-ancestors 'none'/);
        assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
        assert.equal(headers['access-control-allow-origin'], undefined);
        assert.equal(headers['cache-control'], 'no-store');
    });
});
