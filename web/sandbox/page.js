// The sandbox's page. Texts from the service are only set as text nodes, never as HTML.

const REFRESH_MS = 5000;
const NUMBERS_SHOWN = 50;
const MESSAGES_SHOWN = 10;
const WEBHOOKS_SHOWN = 10;
const OUTCOMES = {
    released: 'The door was released.',
    forwarded: 'The call was forwarded.',
    rejected: 'The call was rejected.',
    owner_call: 'The owner called: the line works.',
};
const REASONS = {
    timer: (label) => `The timer “${label}” opened the door.`,
    routine: (label) => `The routine “${label}” opened the door.`,
    passcode: (label) => `The passcode “${label}” opened the door.`,
    unknown_number: () => 'No building has this number.',
    owner: () => 'The caller’s number is the forwarding phone. Such a call opens nothing and is not recorded.',
    no_tone: () => 'The building has no release tone yet. The resident must set it.',
    no_subscription: () => 'The account has no subscription, so its grants do not open the door.',
    no_grant: () => 'No timer is active, no routine is within its hours, and no passcode exists.',
    no_code: () => 'A code was requested, but none was entered.',
    wrong_code: () => 'All entered codes are wrong.',
    keypad_closed: () => 'After too many wrong codes, the keypad is closed to callers like this one for a while.',
    not_listed: () => 'The building lists the callers that may open, and not this one.',
    outside_window: () => 'The code is right, but opens at other times.',
    one_way: () => 'The call box took no audio in this call, so it could hear no tone.',
};
const WHYS = {
    not_begun: 'has not started yet',
    expired: 'has expired',
    used_up: 'has no uses left',
    outside_window: 'is outside its days and hours',
    switched_off: 'is disabled',
    revoked: 'is revoked',
};

const $ = (id) => document.getElementById(id);

/** An element with this text or these children. */
function element(tag, content = [], properties = {}) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...[content].flat());
    return made;
}

/** Sends one request. Returns the response's body, or throws the message of the error envelope. */
async function ask(method, path, body) {
    const options = { method, headers: { accept: 'application/json' } };
    if (body !== undefined) {
        options.headers['content-type'] = 'application/json';
        options.body = JSON.stringify(body);
    }
    let answer;
    try {
        answer = await fetch(path, options);
    } catch {
        throw new Error('The service did not respond.');
    }
    const read = await answer.json().catch(() => undefined);
    if (answer.ok && read) return read;
    const error = read?.error;
    throw new Error(error ? `${error.message} ${error.next_action}` : `The service answered ${answer.status}.`);
}

function note(id, kind, ...content) {
    $(id).className = `note ${kind}`;
    $(id).replaceChildren(...content);
}

/** The non-empty fields of the form. */
function given(form) {
    return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value));
}

/** Runs `act` when the form is submitted. Its button is disabled meanwhile, and errors appear in the note. */
function onSubmit(formId, noteId, act) {
    const form = $(formId);
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        const button = form.querySelector('button');
        if (button.getAttribute('aria-disabled')) return;
        button.setAttribute('aria-disabled', 'true');
        try {
            await act(form);
        } catch (error) {
            note(noteId, 'bad', error.message);
        }
        button.removeAttribute('aria-disabled');
    });
}

function moment(text) {
    return new Date(text).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** 5400: "1 h 30 min". */
function span(seconds) {
    const parts = [['d', Math.floor(seconds / 86400)], ['h', Math.floor(seconds / 3600) % 24], ['min', Math.floor(seconds / 60) % 60], ['s', seconds % 60]];
    return parts.filter(([, n]) => n).map(([unit, n]) => `${n} ${unit}`).join(' ') || '0 s';
}

function facts(rows) {
    return element('dl', rows.flatMap(([name, value]) => [element('dt', name), element('dd', value)]), { className: 'facts' });
}

// ---- messages ----

function messageItem(message) {
    const heading = element('div', [
        element('strong', message.subject || 'SMS'),
        element('time', moment(message.created_at), { dateTime: message.created_at, className: 'quiet' }),
    ], { className: 'line' });
    const item = element('li', [heading, element('div', `to ${message.to}`, { className: 'quiet' })]);
    if (message.code) item.append(element('div', [element('span', 'Code ', { className: 'quiet' }), element('span', message.code, { className: 'code' })]));
    item.append(element('details', [element('summary', 'Text'), element('pre', message.text)]));
    item.dataset.id = message.id;
    return item;
}

/** Replaces only changed items, so that an opened text stays open. */
function showItems(listId, data, make) {
    const list = $(listId);
    const shown = new Map([...list.children].map((item) => [item.dataset.id, item]));
    const wanted = data.map((one) => shown.get(one.id) ?? make(one));
    if (wanted.length !== shown.size || wanted.some((item, i) => item !== list.children[i])) list.replaceChildren(...wanted);
}

async function showMessages() {
    const query = new URLSearchParams({ ...given($('messages-filter')), limit: MESSAGES_SHOWN });
    try {
        const { data } = await ask('GET', `/sandbox/messages?${query}`);
        showItems('messages', data, messageItem);
        note('messages-state', '', ...(data.length ? [] : ['No messages yet.']));
    } catch (error) {
        note('messages-state', 'bad', error.message);
    }
}

// ---- webhooks ----

function webhookItem(webhook) {
    const heading = element('div', [
        element('strong', webhook.type),
        element('time', moment(webhook.received_at), { dateTime: webhook.received_at, className: 'quiet' }),
    ], { className: 'line' });
    const signature = webhook.genuine ? 'The signature is right.' : 'The signature is wrong.';
    const item = element('li', [heading, element('div', `${signature} Answered ${webhook.status}.`, { className: 'quiet' }),
        element('details', [element('summary', 'Request'), element('pre', `POST ${webhook.url}\nService-Signature: ${webhook.signature}\n\n${webhook.text}`)])]);
    item.dataset.id = webhook.id;
    return item;
}

async function showWebhooks() {
    const { data } = await ask('GET', '/sandbox/webhooks');
    const seen = data.slice(0, WEBHOOKS_SHOWN).map((webhook) => {
        const body = JSON.parse(webhook.body);
        return { ...webhook, id: `${webhook.signature} ${webhook.url} ${body.id}`, type: body.type, text: JSON.stringify(body, null, 2) };
    });
    showItems('webhooks', seen, webhookItem);
    note('webhooks-state', '', ...(data.length ? [] : ['No webhooks yet.']));
}

// ---- clock ----

let ahead_ms = 0;

function tick() {
    const now = new Date(Date.now() + ahead_ms);
    $('clock-now').dateTime = now.toISOString();
    $('clock-now').textContent = moment(now);
}

function showClock({ now, offset_seconds }) {
    ahead_ms = Date.parse(now) - Date.now();
    $('clock-offset').textContent = offset_seconds ? `${span(offset_seconds)} ahead of the real time` : 'the real time';
    tick();
}

// ---- numbers ----

function numberRow(row) {
    const holder = row.building_id ? [element('div', row.building), element('div', row.email, { className: 'quiet' })] : element('span', 'free', { className: 'badge' });
    return element('tr', [element('td', row.number, { className: 'mono' }), element('td', holder)]);
}

async function showNumbers() {
    const { data } = await ask('GET', '/sandbox/numbers');
    const held = data.filter((row) => row.building_id);
    const sorted = [...held, ...data.filter((row) => !row.building_id)];
    $('numbers').replaceChildren(...sorted.slice(0, NUMBERS_SHOWN).map(numberRow));
    $('held').replaceChildren(...held.slice(0, NUMBERS_SHOWN).map((row) => element('option', row.building ?? '', { value: row.number })));
    const to = $('call-to');
    if (!to.value && held.length && document.activeElement !== to) to.value = held[0].number; // the user is not typing
    $('numbers-state').textContent = data.length === 0 ? 'No numbers yet. An active subscription provides one.'
        : `${held.length} held, ${data.length - held.length} free${data.length > NUMBERS_SHOWN ? `; the first ${NUMBERS_SHOWN} are shown` : ''}.`;
}

// ---- the bell ----

function showCall(call) {
    const rows = [['Release tone', call.tones ?? 'none']];
    if (call.outcome === 'forwarded') rows.push(['Rang', call.forwarded_to ?? 'no phone: none is verified']);
    if (call.grant_id) rows.push(['Grant', [element('div', call.grant_label), element('div', call.grant_id, { className: 'quiet' })]]);
    if (call.near_misses.length) rows.push(['Not usable now', element('ul', call.near_misses.map(({ label, why }) => element('li', `“${label}” ${WHYS[why] ?? why}`)))]);
    rows.push(['Duration', `${call.duration_ms} ms`]);
    if (call.said.length) rows.push(['The caller heard', element('ol', call.said.map((text) => element('li', text)))]);
    note('call-outcome', call.outcome === 'released' ? 'good' : '', element('p', element('strong', OUTCOMES[call.outcome] ?? call.outcome)),
        element('p', REASONS[call.reason]?.(call.grant_label) ?? call.reason), facts(rows));
}

// ---- everything ----

async function refresh() {
    if (document.hidden) return;
    await Promise.all([showMessages(), ask('GET', '/sandbox/clock').then(showClock).catch(() => {}), showNumbers().catch(() => {}), showWebhooks().catch(() => {})]);
}

onSubmit('call', 'call-outcome', async (form) => {
    const { answer_forward, ...fields } = given(form);
    const call = await ask('POST', '/sandbox/calls', { ...fields, answer_forward: answer_forward !== undefined });
    showCall(call);
    await refresh();
});

onSubmit('messages-filter', 'messages-state', showMessages);

onSubmit('clock', 'clock-outcome', async (form) => {
    const { amount, unit } = given(form);
    const moved = await ask('POST', '/sandbox/clock', { advance_seconds: Number(amount) * Number(unit) });
    showClock(moved);
    note('clock-outcome', 'good', `The service’s time is ${moment(moved.now)}.`);
    await refresh();
});

onSubmit('subscription', 'subscription-outcome', async (form) => {
    const now = await ask('POST', '/sandbox/subscriptions', given(form));
    note('subscription-outcome', 'good', `The subscription of ${now.email} is ${now.status}${now.virtual_number ? `, the number is ${now.virtual_number}` : ''}.`);
    await refresh();
});

onSubmit('fault', 'fault-outcome', async (form) => {
    const { count, ...fields } = given(form);
    const ordered = await ask('POST', '/sandbox/faults', { ...fields, count: Number(count) });
    note('fault-outcome', 'good', ordered.fault === 'none' ? `${ordered.provider} works again.`
        : `The next ${ordered.count === 1 ? 'call' : `${ordered.count} calls`} to ${ordered.provider}${ordered.operation ? ` (${ordered.operation})` : ''} will have the fault ${ordered.fault}.`);
});

setInterval(tick, 1000);
setInterval(refresh, REFRESH_MS);
document.addEventListener('visibilitychange', refresh);
refresh();
