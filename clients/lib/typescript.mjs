// Generates the TypeScript client's types (openapi-typescript) and its table of operations.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { operationsOf } from './document.mjs';

const HEAD = '// Generated from the OpenAPI document by clients/build.mjs: do not edit.\n';

const placed = (operation, where) => operation.parameters.filter((parameter) => parameter.in === where);

/** A call without arguments makes sense. */
const argumentsOptional = (operation) => placed(operation, 'path').length === 0 && !operation.bodyRequired;

function row(operation) {
    const { method, path, answer, key, ifMatch, building, paged, reads } = operation;
    return JSON.stringify({ method, path, query: placed(operation, 'query').map(({ name }) => name), answer, key, ifMatch, building, paged, ...(reads && { reads }) });
}

function signature(operation) {
    const { id, summary, method, path, scope, ifMatch, paged } = operation;
    const args = `args${argumentsOptional(operation) ? '?' : ''}: Args<'${id}'>`;
    const options = ifMatch ? 'options: CallOptions & Versioned' : 'options?: CallOptions';
    const result = paged ? `Pages<Result<'${id}'>>` : `Promise<Result<'${id}'>>`;
    return `    /** ${summary}. \`${method} ${path}\`${scope ? `, scope \`${scope}\`` : ''} */\n    ${id}(${args}, ${options}): ${result};`;
}

/** {name: text} of the files to add to the package's sources. */
export async function typescriptSources(document, e2e) {
    // By its file: require() would take the CommonJS half, which needs the require(esm) of a later Node.js than Debian 12's.
    const { default: openapiTS, astToString } = await import(pathToFileURL(join(e2e, 'node_modules/openapi-typescript/dist/index.mjs')));
    const operations = operationsOf(document);
    return {
        'contract.ts': HEAD + astToString(await openapiTS(structuredClone(document))),
        'operations.ts': `${HEAD}import type { Pages } from './pages.js';
import type { Args, CallOptions, Operation, Result, Versioned } from './types.js';

export const OPERATIONS = {
${operations.map((operation) => `    ${operation.id}: ${row(operation)},`).join('\n')}
} as const satisfies Record<string, Operation>;

/** A method for each operation. */
export interface Methods {
${operations.map(signature).join('\n')}
}
`,
    };
}
