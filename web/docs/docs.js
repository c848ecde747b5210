// The documents for developers: copying code, one language everywhere, the search. All text is there without this.
const LANGUAGE = 'docs-language';
const HITS = 12;

/** @template {keyof HTMLElementTagNameMap} K @param {K} name @param {object} properties @param {(Node | string)[]} children */
function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

// ---- copying ----

for (const pre of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('main pre'))) {
    const button = element('button', { type: 'button', textContent: 'Copy' });
    button.addEventListener('click', async () => {
        try {
            await navigator.clipboard.writeText(pre.innerText);
            button.textContent = 'Copied';
        } catch {
            button.textContent = 'Not copied';
        }
        setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
    const box = element('div', { className: 'copied' });
    pre.replaceWith(box);
    box.append(pre, button);
}

// ---- the language of the examples ----

const samples = /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll('.sample[data-language]')]);

/** @param {string | undefined} language */
function choose(language) {
    for (const sample of samples) sample.open = sample.dataset.language === language;
}

for (const sample of samples) {
    const summary = sample.querySelector('summary');
    summary?.addEventListener('click', (event) => {
        if (sample.open) return;
        event.preventDefault();
        const before = summary.getBoundingClientRect().top;
        choose(sample.dataset.language);
        scrollBy(0, summary.getBoundingClientRect().top - before);
        try { localStorage.setItem(LANGUAGE, sample.dataset.language ?? ''); } catch { /* not kept */ }
    });
}

try {
    const kept = localStorage.getItem(LANGUAGE);
    if (kept && samples.some((sample) => sample.dataset.language === kept)) {
        choose(kept);
        if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
    }
} catch { /* curl */ }

// A link to something that is folded opens it.
function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target?.parentElement ?? null; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
}
addEventListener('hashchange', unfold);
unfold();

// ---- the search ----

/** @typedef {{kind: string, title: string, path: string, text: string, deep?: boolean, lower?: string}} Entry */

/** Words of questions that no section has to contain. */
const LITTLE = new Set('a an and are can did do does have how i if in is it me my of on or the there to we what when where which who why with'.split(' '));

const find = /** @type {HTMLElement} */ (document.querySelector('.find'));
const input = /** @type {HTMLInputElement} */ (document.getElementById('find'));
const found = /** @type {HTMLElement} */ (document.querySelector('.found'));
const list = /** @type {HTMLElement} */ (document.getElementById('found'));
const count = /** @type {HTMLElement} */ (document.getElementById('found-count'));
/** @type {Promise<Entry[]> | undefined} */
let index;

async function load() {
    const response = await fetch('/docs/search.json');
    if (!response.ok) throw new Error(`${response.status}`);
    const entries = /** @type {Entry[]} */ (await response.json());
    for (const entry of entries) entry.lower = `${entry.title} ${entry.kind} ${entry.text}`.toLowerCase();
    return entries;
}

/** How well an entry fits all words: 0 if it does not. @param {Entry} entry @param {string[]} words */
function score(entry, words) {
    let sum = 0;
    const head = `${entry.title} ${entry.kind}`.toLowerCase();
    for (const word of words) {
        if (head.includes(word)) sum += 10;
        else if (entry.lower?.includes(word)) sum += 1;
        else return 0;
    }
    return sum + (/^[A-Z]+ \//.test(entry.kind) ? 1 : 0); // operations before guides
}

/** The entries that fit all words, the best first. @param {Entry[]} entries @param {string[]} words */
function fitting(entries, words) {
    return entries.map((entry) => ({ entry, fit: score(entry, words) })).filter(({ fit }) => fit)
        .sort((a, b) => Number(a.entry.deep ?? 0) - Number(b.entry.deep ?? 0) || b.fit - a.fit);
}

async function search() {
    const words = input.value.toLowerCase().split(/\s+/).map((word) => word.replace(/[?!,.;:]+$/, '')).filter(Boolean);
    if (!words.length) {
        found.hidden = true;
        return;
    }
    try {
        index ??= load();
        const entries = await index;
        const weighty = words.filter((word) => !LITTLE.has(word));
        const all = fitting(entries, words);
        const hits = all.length || !weighty.length ? all : fitting(entries, weighty);
        list.replaceChildren(...hits.slice(0, HITS).map(({ entry }) =>
            element('li', {}, element('a', { href: entry.path }, entry.title, element('span', { textContent: entry.kind })))));
        count.textContent = hits.length === 1 ? '1 result' : hits.length > HITS ? `${hits.length} results, the first ${HITS}` : `${hits.length} results`;
    } catch {
        index = undefined;
        list.replaceChildren();
        count.textContent = 'The search does not respond.';
    }
    found.hidden = false;
}

find.hidden = false;
input.addEventListener('input', search);
addEventListener('keydown', (event) => {
    const typing = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key === '/' && !typing) {
        event.preventDefault();
        input.focus();
    } else if (event.key === 'Escape' && !found.hidden) {
        found.hidden = true;
        input.focus();
    }
});
addEventListener('click', (event) => {
    if (!(event.target instanceof Node) || !find.contains(event.target) || event.target instanceof HTMLAnchorElement) found.hidden = true;
});

export {};
