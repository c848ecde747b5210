// How soon a page can be used: Home with 1,000 grants, Activity with 20,000 visits, each against ten of them.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Browser } from '../test/e2e/lib/browser.js';
import { Client } from '../test/e2e/lib/client.js';
import { openSigned } from '../test/e2e/lib/site-page.js';
import { median, result, sized, stop } from './lib.mjs';
import { portero } from './peers.mjs';
import { hex, NOW } from './seed.mjs';

const ROUNDS = sized(15, 1), GRANTS = sized(1000, 20), VISITS = sized(20_000, 20);
const PAGES = [
  { path: '/', name: `Home, ${GRANTS} grants`, shown: '.door' },
  { path: '/activity', name: `Activity, ${VISITS} visits`, shown: '.day li' },
];

/** A store of two residents with ten grants each gets visits of the first, and grants and visits of the second. */
function fill(data) {
  const visits = (account, count) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
INSERT INTO visit (building_id, id, started_at, outcome, opened_by) SELECT '${hex('b', account)}', printf('%024x', i), ${NOW} + i * 60000000,
  CASE WHEN i % 3 THEN 'opened' ELSE 'missed' END, CASE WHEN i % 3 THEN 'timer' END FROM n;`;
  const grants = Array.from({ length: GRANTS - 10 }, (_, i) => `(2, X'${hex('d', 1).slice(0, 12)}${(i + 10).toString(16).padStart(12, '0')}', 1, 'Visitor ${i + 10}', 1, 0, ${NOW},
  9223372036854775807, '${String(i + 10).padStart(5, '0')}', 'more-${i}', ${i}, zeroblob(16))`);
  const input = `${visits(0, 10)}\n${visits(1, VISITS)}
INSERT INTO access_grant (building, id, type, label, enabled, version, created_at, ends_at, access_code, request_id, request_key, request_hash) VALUES ${grants.join(',\n')};
UPDATE grant_count SET enabled = ${GRANTS} WHERE building = 2;`;
  execFileSync('sqlite3', ['-bail', join(data, 'portero.db')], { input });
}

/** The time, in ms, from the start of the navigation to the first moment after what is shown in which the page does a task. */
async function usable(page, url, shown) {
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(shown).first().waitFor();
  return page.evaluate(() => new Promise((resolve) => { setTimeout(() => resolve(performance.now()), 0); }));
}

/** `data`: a SQLite store with two residents and ten grants each. */
export async function pages(data) {
  fill(data);
  const server = await portero(data, { free: true });
  const client = new Client({ https: server.https });
  const browser = await Browser.start();
  try {
    const open = (account) => openSigned(browser, { client, daemon: client.daemon }, { email: `resident${account}@example.com` }, '/', { viewport: { width: 390, height: 800 } });
    const few = await open(0), many = await open(1);
    for (const { path, name, shown } of PAGES) {
      const times = { few: [], many: [] };
      for (let round = 0; round <= ROUNDS; round++) { // the first only warms up
        const few_ms = await usable(few, server.https + path, shown), many_ms = await usable(many, server.https + path, shown);
        if (round === 0) continue;
        times.few.push(few_ms);
        times.many.push(many_ms);
      }
      result(`${name}, until it can be used`, median(times.many), 'ms', median(times.few), 'ten', '<= 1.1',
        median(times.many.map((ms, i) => ms / times.few[i])));
    }
  } finally {
    await browser.close();
    client.close();
    await stop(server);
  }
}
