// The OpenAPI documents, held against two public linters with their recommended rules: no error, no warning.
// engine: sqlite, because the documents are not in the store
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ok } from './lib/client.js';
import { contract } from './lib/contract.js';
import { portero, root } from './lib/daemon.js';
import { useWorld } from './lib/world.js';

const PUBLIC_URL = 'https://door.portero.test';
// The contract's own paths, in which neither parameter takes the other path's word: IDs are 24 hexadecimal characters.
const AMBIGUOUS = /^no-ambiguous-paths: .* `\/v1\/buildings\/\{buildingId\}\/\w+` and `\/v1\/buildings\/operations\/\{id\}`/;
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** Redocly's complaints: "rule: message". */
async function redocly(source) {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    return problems.map((p) => `${p.ruleId}: ${p.message} ${p.location?.[0]?.pointer}`).filter((problem) => !AMBIGUOUS.test(problem));
}

/** Spectral's complaints. */
async function spectral(source) {
    const linter = new spectralCore.Spectral();
    linter.setRuleset({ extends: [rulesets.oas], rules: {} });
    const problems = await linter.run(new spectralCore.Document(source, parsers.Json));
    return problems.map((p) => `${p.code}: ${p.message} ${p.path.join('.')}`);
}

const LINTERS = { redocly, spectral };

function printed(...args) {
    const done = portero(['openapi', ...args]);
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
}

/** Follows a node's reference. */
function resolve(document, node) {
    if (!node.$ref) return node;
    return node.$ref.slice(2).split('/').reduce((at, part) => at[part], document);
}

/** Each operation, with the references of its parameters and answers resolved. */
function operations(document) {
    return Object.entries(document.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({
        ...item[method],
        name: `${method.toUpperCase()} ${path}`,
        parameters: item[method].parameters.map((parameter) => resolve(document, parameter)),
        responses: Object.fromEntries(Object.entries(item[method].responses).map(([status, answer]) => [status, resolve(document, answer)])),
    })));
}

describe('the OpenAPI documents', () => {
    // Looking at the documents takes seconds, and an idle connection would end meanwhile.
    const w = useWorld({ config: { public_url: PUBLIC_URL, http: { idle_timeout_s: 600 } } });
    const documents = {};
    before(async () => {
        documents.served = (await w.client.get('/openapi.json')).text;
        documents.printed = printed();
        documents.sandbox = printed('--sandbox');
        documents.site = printed('--site');
    });

    for (const [name, lint] of Object.entries(LINTERS)) {
        it(`leave ${name} nothing to say`, async () => {
            for (const which of ['served', 'sandbox', 'site']) assert.deepEqual(await lint(documents[which]), [], which);
        });

        it(`would hear from ${name} of an operation without answers or description`, async () => {
            const document = JSON.parse(documents.served);
            const operation = document.paths['/v1/logs'].get;
            operation.responses = {};
            delete operation.description;
            delete operation.summary;
            assert.notDeepEqual(await lint(JSON.stringify(document)), []);
        });
    }

    it('describe every operation, group, parameter and answer', () => {
        for (const source of Object.values(documents)) {
            const document = JSON.parse(source);
            for (const tag of document.tags) assert.ok(tag.description, `group ${tag.name}`);
            for (const operation of operations(document)) {
                assert.ok(operation.summary && operation.description, operation.name);
                for (const parameter of operation.parameters) assert.ok(parameter.description, `${operation.name}: ${parameter.name}`);
                for (const [status, answer] of Object.entries(operation.responses)) assert.ok(answer.description, `${operation.name}: ${status}`);
            }
        }
    });

    it('tell a body that changes nothing from one that changes something', () => {
        const document = JSON.parse(documents.served);
        const { UnlockUpdate, SettingsPatch } = document.components.schemas;
        for (const schema of [...UnlockUpdate.anyOf.map((of) => resolve(document, of)), SettingsPatch]) assert.equal(schema.minProperties, 1);
    });

    it('tell which fields of a grant belong together', () => {
        const document = JSON.parse(documents.served);
        const ajv = addFormats(new Ajv2020({ strict: false }));
        ajv.addSchema(document, 'doc:');
        const takes = (name) => ajv.compile({ $ref: `doc:#/components/schemas/${name}` });
        const [create, update] = [takes('UnlockCreate'), takes('UnlockUpdate')];
        const hours = { start: '09:00', end: '12:00' };
        const week = { days: ['Tuesday'], ...hours, timezone: 'Europe/Berlin' };
        const till = { ends_at: '2026-11-21T00:00:00Z' };
        for (const body of [
            { type: 'timer', expires_in_minutes: 5 }, { type: 'timer', ...till, starts_at: '2026-11-20T00:00:00+01:00', remaining_uses: null },
            { type: 'passcode' }, { type: 'passcode', access_code: '0', ...till }, { type: 'routine', ...week }, { type: 'routine', ...week, days: ['SUNDAY', 'saturday'] },
        ]) assert.ok(create(body), JSON.stringify(body));
        for (const body of [
            {}, { expires_in_minutes: 5 }, { type: 'timer' }, { type: 'timer', expires_in_minutes: 5, ...till }, { type: 'timer', expires_in_minutes: 5, access_code: '12' },
            { type: 'passcode', expires_in_minutes: 5, ...till }, { type: 'passcode', ...week }, { type: 'passcode', starts_at: till.ends_at },
            { type: 'routine' }, { type: 'routine', ...week, remaining_uses: 1 }, { type: 'routine', ...week, days: ['someday'] }, { type: 'weekly', ...week },
        ]) assert.ok(!create(body), JSON.stringify(body));
        for (const body of [{ label: 'a' }, { enabled: true, ...till }, { ends_at: null, access_code: '12' }, hours, { days: ['friday'] }]) assert.ok(update(body), JSON.stringify(body));
        for (const body of [{}, { start: '09:00' }, { days: ['friday'], remaining_uses: 1 }, { access_code: '12', starts_at: till.ends_at }, { expires_in_minutes: 5, ...till }, { type: 'timer' }]) {
            assert.ok(!update(body), JSON.stringify(body));
        }
    });

    // DOC-4
    it('are short enough to be read by a program that pays for each word', () => {
        assert.ok(documents.served.length < 300_000, `${documents.served.length} bytes`);
        const compressed = gzipSync(documents.served, { level: 9 }).length;
        assert.ok(compressed < 34_900, `compressed: ${compressed}`);
    });

    // DOC-3
    it('name their parts so that generators can make identifiers of the names', () => {
        for (const which of ['served', 'sandbox', 'site']) {
            for (const parts of Object.values(JSON.parse(documents[which]).components)) for (const name of Object.keys(parts)) assert.match(name, /^[A-Za-z]/, which);
        }
    });

    it('name shared parts by the same four digits of their content, so that one more part renames no other', () => {
        for (const which of ['served', 'sandbox', 'site']) {
            const { parameters, headers, responses } = JSON.parse(documents[which]).components;
            for (const parts of [parameters, headers, responses]) for (const name of Object.keys(parts ?? {})) assert.match(name, /^\w[\w-]*_[0-9a-f]{4}$/, which);
        }
    });

    // DOC-1
    it('show a body that is taken for every operation of the contract that takes one', () => {
        for (const operation of operations(JSON.parse(documents.served))) {
            const content = operation.requestBody?.content['application/json'];
            assert.ok(!content || content.example, operation.name);
        }
    });

    it('show only bodies that their own schemas take', () => {
        for (const [which, source] of Object.entries(documents)) {
            const document = JSON.parse(source);
            const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
            ajv.addSchema(document, 'doc:');
            for (const operation of operations(document)) {
                const content = operation.requestBody?.content['application/json'];
                if (!content?.example) continue;
                const valid = ajv.compile(content.schema.$ref ? { $ref: `doc:${content.schema.$ref}` } : content.schema);
                assert.ok(valid(content.example), `${which} ${operation.name}: ${ajv.errorsText(valid.errors)}`);
            }
        }
    });

    // DOC-2
    it('show an answer of every operation that gives JSON by a schema, which the schema takes, and no more', () => {
        for (const { document } of contract()) {
            const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
            ajv.addSchema(document, 'doc:');
            for (const operation of operations(document)) {
                const given = Object.entries(operation.responses).filter(([status]) => status < 300).map(([, answer]) => answer.content?.['application/json']);
                if (!given.some((content) => content?.schema)) continue;
                const { schema, example } = given.find((content) => content?.example) ?? {};
                assert.ok(example, operation.name);
                const valid = ajv.compile({ $ref: `doc:${schema.$ref}` });
                assert.ok(valid(example), `${operation.name}: ${ajv.errorsText(valid.errors)}`);
            }
        }
    });

    it('have each example that is kept for an operation', () => {
        const kept = Object.keys(JSON.parse(readFileSync(join(root, 'src/resources/examples.json'), 'utf8')));
        const named = new Set(Object.values(documents).flatMap((source) => operations(JSON.parse(source)).map((operation) => operation.operationId)));
        assert.deepEqual(kept.filter((id) => !named.has(id)), []);
    });

    it('name the server where it is known, and its own machine nowhere', () => {
        const served = JSON.parse(documents.served);
        assert.deepEqual(served.servers, [{ url: PUBLIC_URL }]);
        assert.equal(served.externalDocs.url, `${PUBLIC_URL}/docs/agents`);
        assert.deepEqual(JSON.parse(documents.printed).servers, [{ url: '/' }]);
        assert.deepEqual(JSON.parse(printed('--url', PUBLIC_URL)), served);
    });

    it('are found at the contract\'s address', async () => {
        const found = await w.client.get('/v1/openapi.json');
        assert.equal(found.status, 302);
        assert.equal(found.headers.location, `${PUBLIC_URL}/openapi.json`);
        assert.equal(ok(await w.client.get('/openapi.json')).openapi, '3.1.0');
    });
});
