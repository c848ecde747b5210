// A script or style sheet of the pages, beside nginx that sends the same bytes with the same fields from a file.
import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { compare, sideBySide, stop } from './lib.mjs';
import { nginx, portero, root } from './peers.mjs';

/** {headers, body} of an answer. */
function ask(url, headers) {
  return new Promise((resolve, reject) => {
    get(url, { headers, rejectUnauthorized: false }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part)).on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts) }));
    }).on('error', reject);
  });
}

export async function assets(data, work) {
  const mine = await portero(data);
  const page = (await ask(`${mine.https}/account`, {})).body.toString();
  const path = page.match(/"(\/a\/site-style[^"]+)"/)[1];
  const site = join(work, 'site');
  mkdirSync(join(site, 'a'), { recursive: true });
  for (const coding of ['br', 'identity']) {
    const answer = await ask(mine.https + path, { 'Accept-Encoding': coding });
    writeFileSync(join(site, path), answer.body);
    const fields = ['cache-control', 'etag', 'vary', 'content-encoding', 'x-content-type-options', 'strict-transport-security', 'content-security-policy',
      'cross-origin-opener-policy', 'cross-origin-resource-policy', 'referrer-policy', 'x-request-id'];
    const other = await nginx(join(work, `nginx-${coding}`), { site, fields: fields.filter((name) => answer.headers[name]).map((name) => [name, answer.headers[name]]) }, data);
    const load = (server, url) => ({ url, pid: server.pid, script: join(root, 'bench/load/asset.lua'), args: [path, coding] });
    for (const [name, scheme] of [['', 'http'], [', TLS', 'https']]) {
      const runs = await sideBySide({ mine: load(mine, mine[scheme]), nginx: load(other, other[scheme]) }, { seconds: 2 });
      compare(`GET /a/…css, ${coding}, ${answer.body.length} bytes${name}`, runs.mine, runs.nginx, `nginx, a file${name}`, '>= 0.9');
    }
    await stop(other);
  }
  await stop(mine);
}
