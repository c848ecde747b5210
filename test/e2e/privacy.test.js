// engine: both
// The inventory of personal data, docs/privacy.md.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { sql } from './lib/store.js';
import { useWorld } from './lib/world.js';

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
