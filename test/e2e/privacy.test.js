// engine: both
// The inventory of personal data, docs/privacy.md, the operator's reading of it, and mails with less of it.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { ok } from './lib/client.js';
import { sql } from './lib/store.js';
import { portero } from './lib/daemon.js';
import { admin } from './lib/buildings.js';
import { changeSettings, eventually, freshEmail, grant, message, resident, signIn, useWorld, visit } from './lib/world.js';

/** The columns `table.column` of rows that begin with a table and its columns. */
function inventory() {
    const text = readFileSync(new URL('../../docs/privacy.md', import.meta.url), 'utf8');
    const words = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word);
    return text.split('\n').filter((line) => /^\| `\w+` \| `/.test(line)).flatMap((line) => {
        const [, table, columns] = line.split('|');
        return words(columns).map((column) => `${words(table)[0]}.${column}`);
    });
}

const columnsOf = (daemon) => sql(daemon, daemon.dsn
    ? `SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped;`
    : "SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%';").trim().split('\n');

describe('the inventory of personal data', () => {
    const w = useWorld();

    // ACCOUNT-30
    it('names every column of the schema once', () => {
        const named = inventory(), columns = columnsOf(w.daemon);
        assert.ok(columns.length > 400);
        assert.deepEqual(columns.filter((column) => !named.includes(column)).sort(), [], 'say in docs/privacy.md whether it holds something of a person');
        assert.deepEqual(named.filter((column) => !columns.includes(column)).sort(), [], 'docs/privacy.md names a column that does not exist');
        assert.deepEqual(named.filter((column, i) => named.indexOf(column) !== i), [], 'docs/privacy.md names it twice');
    });
});

describe('an operator who reads what is held of a person', () => {
    const w = useWorld();

    it('leaves a line of the log for each command, with IDs alone', async () => {
        const person = await resident(w.client);
        const caller = '+15550107734';
        await grant(person, { type: 'passcode', access_code: '7391', label: 'Cleaner Kim' });
        await visit(w.client, { to: person.number, digits: '7391', from: caller });
        const told = (...args) => {
            const done = admin(w, ...args);
            assert.equal(done.status, 0, done.stderr);
            return JSON.parse(done.stdout);
        };
        const [call] = told('call', 'list', '--number', caller).data;
        told('call', 'show', call.id);
        told('call', 'list', '--building', call.building_id);
        told('member', 'list', '--building', call.building_id);
        const { account_id: account } = told('call', 'show', call.id);
        const email = sql(w.daemon, `SELECT email FROM account WHERE id = '${account}';`).trim();
        told('account', 'show', email);
        told('account', 'list');
        told('greeting', 'list', '--building', call.building_id);
        told('delivery', 'list', '--account', email);
        const exported = portero(['admin', 'account', 'export', account, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(exported.status, 0, exported.stderr);
        const refused = await w.client.get('/v1/unlock', { key: person.key + 'x' });
        assert.equal(told('request', refused.headers['x-request-id']).request_id, refused.headers['x-request-id']);
        told('status');
        for (const line of [
            'operation=adminListCalls result=done ',
            `operation=adminGetCall call=${call.id} result=done `,
            `operation=adminListCalls building=${call.building_id} result=done `,
            `operation=adminListMembers building=${call.building_id} result=done `,
            `operation=adminShowAccount account=${account} result=done `,
            'operation=adminListAccounts result=done ',
            `operation=adminListGreetings building=${call.building_id} result=done `,
            `operation=adminListDeliveries account=${account} result=done `,
            `operation=adminNoteExport account=${account} result=done `,
            `operation=adminShowRequest found=${refused.headers['x-request-id']} result=done `,
        ]) assert.ok(await w.daemon.logged(new RegExp(`info operator ${line}request=req_[0-9a-f]{24}\n`)), line);
        const lines = w.daemon.stderr.split('\n').filter((line) => line.includes('operator operation=')).join('\n');
        for (const secret of [caller, '7391', 'Kim', '@']) assert.ok(!lines.includes(secret), secret);
        assert.doesNotMatch(lines, /adminStatus|adminGetStatus/);
    });
});

describe('what residents and guests are told of their data', () => {
    const url = 'https://house.example/privacy', contact = 'Kim & Sons <privacy@house.example>';
    const w = useWorld({ config: { privacy: { url, contact } } });
    const WORDS = { en: 'How we treat your data', es: 'Cómo tratamos sus datos', fr: 'Comment nous traitons vos données' };
    const page = async (path, language) => {
        const answer = await w.client.as(undefined).get(path, { headers: { accept: 'text/html', 'accept-language': language }, check: false });
        assert.equal(answer.status, 200, answer.text);
        return answer.text;
    };
    const line = (words) => `<p class="quiet small"><a href="${url}">${words}</a> · Kim &amp; Sons &lt;privacy@house.example&gt;</p>`;

    it('stands on the sign-in page and on the page of a guest, in each language', async () => {
        const person = await resident(w.client);
        const made = await grant(person, { type: 'passcode', label: 'Anna', expires_in_minutes: 60 });
        const link = ok(await person.client.post(`/v1/unlock/${made.id}/link`), 201);
        for (const [language, words] of Object.entries(WORDS)) {
            for (const path of ['/', new URL(link.url).pathname]) {
                const text = await page(path, language);
                assert.ok(text.includes(line(words)), `${path} ${language}: ${text}`);
                assert.ok(text.trimEnd().endsWith('</html>'), path);
            }
        }
    });

    it('ends mails', async () => {
        const email = freshEmail();
        await signIn(w.client, email);
        const { text } = await message(w.client, email);
        assert.ok(text.endsWith(`\n\nHow we treat your data: ${url}\n${contact}\n`), text);
    });

    it('is checked', () => {
        const path = `${w.daemon.configPath}.wrong`;
        const own = readFileSync(w.daemon.configPath, 'utf8');
        assert.ok(own.includes(url));
        writeFileSync(path, own.replace(url, 'house.example'));
        const done = portero(['check-config', '--config', path]);
        rmSync(path);
        assert.equal(done.status, 2);
        assert.match(done.stderr, /privacy\.url/);
    });
});

describe('a service without a word on personal data', () => {
    const w = useWorld();

    it('shows no line of it', async () => {
        const { text } = await w.client.as(undefined).get('/', { headers: { accept: 'text/html' }, check: false });
        assert.ok(!text.includes('<p class="quiet small"><a'), text);
        const email = freshEmail();
        await signIn(w.client, email);
        assert.ok((await message(w.client, email)).text.endsWith('Do not share the code with anyone.\n'));
    });
});

describe('mails with less personal data', () => {
    const w = useWorld({ config: { public_url: 'https://door.example', mail: { code_in_subject: false, sound: false } } });

    it('have the code in the text alone, which signs in', async () => {
        const email = freshEmail();
        await signIn(w.client, email);
        const { subject, text } = await message(w.client, email);
        assert.equal(subject, 'Your Portero sign-in code');
        assert.match(text, /^\d{6} is your Portero sign-in code\.$/m);
    });

    it('link to a message in place of its sound and number', async () => {
        const person = await resident(w.client);
        const caller = '+15550107735';
        await changeSettings(person, { ring: { message: true } });
        const { call_id } = await visit(w.client, { to: person.number, resident: 'busy', message_seconds: 2, from: caller });
        const mail = await eventually(async () => {
            const found = await message(w.client, person.email);
            return found.subject === 'A visitor left a message' && found;
        }, 'the mail');
        assert.match(mail.text, /Listen to it: https:\/\/door\.example\/activity\?building=[0-9a-f]{24}$/m);
        assert.ok(!mail.text.includes(caller) && !mail.text.includes(call_id), mail.text);
        assert.equal(sql(w.daemon, "SELECT count(*) FROM call_message;").trim(), '1');
    });
});
