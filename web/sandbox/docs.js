// In the reference of a sandbox: a form under each operation that sends it to this service. The key is in this page's memory alone.
const SHOWN_MAX = 65536;

/** @typedef {{name: string, in: string, required: boolean, example: string}} Parameter */
/** @typedef {{method: string, path: string, key: boolean, parameters: Parameter[], body?: object}} Operation */

let key = '';
/** @type {HTMLInputElement[]} */
const keyFields = [];
let fields = 0;

/** @template {keyof HTMLElementTagNameMap} K @param {K} name @param {object} properties @param {(Node | string)[]} children */
function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

/** @param {string} value @param {HTMLInputElement | undefined} from */
function setKey(value, from) {
    key = value;
    for (const field of keyFields) if (field !== from) field.value = value;
}

/** @param {string} label @param {HTMLInputElement | HTMLTextAreaElement} input @param {string} [hint] */
function field(label, input, hint) {
    input.id = `send-${fields++}`;
    const box = element('div', { className: 'field' }, element('label', { htmlFor: input.id, textContent: label }), input);
    if (hint) {
        const line = element('p', { className: 'hint', id: `${input.id}-hint`, textContent: hint });
        input.setAttribute('aria-describedby', line.id);
        box.append(line);
    }
    return box;
}

/** A key of a new account of the sandbox, which is a website session with all scopes. */
async function makeKey() {
    const email = `docs-${crypto.randomUUID().slice(0, 8)}@example.com`;
    const response = await fetch('/sandbox/accounts', {
        method: 'POST', credentials: 'omit', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ email }),
    });
    const made = await response.json();
    if (!response.ok) throw new Error(made.error?.message ?? `${response.status}`);
    return made.key;
}

/** @param {Operation} operation @param {Map<Parameter, HTMLInputElement>} inputs @param {string | undefined} body */
function requestOf(operation, inputs, body) {
    let path = operation.path;
    const query = new URLSearchParams();
    /** @type {Record<string, string>} */
    const headers = {};
    for (const [parameter, input] of inputs) {
        const value = input.value.trim();
        if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
        else if (value && parameter.in === 'query') query.set(parameter.name, value);
        else if (value) headers[parameter.name] = value;
    }
    if (operation.key && key) headers.Authorization = `Bearer ${key}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    return { url: query.size ? `${path}?${query}` : path, options: { method: operation.method.toUpperCase(), headers, body } };
}

/** @param {Response} response @param {HTMLElement} output @param {HTMLElement} text */
async function show(response, output, text) {
    const named = ['ETag', 'Location', 'Retry-After', 'Idempotency-Replayed', 'X-Request-ID'].filter((name) => response.headers.has(name));
    output.textContent = `${response.status} ${named.map((name) => `${name}: ${response.headers.get(name)}`).join(' · ')}`;
    text.textContent = '';
    const type = response.headers.get('Content-Type') ?? '';
    if (type.startsWith('audio/')) {
        text.textContent = `${(await response.arrayBuffer()).byteLength} bytes of ${type}`;
        return;
    }
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let all = '';
    for (let part = await reader?.read(); part && !part.done && all.length < SHOWN_MAX; part = await reader?.read()) {
        all += part.value;
        if (type.startsWith('text/event-stream')) text.textContent = all;
    }
    await reader?.cancel();
    if (all.length >= SHOWN_MAX) all = `${all.slice(0, SHOWN_MAX)}…`;
    try {
        text.textContent = JSON.stringify(JSON.parse(all), null, 2);
    } catch {
        text.textContent = all;
    }
}

/** @param {HTMLElement} place */
function addForm(place) {
    const operation = /** @type {Operation} */ (JSON.parse(place.dataset.operation ?? ''));
    /** @type {Map<Parameter, HTMLInputElement>} */
    const inputs = new Map();
    const form = element('form', {});
    const output = element('output', { className: 'note' });
    if (operation.key) {
        const input = /** @type {HTMLInputElement} */ (element('input', { type: 'password', autocomplete: 'off', value: key }));
        input.addEventListener('input', () => setKey(input.value.trim(), input));
        keyFields.push(input);
        const make = element('button', { type: 'button', textContent: 'Make a test account' });
        make.addEventListener('click', async () => {
            make.disabled = true;
            try {
                setKey(await makeKey(), undefined);
            } catch (error) {
                output.textContent = `No account was made: ${error instanceof Error ? error.message : error}`;
            }
            make.disabled = false;
        });
        form.append(field('Key', input, 'Stays in this page, and is gone when you leave it.'), element('p', { className: 'actions' }, make));
    }
    for (const parameter of operation.parameters) {
        const fresh = parameter.name === 'Idempotency-Key' ? crypto.randomUUID() : '';
        const input = /** @type {HTMLInputElement} */ (element('input', { autocomplete: 'off', spellcheck: false, required: parameter.required, placeholder: parameter.example, value: fresh }));
        inputs.set(parameter, input);
        form.append(field(parameter.name, input, parameter.in));
    }
    /** @type {HTMLTextAreaElement | undefined} */
    let body;
    if (operation.body) {
        body = /** @type {HTMLTextAreaElement} */ (element('textarea', { spellcheck: false, value: JSON.stringify(operation.body, null, 2) }));
        form.append(field('Body', body));
    }
    const send = element('button', { className: 'primary', textContent: 'Send' });
    const stop = element('button', { type: 'button', textContent: 'Stop', hidden: true });
    const text = element('pre', { tabIndex: 0, hidden: true });
    let abort = new AbortController();
    stop.addEventListener('click', () => abort.abort());
    form.append(element('p', { className: 'actions' }, send, stop));
    form.addEventListener('submit', async (/** @type {Event} */ event) => {
        event.preventDefault();
        abort = new AbortController();
        send.disabled = true;
        stop.hidden = false;
        text.hidden = false;
        output.textContent = 'Waiting for the response …';
        try {
            const { url, options } = requestOf(operation, inputs, body?.value);
            await show(await fetch(url, { ...options, credentials: 'omit', cache: 'no-store', signal: abort.signal }), output, text);
        } catch (error) {
            output.textContent = abort.signal.aborted ? `${output.textContent} Stopped.` : `Not sent: ${error instanceof Error ? error.message : error}`;
        }
        send.disabled = false;
        stop.hidden = true;
    });
    place.append(element('details', { className: 'sample' }, element('summary', { textContent: 'Send it to this sandbox' }), form));
    form.append(output, text);
}

for (const place of document.querySelectorAll('.send')) if (place instanceof HTMLElement) addForm(place);

export {};
