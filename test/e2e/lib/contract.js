// Holds every answer against the generated OpenAPI documents, and notes which operations were asked for.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { portero } from './daemon.js';
import { noteExample, noteOperation } from './hits.js';

const METHODS = ['get', 'put', 'post', 'patch', 'delete', 'options'];
const TYPE_OF_STATUS = { 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 429: 'rate_limit_error' };
// Headers that mean something to a client: an answer may carry only those its document names.
const MEANINGFUL = ['cache-control', 'etag', 'location', 'retry-after', 'idempotency-replayed', 'upgrade', 'www-authenticate',
    'x-service-building-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
const PAGE = /^text\/(html|css|javascript)/;

/** An answer's object may have no member that the document does not name. */
function closed(node) {
    if (Array.isArray(node)) return node.map(closed);
    if (node === null || typeof node !== 'object') return node;
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
    if (copy.type === 'object' && copy.properties && !('additionalProperties' in copy)) copy.unevaluatedProperties = false;
    return copy;
}

/** A body without the white space around its strings: the document describes the trimmed strings. */
function trimmed(value) {
    if (typeof value === 'string') return value.trim();
    if (Array.isArray(value)) return value.map(trimmed);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, trimmed(member)]));
}

/** Which members and types a value has, of lists the members and types of all items. */
function shapeOf(value) {
    if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item))))].sort();
    if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, shapeOf(value[key])]));
}

/** The program's document. Only the first file of a run asks the program, which takes 0.1 s of processor. */
function documentText(args) {
    const directory = process.env.PORTERO_E2E_DOCUMENTS;
    const kept = directory && join(directory, ['openapi', ...args].join(''));
    if (kept && existsSync(kept)) return readFileSync(kept, 'utf8');
    const done = portero(['openapi', ...args]);
    assert.equal(done.status, 0, done.stderr);
    if (kept) {
        writeFileSync(`${kept}.${process.pid}`, done.stdout);
        renameSync(`${kept}.${process.pid}`, kept);
    }
    return done.stdout;
}

class Document {
    constructor(prefix, args) {
        this.prefix = prefix;
        const open = JSON.parse(documentText(args));
        this.document = closed(open);
        // A document is no JSON Schema, so that JSON Schema's own says nothing about it, but takes long to compile. openapi.test.js
        // has linters for it.
        this.ajv = addFormats(new Ajv2020({ strict: false, allErrors: true, meta: false, validateSchema: false, code: { optimize: false } }));
        this.ajv.addSchema(this.document, 'doc:');
        this.open = open;
        this.validators = new Map();
        this.templates = Object.keys(this.document.paths).map((template) => ({
            template,
            fixed: !template.includes('{'),
            pattern: new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
        })).sort((a, b) => b.fixed - a.fixed);
    }

    /** {template, item} of a path, or undefined. */
    find(path) {
        const found = this.templates.find(({ pattern }) => pattern.test(path));
        return found && { template: found.template, item: this.document.paths[found.template] };
    }

    /** The items of every template that the path fits. */
    findAll(path) {
        return this.templates.filter(({ pattern }) => pattern.test(path)).map(({ template }) => this.document.paths[template]);
    }

    operations() {
        return Object.entries(this.document.paths).flatMap(([template, item]) =>
            METHODS.filter((method) => item[method]).map((method) => `${method.toUpperCase()} ${template}`));
    }

    /** The example of an operation's answer, or undefined. */
    exampleOf(operation) {
        const contents = Object.values(operation.responses).map((response) => this.resolve(response).node.content?.['application/json']);
        return contents.find((content) => content?.example)?.example;
    }

    examples() {
        return this.operations().filter((name) => {
            const [method, template] = name.split(' ');
            return this.exampleOf(this.document.paths[template][method.toLowerCase()]) !== undefined;
        });
    }

    /** Follows all references from a node: {node, pointer}. */
    resolve(node, pointer) {
        if (!node?.$ref) return { node, pointer };
        const parts = node.$ref.slice(2).split('/').map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));
        return { node: parts.reduce((at, part) => at[part], this.document), pointer: node.$ref.slice(1) };
    }

    /** `as` is 'doc:', which allows no members that it does not name, or 'open:', the document as it is. */
    validate(pointer, value, what, as = 'doc:') {
        if (as === 'open:' && this.open) {
            this.ajv.addSchema(this.open, as);
            this.open = undefined;
        }
        const at = `${as}#${encodeURI(pointer)}`;
        let validator = this.validators.get(at);
        if (!validator) {
            validator = this.ajv.compile({ $ref: at });
            this.validators.set(at, validator);
        }
        if (!validator(value)) assert.fail(`${what}: ${this.ajv.errorsText(validator.errors)}\n${JSON.stringify(value, null, 2)}`);
    }
}

const exampled = new Set(); // the operations whose example has looked like an answer
const ARGUMENTS = { '/sandbox/': ['--sandbox'], '/': [], '/app/': ['--site'] };
const documents = new Map();

/** The document of a prefix, read from the binary once a process. */
function documentWith(prefix) {
    if (!documents.has(prefix)) documents.set(prefix, new Document(prefix, ARGUMENTS[prefix]));
    return documents.get(prefix);
}

/** The documents of the sandbox, the service, and the website alone. */
export function contract() {
    return Object.keys(ARGUMENTS).map(documentWith);
}

/** The document that describes a path, and the path as it has it: the website calls the service's operations below /app. */
function documentOf(path) {
    if (path.startsWith('/sandbox/')) return { doc: documentWith('/sandbox/'), path };
    if (!path.startsWith('/app/v1/')) return { doc: documentWith('/'), path };
    const site = documentWith('/app/');
    return site.find(path) ? { doc: site, path } : { doc: documentWith('/'), path: path.slice('/app'.length) };
}

function checkEnvelope(answer, what) {
    const { error, requestId } = answer.body ?? {};
    assert.ok(error && typeof error.message === 'string' && error.message.length > 0, `${what}: no error envelope: ${answer.text}`);
    assert.match(error.code, /^[A-Z][A-Z_]+$/, what);
    const type = TYPE_OF_STATUS[answer.status] ?? (answer.status >= 500 ? 'internal_error' : 'invalid_request_error');
    assert.equal(error.type, type, what);
    assert.equal(error.retryable, answer.status === 429 || answer.status >= 500, what);
    assert.equal(typeof error.next_action, 'string', what);
    assert.equal(requestId, answer.headers['x-request-id'], `${what}: requestId is not X-Request-ID`);
}

/** Checks the rules for every answer of the service. */
function checkEverywhere(answer, what) {
    assert.match(answer.headers['x-request-id'] ?? '', /^req_[0-9a-f]{24}$/, `${what}: X-Request-ID`);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff', what);
    assert.match(answer.headers['strict-transport-security'] ?? '', /^max-age=\d+/, what);
    assert.ok(answer.headers.date, `${what}: no Date`);
    if (answer.status === 429 && answer.headers['retry-after'] !== undefined) assert.match(answer.headers['retry-after'], /^[1-9]\d*$/, what);
}

function checkHeaders(doc, response, answer, pointer, what) {
    const named = response.headers ?? {};
    for (const [name, header] of Object.entries(named)) {
        const value = answer.headers[name.toLowerCase()];
        const at = doc.resolve(header, `${pointer}/headers/${name}`);
        if (value === undefined) {
            assert.ok(!at.node.required, `${what}: header ${name} is missing`);
            continue;
        }
        if (!at.node.schema) continue;
        const type = doc.resolve(at.node.schema, '').node.type;
        const typed = type === 'integer' || type === 'number' ? Number(value) : type === 'boolean' ? value === 'true' : value;
        doc.validate(`${at.pointer}/schema`, typed, `${what}: header ${name}`);
    }
    const lower = new Set(Object.keys(named).map((name) => name.toLowerCase()));
    for (const name of MEANINGFUL) {
        if (answer.headers[name] !== undefined) assert.ok(lower.has(name), `${what}: the document does not name header ${name}`);
    }
}

/** A page, with its style sheets and scripts: no operation of a document. */
function isPage(path, answer) {
    if (path.startsWith('/v1/') || !PAGE.test(answer.headers['content-type'] ?? '')) return false;
    assert.match(answer.headers['content-security-policy'] ?? '', /default-src 'none'/, path);
    return true;
}

/** A body that the service took is one that the document takes; not the other way round, as it cannot know everything. */
function checkRequest(doc, operation, pointer, payload, what) {
    const type = 'application/json';
    const schema = operation.requestBody?.content[type]?.schema;
    if (!schema || payload === undefined) return;
    doc.validate(`${pointer}/requestBody/content/${type.replace('/', '~1')}/schema`, trimmed(JSON.parse(payload)), `${what}: request body`, 'open:');
}

/** Fails unless the answer is one that the document describes for this request, and the request one that it allows. */
export function checkAnswer(method, target, answer, payload) {
    const path = target.split('?')[0];
    const what = `${method} ${path} -> ${answer.status}`;
    checkEverywhere(answer, what);
    const { doc, path: documented } = documentOf(path);
    const isError = answer.status >= 400;
    if (isError && method !== 'HEAD') checkEnvelope(answer, what);
    if (path.startsWith('/app/v1/') && answer.body?.error?.code === 'CROSS_SITE_REQUEST') return;
    const found = doc.find(documented);
    const operation = found?.item[(method === 'HEAD' ? 'GET' : method).toLowerCase()];
    if (!operation) {
        if (isPage(path, answer)) return;
        assert.ok(answer.status === 404 || answer.status === 405 || answer.status === 426 || (isError && answer.headers.connection === 'close'),
            `${what}: the document has no such operation`);
        return;
    }
    if (method !== 'HEAD') noteOperation(`${method} ${found.template}`);
    const escaped = found.template.replace(/~/g, '~0').replace(/\//g, '~1');
    const at = `/paths/${escaped}/${(method === 'HEAD' ? 'GET' : method).toLowerCase()}`;
    if (answer.status < 300) checkRequest(doc, operation, at, payload, what);
    const key = operation.responses[answer.status] ? String(answer.status) : 'default';
    assert.ok(operation.responses[key], `${what}: the document has no such status`);
    const { node: response, pointer } = doc.resolve(operation.responses[key], `${at}/responses/${key}`);
    checkHeaders(doc, response, answer, pointer, what);
    const type = answer.headers['content-type']?.split(';')[0];
    const content = response.content ?? {};
    if (method === 'HEAD') return;
    if (Object.keys(content).length === 0) {
        assert.equal(answer.text, '', `${what}: the document describes no body`);
        return;
    }
    assert.ok(content[type], `${what}: content type ${type} is not one of ${Object.keys(content)}`);
    if (content[type].example && !exampled.has(operation) && isDeepStrictEqual(shapeOf(answer.body), shapeOf(content[type].example))) {
        exampled.add(operation);
        noteExample(`${method} ${found.template}`);
    }
    if (content[type].schema && type === 'application/json') {
        doc.validate(`${pointer}/content/${type.replace('/', '~1')}/schema`, answer.body, what);
    }
}
