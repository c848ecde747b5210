// The calendar file of a guest's link, read by another's parser: it has the moments of the decision.
// engine: sqlite
import { before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import ICAL from 'ical.js';
import { idempotencyKey, ok } from './lib/client.js';
import { sql } from './lib/store.js';
import { advance, changeSettings, DAY, grant, HOUR, iso, now, resident, useWorld } from './lib/world.js';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

describe('the calendar of a guest', () => {
    const w = useWorld();
    const { client } = w;
    let who;
    before(async () => {
        who = await resident(client);
        await changeSettings(who, { timezone: 'Europe/Madrid' });
    });

    const make = async (body) => ok(await who.client.post('/v1/passes', body, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
    const linkOf = async ({ id }) => new URL(ok(await who.client.post(`/v1/unlock/${id}/link`), 201).url).pathname;
    const file = (path) => client.get(`${path}/calendar.ics`, { check: false });

    /** The events of a file until a moment: [start, end] in milliseconds, in order. */
    function events(text, until) {
        const calendar = new ICAL.Component(ICAL.parse(text));
        const zones = calendar.getAllSubcomponents('vtimezone').map((zone) => new ICAL.Timezone(zone));
        const found = [];
        for (const component of calendar.getAllSubcomponents('vevent')) {
            const event = new ICAL.Event(component);
            const zone = zones.find(({ tzid }) => tzid === component.getFirstProperty('dtstart').getParameter('tzid'));
            if (zone) [event.startDate, event.endDate].forEach((time) => { time.zone = zone; });
            const span = event.endDate.toUnixTime() - event.startDate.toUnixTime();
            if (!event.isRecurring()) {
                found.push([event.startDate.toUnixTime() * 1000, event.endDate.toUnixTime() * 1000]);
                continue;
            }
            const all = event.iterator();
            for (let at = all.next(); at && at.toUnixTime() * 1000 < until; at = all.next()) {
                if (zone) at.zone = zone;
                const end = at.clone();
                end.addDuration(ICAL.Duration.fromSeconds(span));
                found.push([at.toUnixTime() * 1000, end.toUnixTime() * 1000]);
            }
        }
        return found.filter(([start]) => start < until).sort((a, b) => a[0] - b[0]);
    }

    const decide = async (at, digits) => ok(await who.client.get(`/v1/buildings/${who.building.id}/decision?${new URLSearchParams({ at: iso(at), ...digits ? { digits } : {} })}`)).verdict === 'release';

    // GRANT-38
    it('has the moments at which the door opens: weekly, over midnight, across a change of the clocks, cut by start and end', async () => {
        const at = Math.floor(await now(client) / 1000) * 1000; // a file has whole seconds
        const change = Date.parse('2027-03-28T01:00:00Z'); // the clocks of Madrid
        for (const body of [
            { windows: [{ days: ['tuesday', 'friday'], start: '09:00', end: '12:00' }] },
            { windows: [{ days: DAYS, start: '22:00', end: '06:00' }], until: iso(at + 20 * DAY) },
            { windows: [{ days: ['sunday', 'saturday'], start: '22:30', end: '06:15' }, { days: ['monday'], start: '07:00', end: '08:00' }], from: iso(change - 10 * DAY), until: iso(change + 10 * DAY) },
            { windows: [{ days: ['wednesday'], start: '18:00', end: '18:00' }], timezone: 'America/New_York' },
            { from: iso(at + 2 * DAY), until: iso(at + 3 * DAY + HOUR) },
        ]) {
            const pass = await make(body);
            const path = await linkOf(pass);
            const answer = await file(path);
            assert.equal(answer.status, 200);
            assert.match(answer.headers['content-type'], /^text\/calendar; charset=utf-8/);
            const text = String(answer.text ?? answer.body);
            assert.ok(text.endsWith('END:VCALENDAR\r\n') && !/[^\r]\n/.test(text));
            assert.ok(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75));
            assert.ok(!text.includes(pass.access_code) && !text.includes(path.slice(3)), 'no secret');
            const found = events(text, at + 200 * DAY);
            assert.ok(found.length > 0, text);
            const some = [...found.slice(0, 4), ...found.slice(-4), ...found.filter(([start]) => Math.abs(start - change) < 3 * DAY)];
            for (const [start, end] of some) {
                const told = `${JSON.stringify(body)} ${iso(start)} ${iso(end)}\n${text}`;
                if (start > at + HOUR) assert.deepEqual([await decide(start - 1000, pass.access_code), await decide(start, pass.access_code)], [false, true], told);
                if (end > at + HOUR) assert.deepEqual([await decide(end - 1000, pass.access_code), await decide(end, pass.access_code)], [true, false], told);
            }
            // Nothing is left out: while it is shut, the next opening is the next event's.
            for (const [i, [, end]] of found.slice(0, 10).entries()) {
                const told = ok(await who.client.get(`/v1/buildings/${who.building.id}/decision?at=${iso(end)}`)).grants.find(({ id }) => id === pass.id);
                if (found[i + 1] && end > at && told?.next_at) assert.equal(told.next_at, iso(found[i + 1][0]), text);
            }
            ok(await who.client.delete(`/v1/passes/${pass.id}`));
            assert.equal((await file(path)).status, 404);
        }
    });

    it('escapes and folds what the building is called, and is linked from the page in each language', async () => {
        const one = await resident(client);
        const evil = `Casa; "Ñandú", 5\\b\nBEGIN:VEVENT\r${'é'.repeat(60)}`;
        sql(w.daemon, `UPDATE building SET label = '${evil}' WHERE id = '${one.building.id}';`);
        const made = await grant(one, { type: 'routine', days: ['monday'], start: '09:00', end: '12:00', timezone: 'UTC' });
        const path = new URL(ok(await one.client.post(`/v1/unlock/${made.id}/link`), 201).url).pathname;
        const answer = await file(path);
        const text = String(answer.text ?? answer.body);
        assert.ok(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75), text);
        const all = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent');
        assert.deepEqual(all.map((event) => event.getFirstPropertyValue('summary')), [evil.replace('\r', '')]);
        for (const [language, words] of [['en', 'Add it to your calendar'], ['es', 'Añadir a su calendario'], ['fr', 'Ajouter à votre calendrier']]) {
            const page = await client.get(`${path}?lang=${language}`);
            const html = String(page.text ?? page.body);
            assert.ok(html.includes(`<a class="button" href="${path.slice(3)}/calendar.ics">${words}</a>`), html.slice(-3000));
        }
    });

    it('is not there for a grant that opens at any time, nor for a link that is over', async () => {
        const at = await now(client);
        const always = await linkOf(await make({}));
        assert.equal((await file(always)).status, 404);
        assert.doesNotMatch(String((await client.get(always)).text ?? ''), /calendar\.ics/);
        const short = await linkOf(await make({ until: iso(at + HOUR) }));
        assert.equal((await file(short)).status, 200);
        await advance(client, 3601);
        assert.equal((await file(short)).status, 404);
        assert.equal((await file(`/g/${'x'.repeat(26)}`)).status, 404);
    });
});
