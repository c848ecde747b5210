// Signing in: the address, then the code from the mail.
import { CallError, call } from './lib/call.js';
import { keepFor } from './lib/keep.js';
import { errorText, t } from './lib/texts.js';
import { browserZone } from './lib/time.js';

/** @template {HTMLElement} T @param {string} id @returns {T} */
const at = (id) => /** @type {T} */ (document.getElementById(id));

/** @type {HTMLFormElement} */ const address = at('address');
/** @type {HTMLFormElement} */ const code = at('code');
/** @type {HTMLInputElement} */ const email = at('email');
/** @type {HTMLInputElement} */ const otp = at('otp');
/** @type {HTMLInputElement} */ const remember = at('remember');
const lead = at('lead');

let challenge = '';
let sentTo = '';
let busy = false;

/**
 * Runs one step at a time. Its error is told in the note, and the field gets the focus.
 * @param {HTMLElement} note
 * @param {HTMLInputElement} field
 * @param {() => Promise<void>} step
 */
async function run(note, field, step) {
    if (busy) return;
    busy = true;
    document.body.classList.add('busy');
    note.textContent = '';
    field.removeAttribute('aria-invalid');
    try {
        await step();
    } catch (error) {
        note.textContent = errorText(error instanceof CallError ? error.code : 'other');
        field.setAttribute('aria-invalid', 'true');
        field.focus();
        field.select();
    } finally {
        busy = false;
        document.body.classList.remove('busy');
    }
}

/** Shows the form for the code, or that for the address. @param {boolean} sent */
function show(sent) {
    address.hidden = sent;
    code.hidden = !sent;
    lead.textContent = sent ? t('sent', { email: sentTo }) : t('lead');
    (sent ? otp : email).focus();
}

/** @param {string} to */
async function send(to) {
    ({ challenge } = await call('POST', '/v1/auth/otp', { email: to }));
    sentTo = to;
}

/** On a computer where the sandbox does not show its pages, the button leads to the way there. */
async function tellWhereTheTourIs() {
    const tour = document.getElementById('tour');
    if (!tour || ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)) return;
    if ((await fetch('/sandbox/tour', { method: 'HEAD' })).status !== 403) return;
    at('tour-hint').textContent = t('tour_away');
    tour.textContent = t('tour_how');
}

tellWhereTheTourIs();

address.addEventListener('submit', (event) => {
    event.preventDefault();
    run(at('address-note'), email, async () => {
        await send(email.value.trim());
        otp.value = '';
        show(true);
    });
});

code.addEventListener('submit', (event) => {
    event.preventDefault();
    run(at('code-note'), otp, async () => {
        await call('POST', '/v1/auth/verify', { email: sentTo, challenge, otp: otp.value, purpose: 'web', remember: remember.checked, timezone: browserZone });
        await keepFor(sentTo, remember.checked);
        location.reload();
    });
});

at('again').addEventListener('click', () => run(at('code-note'), otp, async () => {
    await send(sentTo);
    otp.value = '';
    otp.focus();
    at('said').textContent = t('sent_again');
}));

at('other').addEventListener('click', () => {
    if (busy) return;
    at('code-note').textContent = '';
    show(false);
});

// After the end of an account (lib/person.js), once.
if (sessionStorage.getItem('deleted')) at('told').textContent = t('deleted');
sessionStorage.removeItem('deleted');

// Pasted codes often come with spaces. The last digit sends the code.
otp.addEventListener('input', () => {
    otp.value = otp.value.replace(/\D/g, '');
    if (otp.value.length === otp.maxLength) code.requestSubmit();
});
email.focus();
