// Generates the Python client's types (TypedDict), its table of operations and its methods.
import { follow, operationsOf } from './document.mjs';

const HEAD = '# Generated from the OpenAPI document by clients/build.mjs: do not edit.\n';
const KEYWORDS = new Set(['from', 'in', 'is', 'not', 'and', 'or', 'if', 'else', 'for', 'class', 'def', 'del', 'import', 'pass', 'return', 'with', 'global', 'lambda', 'None', 'True', 'False']);

const snake = (name) => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/-/g, '_').toLowerCase();
/** A name that may be an argument's. */
const argument = (name) => (KEYWORDS.has(name) ? `${snake(name)}_` : snake(name));
const nameOf = (reference) => reference.split('/').at(-1);
const union = (types) => {
    const unique = [...new Set(types)];
    return unique.length === 1 ? unique[0] : `Union[${unique.join(', ')}]`;
};
const SCALARS = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

/** Turns schemas into types; objects inside others become classes with a name of their own. */
class Types {
    constructor(reference = (name) => `"${name}"`) {
        this.reference = reference;
        this.classes = [];
        this.aliases = [];
    }

    /** The type of a schema; `name` is the name of a class, if it needs one. */
    of(schema, name) {
        if (schema.$ref) return this.reference(nameOf(schema.$ref));
        if (schema.const !== undefined) return `Literal[${this.literal(schema.const)}]`;
        if (schema.enum) return union([`Literal[${schema.enum.filter((value) => value !== null).map((value) => this.literal(value)).join(', ')}]`, ...(schema.enum.includes(null) ? ['None'] : [])]);
        const choices = schema.properties ? undefined : schema.oneOf ?? schema.anyOf;
        if (choices) return union(choices.map((choice, i) => this.of(choice, `${name}${i + 1}`)));
        const types = [schema.type ?? 'any'].flat();
        return union(types.map((type) => this.ofType(type, schema, name)));
    }

    ofType(type, schema, name) {
        if (type === 'array') return `List[${this.of(schema.items ?? {}, `${name}Item`)}]`;
        if (type === 'object') return schema.properties ? this.object(schema, name) : 'Dict[str, Any]';
        return SCALARS[type] ?? 'Any';
    }

    literal(value) {
        return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
    }

    /** A TypedDict; members that may be absent are in a class of their own, as Python 3.9 has no NotRequired. */
    object(schema, name) {
        const members = Object.entries(schema.properties).map(([member, property]) => {
            if (!/^[a-z_][a-z0-9_]*$/i.test(member)) throw new Error(`${name}.${member} is no Python name`);
            const type = this.of(property, name + member.split('_').map((part) => part[0].toUpperCase() + part.slice(1)).join(''));
            return { member, type, line: `    ${member}: ${type}`, required: !!schema.required?.includes(member) };
        });
        const keywords = members.filter(({ member }) => KEYWORDS.has(member));
        if (keywords.length > 0) return this.objectWithKeywords(schema, name, keywords);
        const body = (lines) => (lines.length > 0 ? lines.join('\n') : '    pass');
        const required = members.filter((member) => member.required).map(({ line }) => line);
        const optional = members.filter((member) => !member.required).map(({ line }) => line);
        const doc = schema.description ? [`    """${this.text(schema.description)}"""`] : [];
        if (required.length === 0) this.classes.push(`class ${name}(TypedDict, total=False):\n${body([...doc, ...optional])}`);
        else if (optional.length === 0) this.classes.push(`class ${name}(TypedDict):\n${body([...doc, ...required])}`);
        else this.classes.push(`class _${name}(TypedDict):\n${body(required)}`, `class ${name}(_${name}, total=False):\n${body([...doc, ...optional])}`);
        return `"${name}"`;
    }

    /** The same of a schema with members that no class can name: they are in bases of their own. */
    objectWithKeywords(schema, name, keywords) {
        const bases = [true, false].flatMap((needed) => {
            const own = keywords.filter(({ required }) => required === needed);
            if (own.length === 0) return [];
            const base = `_${name}${needed ? 'Needs' : 'May'}`;
            const entries = own.map(({ member, type }) => `${this.literal(member)}: ${this.literal(type.replaceAll('"', ''))}`).join(', ');
            this.classes.push(`${base} = TypedDict("${base}", {${entries}}${needed ? '' : ', total=False'})`);
            return [base];
        });
        const rest = Object.fromEntries(Object.entries(schema.properties).filter(([member]) => !KEYWORDS.has(member)));
        this.object({ ...schema, description: undefined, properties: rest }, `_${name}Others`);
        const doc = schema.description ? `    """${this.text(schema.description)}"""` : '    pass';
        this.classes.push(`class ${name}(_${name}Others, ${bases.join(', ')}):\n${doc}`);
        return `"${name}"`;
    }

    text(description) {
        return description.replace(/\\/g, '\\\\').replace(/"""/g, "'''").replace(/\s+/g, ' ').replace(/"$/, '" ');
    }

    named(name, schema) {
        const type = this.of(schema, name);
        if (type !== `"${name}"`) this.aliases.push(`${name} = ${type}`);
    }
}

function typesFile(document) {
    const types = new Types();
    for (const [name, schema] of Object.entries(document.components.schemas)) types.named(name, schema);
    const events = Object.entries(document.webhooks).map(([type, { post }]) => {
        const name = `${type.split(/[._]/).map((part) => part[0].toUpperCase() + part.slice(1)).join('')}Event`;
        types.named(name, post.requestBody.content['application/json'].schema);
        return `"${name}"`;
    });
    types.aliases.push(`WebhookEvent = ${union(events)}`);
    return `${HEAD}"""The objects of the contract, as the service sends and takes them."""
from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

${types.classes.join('\n\n')}

${types.aliases.join('\n')}
`;
}

/** The type of an argument or a result, outside the module of types. */
const annotation = (schema) => new Types((name) => `t.${name}`).of(schema, 'Anonymous');

const placed = (operation, where) => operation.parameters.filter((parameter) => parameter.in === where);

function resultOf(operation) {
    if (operation.answer !== 'json') return operation.answer === 'text' ? 'str' : 'bytes';
    return operation.schemas.length === 0 ? 'Dict[str, Any]' : union(operation.schemas.map((schema) => annotation(schema)));
}

function itemOf(document, operation) {
    const { data } = follow(document, operation.schemas[0]).properties;
    return annotation(data.items);
}

/** The arguments of a method and what it passes on. */
function argumentsOf(operation, { cursor = true } = {}) {
    const path = placed(operation, 'path').map(({ name }) => ({ text: `${argument(name)}: str`, pass: `"${name}": ${argument(name)}` }));
    const query = placed(operation, 'query').filter(({ name }) => cursor || name !== 'cursor').map(({ name, schema }) => ({
        text: `${argument(name)}: Optional[${annotation(schema)}] = None`, pass: `"${name}": ${argument(name)}`,
    }));
    const body = operation.body ? [operation.bodyRequired ? `body: ${annotation(operation.body)}` : `body: Optional[${annotation(operation.body)}] = None`] : [];
    const named = [
        ...query.map(({ text }) => text),
        ...(operation.ifMatch ? ['if_match: Union[str, int]'] : []),
        ...(operation.key ? ['idempotency_key: Optional[str] = None'] : []),
        ...(operation.building ? ['building_id: Optional[str] = None'] : []),
        'timeout_s: Optional[float] = None', 'retries: Optional[int] = None',
    ];
    const options = ['if_match', 'idempotency_key', 'building_id'].filter((name, i) => [operation.ifMatch, operation.key, operation.building][i]);
    return {
        signature: ['self', ...path.map(({ text }) => text), ...body, '*', ...named].join(', '),
        values: `{${[...path, ...query].map(({ pass }) => pass).join(', ')}}`,
        options: [...options, 'timeout_s', 'retries'].map((name) => `${name}=${name}`).join(', '),
    };
}

function method(document, operation) {
    const { id, summary, method: verb, path, scope, body, paged } = operation;
    const doc = `        """${summary}. ${verb} ${path}${scope ? `, scope ${scope}` : ''}"""`;
    const one = argumentsOf(operation);
    const call = (values, options) => `OPERATIONS["${id}"], ${values}, ${body ? 'body' : 'None'}, ${options}`;
    const result = resultOf(operation);
    const methods = [`    def ${snake(id)}(${one.signature}) -> ${result}:\n${doc}\n        return cast(${JSON.stringify(result)}, self._call(${call(one.values, one.options)}).data)`];
    if (paged) {
        const all = argumentsOf(operation, { cursor: false });
        const item = itemOf(document, operation);
        const name = snake(id).replace(/^list_/, 'iterate_');
        methods.push(`    def ${name}(${all.signature}) -> Iterator[${item}]:\n        """All entries of all pages of ${snake(id)}()."""\n`
            + `        return cast(${JSON.stringify(`Iterator[${item}]`)}, self._iterate(${call(all.values, all.options)}))`);
    }
    return methods.join('\n\n');
}

function operationsFile(document) {
    const operations = operationsOf(document);
    const bool = (value) => (value ? 'True' : 'False');
    const row = (o) => `    "${o.id}": Operation("${o.method}", "${o.path}", (${placed(o, 'query').map(({ name }) => `"${name}",`).join(' ')}), "${o.answer}", ${bool(o.key)}, ${bool(o.building)}, ${o.reads ? `"${o.reads}"` : 'None'}),`;
    return `${HEAD}"""The table of operations, and a method for each."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Literal, NamedTuple, Optional, Tuple, Union, cast

from . import types as t
from .transport import Answer


class Operation(NamedTuple):
    method: str
    path: str
    query: Tuple[str, ...]
    answer: str
    key: bool
    building: bool
    reads: Optional[str]


OPERATIONS: Dict[str, Operation] = {
${operations.map(row).join('\n')}
}


class Methods:
    def _call(self, operation: Operation, values: Dict[str, Any], body: Any, *, if_match: Optional[Union[str, int]] = None,
              idempotency_key: Optional[str] = None, building_id: Optional[str] = None, timeout_s: Optional[float] = None,
              retries: Optional[int] = None) -> Answer:
        raise NotImplementedError

    def _iterate(self, operation: Operation, values: Dict[str, Any], body: Any, **options: Any) -> Iterator[Any]:
        raise NotImplementedError

${operations.map((operation) => method(document, operation)).join('\n\n')}
`;
}

/** {name: text} of the files to add to the package's sources. */
export function pythonSources(document) {
    return { 'types.py': typesFile(document), 'operations.py': operationsFile(document) };
}
