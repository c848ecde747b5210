// Makes the packages of the clients, ready to publish, from the service's own document.
// usage: flock build/clients.lock node clients/build.mjs      into build/clients, unless they are there
// Nothing that is generated is committed: the program that is built is the source.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonSources } from './lib/python.mjs';
import { typescriptSources } from './lib/typescript.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const e2e = join(root, 'test/e2e');
const out = join(root, 'build/clients');
const version = /^VERSION := ([0-9.]+)/m.exec(readFileSync(join(root, 'build.mk'), 'utf8'))[1];

function run(command, args, options) {
    const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26, ...options });
    if (done.error) throw done.error;
    if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}:\n${done.stdout}${done.stderr}`);
    return done.stdout;
}

/** Copies a package's directory, adds generated sources below `sources`, and sets the version. */
function stage(name, sources, files, manifest) {
    const directory = join(out, name);
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    cpSync(join(root, 'clients', name), directory, { recursive: true, filter: (path) => !/\/(__pycache__|node_modules|tests)$/.test(path) });
    cpSync(join(root, 'LICENSE'), join(directory, 'LICENSE'));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, sources, file), text);
    const path = join(directory, manifest);
    writeFileSync(path, readFileSync(path, 'utf8').replace('0.0.0', version));
    return directory;
}

/** Changes with everything that the packages are made of. */
function stamp(text) {
    const hash = createHash('sha256').update(text).update(version);
    const names = readdirSync(join(root, 'clients'), { recursive: true }).filter((name) => !name.includes('__pycache__')).sort();
    for (const path of names.map((name) => join(root, 'clients', name)).filter((path) => statSync(path).isFile())) hash.update(path).update(readFileSync(path));
    return hash.digest('hex');
}

const text = run(resolve(process.env.PORTERO_BIN ?? join(root, 'build/portero')), ['openapi']);
const mark = join(out, 'stamp');
const wanted = stamp(text);
if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) process.exit(0);
rmSync(mark, { force: true });
const document = JSON.parse(text);
const typescript = stage('typescript', 'src', await typescriptSources(document, e2e), 'package.json');
run(process.execPath, [createRequire(join(e2e, 'package.json')).resolve('typescript/bin/tsc'), '-p', typescript,
    '--typeRoots', join(e2e, 'node_modules/@types'), '--noEmitOnError']);
stage('python', 'src/portero', pythonSources(document), 'pyproject.toml');
const homeassistant = stage('homeassistant', '.', {}, 'custom_components/portero/manifest.json');
for (const name of ['icon.png', 'icon@2x.png']) cpSync(join(root, 'web/site/icons/icon-512.png'), join(homeassistant, 'custom_components/portero/brand', name));
writeFileSync(mark, wanted);
