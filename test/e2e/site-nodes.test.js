// A browser that one node signs out is refused by the others at once, although each remembers the browsers it has seen.
// engine: postgresql, because SQLite's store has one process
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { joined } from './lib/nodes.js';
import { browser, cookieOf, signInBrowser } from './lib/site.js';
import { advance, grant, HOUR, resident, signIn, useWorld } from './lib/world.js';

const REPETITIONS = 20;

describe('browsers on two nodes', () => {
    const w = useWorld();
    const { client } = w;
    let node;
    before(async () => { node = await joined(w); });
    after(() => node.close());

    /** A browser that is signed in here and known there: {…, site, there}. */
    async function known(options) {
        const signedIn = await signInBrowser(client, options);
        const there = browser(node.client, signedIn.cookie);
        for (let i = 0; i < 3; i++) ok(await there.get('/v1/account'));
        return { ...signedIn, there };
    }
    const gone = async ({ there }) => refused(await there.get('/v1/account'), 401, 'INVALID_KEY');

    it('are signed in on both', async () => {
        const { email, there } = await known();
        assert.equal(ok(await there.get('/v1/account')).email, email);
    });

    // NODE-9
    it('are refused from the moment of their sign-out, for reads and writes', async () => {
        const person = await resident(client), made = await grant(person, { type: 'passcode' });
        for (let i = 0; i < REPETITIONS; i++) {
            const b = await known({ email: person.email, remember: i % 2 === 0 });
            ok(await b.there.get(`/v1/unlock/${made.id}`));
            ok(await b.site.delete('/v1/auth/key'));
            refused(i % 2 ? await b.there.get(`/v1/unlock/${made.id}`) : await b.there.patch(`/v1/unlock/${made.id}`, { label: 'late' }, { headers: { 'If-Match': '"0"' } }), 401, 'INVALID_KEY');
            await gone(b);
        }
    });

    // KEY-26
    it('are refused once they are removed, replaced or signed out with all others', async () => {
        const first = await known(), { email } = first;
        const second = await known({ email });
        ok(await second.site.delete(`/v1/browsers/${first.id}`));
        await gone(first);
        const third = await known({ email, cookie: second.cookie });
        await gone(second);
        ok(await (await signIn(client, email)).client.post('/v1/auth/keys/revoke-others'));
        await gone(third);
        const fourth = await known({ email, remember: true });
        ok(await fourth.site.delete('/v1/browsers'));
        await gone(fourth);
    });

    it('get one key, when both nodes renew it at once', async () => {
        const b = await known({ remember: true });
        for (let i = 0; i < 5; i++) {
            await advance(client, 13 * HOUR / 1000);
            await advance(node.client, 0); // to the same time
            const answers = await Promise.all(Array.from({ length: 8 }, (_, k) => (k % 2 ? b.site : b.there).get('/v1/account')));
            for (const answer of answers) ok(answer);
            assert.equal(answers.filter((answer) => cookieOf(answer)).length, 1);
            assert.equal(ok(await b.site.get('/v1/auth/keys')).data.length, 1);
        }
    });
});
