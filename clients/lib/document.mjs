// The operations of the OpenAPI document, as both clients' generators see them.
const METHODS = ['get', 'post', 'patch', 'delete'];
/** A stream is no single answer: each client has a method of its own for it, written by hand. */
const isStream = (answer) => answer.content?.['text/event-stream'] !== undefined;
const ANSWERS = { 'application/json': 'json', 'text/markdown': 'text', 'audio/wav': 'bytes' };

/** Follows a reference within the document. */
export function follow(document, node) {
    if (!node.$ref) return node;
    return node.$ref.slice(2).split('/').reduce((at, part) => at[part.replace(/~1/g, '/').replace(/~0/g, '~')], document);
}

function successes(document, operation) {
    return Object.entries(operation.responses).filter(([status]) => /^2\d\d$/.test(status)).map(([, answer]) => follow(document, answer));
}

/** The schema of an answer's JSON, without repetitions. */
function schemasOf(answers) {
    const schemas = answers.map((answer) => answer.content?.['application/json']?.schema).filter(Boolean);
    return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function answerOf(id, answers) {
    const types = new Set(answers.flatMap((answer) => Object.keys(answer.content ?? {})));
    const kinds = [...types].map((type) => ANSWERS[type]);
    if (kinds.length !== 1 || !kinds[0]) throw new Error(`${id} answers ${[...types]}: add the type to clients/lib/document.mjs`);
    return kinds[0];
}

/** {id, method, path, summary, description, parameters, body, bodyRequired, answer, schemas, key, keyRequired, ifMatch, building, paged, reads} of each operation that
 *  a method of a client stands for, in the order of the document. */
export function operationsOf(document) {
    const all = Object.entries(document.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })));
    const plain = all.map((operation) => ({ operation, answers: successes(document, operation) }))
        .filter(({ answers }) => answers.length > 0 && !answers.some(isStream));
    return plain.map(({ operation, answers }) => {
        const { operationId: id, path, method } = operation;
        const parameters = operation.parameters.map((parameter) => follow(document, parameter));
        const named = (name) => parameters.find((parameter) => parameter.in === 'header' && parameter.name === name);
        const schemas = schemasOf(answers);
        const ifMatch = named('If-Match') !== undefined;
        return {
            id, path, method: method.toUpperCase(), summary: operation.summary, parameters,
            scope: /`([a-z]+:[a-z]+)`/.exec(/Requires an API key with the scope `[a-z:]+`/.exec(operation.description ?? '')?.[0] ?? '')?.[1],
            body: operation.requestBody?.content['application/json'].schema,
            bodyRequired: operation.requestBody?.required === true,
            answer: answerOf(id, answers), schemas,
            key: named('Idempotency-Key') !== undefined, ifMatch,
            building: named('X-Service-Building-Id') !== undefined && !path.includes('{buildingId}'),
            paged: schemas.some((schema) => follow(document, schema).properties?.pagination !== undefined),
            reads: ifMatch ? all.find((other) => other.path === path && other.method === 'get')?.operationId : undefined,
        };
    });
}
