// What a door needs before it works: a plan, the tone that releases it, a phone that rings. Each in a dialog.
// texts: setup.
import { CallError, call, newKey } from './call.js';
import { building, data } from './data.js';
import { dialog } from './dialog.js';
import { codeField, field, form } from './form.js';
import { e164, phoneText } from './phone.js';
import { t } from './texts.js';
import { money } from './time.js';
import { h } from './view.js';

/** @typedef {import('./view.js').Child} Child */
/** @typedef {import('../contract.js').Schemas['Plan']} Plan */

/** @type {Record<string, string>} */
const PLANS = { weekly: t('setup.weekly'), yearly: t('setup.yearly') };

/** Leads to the billing provider's checkout of the plan that the person chooses. False if they choose none. */
export async function choosePlan() {
    /** @type {Plan[]} */
    const plans = (await call('GET', '/v1/plans')).data.filter((plan) => plan.available);
    const once = newKey();
    await dialog(t('setup.plan'), () => [
        h('p', { class: 'quiet' }, plans.length > 0 ? t('setup.plan_lead') : t('setup.no_plan')),
        ...plans.map((plan) => form({
            key: plan.id,
            class: 'choice',
            button: t('setup.pay'),
            submit: async () => location.assign((await call('POST', '/v1/billing/checkout', { plan: plan.id }, { once: `${once}-${plan.id}` })).url ?? '/billing'), // where it waits for one that is prepared
        }, h('b', null, PLANS[plan.id] ?? plan.id), plan.amount !== null && h('span', { class: 'figure' }, money(plan.amount, plan.currency)))),
    ]);
    return false;
}

/** Asks for the tone. @returns {Promise<boolean>} true if it was saved */
export async function setTone() {
    const path = /** @type {const} */ (`/v1/buildings/${building.id}/settings`);
    return await dialog(t('setup.tone'), (close) => [
        h('p', { class: 'quiet' }, t('setup.tone_lead')),
        form({
            errors: { INVALID_TONE: 'unlock_tone' },
            submit: async ({ unlock_tone }) => {
                // Only the tone changes, so the newest version will do.
                const { version } = await call('GET', path);
                await call('PATCH', path, { unlock_tone: unlock_tone.trim() }, { match: version ?? '' });
                close(true);
            },
        }, field({
            name: 'unlock_tone', label: t('setup.tone_label'), hint: t('setup.tone_hint'), value: data.setup?.unlock_tone ?? '', inputmode: 'tel', autocomplete: 'off',
            maxlength: 3, pattern: '[0-9*#]{1,3}', required: true,
        })),
    ]) === true;
}

/** @param {unknown} error @returns {undefined} if it says that the number must be confirmed first */
function needsCode(error) {
    if (!(error instanceof CallError) || error.code !== 'FORWARDING_PHONE_NOT_VERIFIED') throw error;
}

/**
 * Asks for a phone, and for the code that it gets: it becomes the account's.
 * @param {{title?: string, lead?: string, note?: Child, use?: (number: string) => Promise<boolean>}} [more] use: what else
 *   the number is for; it is tried before a code is sent, since a number that the account confirmed once needs none.
 *   False: not used yet, and may be tried again
 * @returns {Promise<boolean>} true if the phone was confirmed, and is used
 */
export async function setPhone({ title = t('setup.phone'), lead = t('setup.phone_lead'), note, use } = {}) {
    const { pending } = await call('GET', '/v1/account/phone');
    let number = pending?.phone_number ?? '';
    let sent = (pending?.attempts_left ?? 0) > 0;
    let confirmed = false;
    return await dialog(title, (/** @type {(value?: boolean) => void} */ close, draw) => [
        h('p', { class: 'quiet', role: 'status' }, sent ? t('setup.phone_sent', { number: phoneText(number) }) : lead),
        note,
        sent ? form({
            key: 'code',
            button: t('setup.confirm'),
            errors: { INVALID_PHONE_CODE: 'code', PHONE_CODE_EXPIRED: 'code', PHONE_CODE_ATTEMPTS: 'code', FORWARDING_PHONE_NOT_VERIFIED: 'code' },
            more: h('button', { class: 'plain', type: 'button', onclick: () => { sent = false; draw(); } }, t('setup.other_number')),
            submit: async ({ code }) => {
                if (!confirmed) await call('POST', '/v1/account/phone/confirmation', { code: code.replace(/\D/g, '') });
                confirmed = true;
                if (!use || await use(number)) close(true);
            },
        }, codeField('code', t('setup.code'))) : form({
            key: 'number',
            button: use ? t('setup.use') : t('setup.send_code'),
            errors: { INVALID_PHONE_NUMBER: 'phone_number', PHONE_IN_USE: 'phone_number', ALREADY_VERIFIED: 'phone_number' },
            submit: async ({ phone_number }) => {
                number = e164(phone_number);
                const used = await use?.(number).catch(needsCode);
                if (used) close(true);
                if (used !== undefined) return;
                await call('POST', '/v1/account/phone/verification', { phone_number: number });
                confirmed = false;
                sent = true;
                draw();
            },
        }, field({
            name: 'phone_number', label: t('setup.number'), hint: t('setup.number_hint'), type: 'tel', autocomplete: 'tel', inputmode: 'tel', value: phoneText(number), required: true, maxlength: 40,
        })),
    ]) === true;
}
