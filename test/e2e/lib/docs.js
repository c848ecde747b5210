// The documents for developers, read as their readers get them.
import assert from 'node:assert/strict';
import { HtmlRenderer, Parser } from 'commonmark';
import { DomUtils, parseDocument } from 'htmlparser2';

const by = (test, root) => DomUtils.findAll(test, root.children ?? root);
const hasClass = (element, name) => (element.attribs.class ?? '').split(' ').includes(name);

/** A page: {tree, ids, links, alternates, text}. */
export async function readPage(client, path) {
    const answer = await client.as(undefined).get(path, { headers: { accept: 'text/html' }, check: false });
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers['content-type'], /^text\/html/, path);
    const tree = parseDocument(answer.text);
    const all = by(() => true, tree);
    return {
        path, tree, answer,
        ids: all.map((element) => element.attribs.id).filter((id) => id !== undefined),
        alternates: all.filter((element) => element.attribs.rel === 'alternate').map(({ attribs: { type, href } }) => ({ type, href })),
        links: all.map((element) => element.attribs.href ?? element.attribs.src).filter((link) => link !== undefined),
        text: DomUtils.textContent(tree.children),
    };
}

/** The paths of the pages that /docs leads to by its navigation. */
export async function pagePaths(client) {
    const { tree } = await readPage(client, '/docs');
    const [navigation] = by((element) => element.name === 'nav', tree);
    return by((element) => element.name === 'a', navigation).map((a) => a.attribs.href).filter((href) => href.startsWith('/'));
}

/** The operations of a page of the reference: {id, method, path, errors, samples: {curl, javascript, python}, form, events}. */
export function operationsOf({ tree }) {
    return by((element) => hasClass(element, 'operation'), tree).map((section) => {
        const line = by((element) => hasClass(element, 'line'), section)[0];
        const samples = by((element) => element.attribs['data-language'] !== undefined, section);
        return {
            id: section.attribs['aria-labelledby'],
            line: line && DomUtils.textContent(line),
            text: DomUtils.textContent(section),
            samples: Object.fromEntries(samples.map((sample) => [sample.attribs['data-language'],
                DomUtils.textContent(by((element) => element.name === 'code', sample))])),
            form: by((element) => hasClass(element, 'send'), section).map((element) => JSON.parse(element.attribs['data-operation']))[0],
        };
    });
}

/** All operations of the reference with code. */
export async function referenceOperations(client) {
    const pages = (await pagePaths(client)).filter((path) => path.startsWith('/docs/api/'));
    const found = await Promise.all(pages.map(async (path) => operationsOf(await readPage(client, path))));
    return found.flat().filter(({ line }) => line !== undefined);
}

const textOf = (element) => DomUtils.textContent(element).replaceAll(/\s+/g, ' ').trim();

/** The parts that a page and its Markdown have in common: {headings, blocks: of code, words: of code, links, bold}, each in the order of the page. */
function parts(root) {
    const all = (...names) => by((element) => names.includes(element.name), root);
    return {
        headings: all('h1', 'h2', 'h3').map(textOf),
        blocks: all('pre').map((pre) => DomUtils.textContent(pre).trimEnd()),
        words: all('code').filter((code) => code.parent.name !== 'pre').map(textOf),
        links: all('a').filter(({ attribs }) => attribs.href?.startsWith('/')).map((a) => `${a.attribs.href} ${textOf(a)}`),
        bold: all('b', 'strong').map(textOf),
    };
}

export function partsOfPage({ tree }) {
    const [main] = by((element) => element.name === 'main', tree);
    const { headings, ...others } = parts(main);
    return { headings: headings.map((heading) => heading.replace(/ #$/, '')), ...others };
}

/** The Markdown as the reference implementation of CommonMark reads it. */
export function partsOfMarkdown(text) {
    const { links, ...others } = parts(parseDocument(new HtmlRenderer().render(new Parser().parse(text))));
    return { ...others, links: links.map((link) => link.replace(/^(\/docs[^ #]*)\.md/, '$1')) };
}
