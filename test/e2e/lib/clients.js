// The packages of clients/, made of the program that is tested. Several test files may ask for them at once.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { binary, cleanEnvironment, root } from './daemon.js';

/** The directory of the packages: typescript, python. */
export function clients() {
    mkdirSync(join(root, 'build'), { recursive: true });
    const args = [join(root, 'build/clients.lock'), process.execPath, join(root, 'clients/build.mjs')];
    const done = spawnSync('flock', args, { env: cleanEnvironment({ PORTERO_BIN: binary }), encoding: 'utf8', timeout: 170_000 });
    if (done.error) throw done.error;
    if (done.status !== 0) throw new Error(`clients/build.mjs: ${done.stderr}`);
    return join(root, 'build/clients');
}

let loaded;
/** The exports of the TypeScript client. */
export function portero() {
    loaded ??= import(pathToFileURL(join(clients(), 'typescript/dist/index.js')));
    return loaded;
}

/** The TypeScript client with the key and the connections of a client of the tests, which holds every answer against the contract. */
export async function clientOf(client) {
    const { Portero } = await portero();
    const fetch = async (url, { method, headers, body }) => {
        const answer = await client.as(undefined).request(method, url.slice(client.daemon.https.length), { text: body, headers });
        return new Response(answer.bytes, { status: answer.status, headers: answer.headers });
    };
    return new Portero({ baseUrl: client.daemon.https, apiKey: client.key, fetch });
}
