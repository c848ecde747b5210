// What a door needs before it works: a plan, the tone that releases it, a phone that rings. Each in a dialog.
// texts: setup.
import { call, newKey } from './call.js';
import { building, data } from './data.js';
import { dialog } from './dialog.js';
import { field, form } from './form.js';
import { t } from './texts.js';
import { money, zone } from './time.js';
import { h } from './view.js';

/** @typedef {{id: string, available: boolean, amount: number | null, currency: string}} Plan */

/** @type {Record<string, string>} */
const PLANS = { weekly: t('setup.weekly'), yearly: t('setup.yearly') };

/** Leads to the billing provider's checkout of the plan that the person chooses. False if they choose none. */
export async function choosePlan() {
    /** @type {Plan[]} */
    const plans = (await call('GET', '/v1/plans')).data.filter((/** @type {Plan} */ plan) => plan.available);
    const once = newKey();
    await dialog(t('setup.plan'), () => [
        h('p', { class: 'quiet' }, plans.length > 0 ? t('setup.plan_lead') : t('setup.no_plan')),
        ...plans.map((plan) => form({
            key: plan.id,
            class: 'choice',
            button: t('setup.pay'),
            submit: async () => location.assign((await call('POST', '/v1/billing/checkout', { plan: plan.id }, { once: `${once}-${plan.id}` })).url),
        }, h('b', null, PLANS[plan.id] ?? plan.id), plan.amount !== null && h('span', { class: 'figure' }, money(plan.amount, plan.currency)))),
    ]);
    return false;
}

/** Asks for the tone. The browser's time zone becomes the building's, unless it has one. @returns {Promise<boolean>} true if it was saved */
export async function setTone() {
    const path = `/v1/buildings/${building.id}/settings`;
    return await dialog(t('setup.tone'), (close) => [
        h('p', { class: 'quiet' }, t('setup.tone_lead')),
        form({
            errors: { INVALID_TONE: 'unlock_tone' },
            submit: async ({ unlock_tone }) => {
                // Only the tone changes, so the newest version will do.
                const { version } = await call('GET', path);
                await call('PATCH', path, { unlock_tone: unlock_tone.trim(), ...(building.timezone ? {} : { timezone: zone }) }, { match: version });
                close(true);
            },
        }, field({
            name: 'unlock_tone', label: t('setup.tone_label'), hint: t('setup.tone_hint'), value: data.setup?.unlock_tone ?? '', inputmode: 'tel', autocomplete: 'off',
            maxlength: 3, pattern: '[0-9*#]{1,3}', required: true,
        })),
    ]) === true;
}

/** Asks for the forwarding phone, and for the code that it gets. @returns {Promise<boolean>} true if it was verified */
export async function setPhone() {
    let number = data.phone?.pending?.phone_number ?? '';
    let sent = Boolean(number);
    return await dialog(t('setup.phone'), (close, draw) => [
        h('p', { class: 'quiet', role: 'status' }, sent ? t('setup.phone_sent', { number }) : t('setup.phone_lead')),
        sent ? form({
            key: 'code',
            button: t('setup.confirm'),
            errors: { INVALID_PHONE_CODE: 'code', PHONE_CODE_EXPIRED: 'code' },
            more: h('button', { class: 'plain', type: 'button', onclick: () => { sent = false; draw(); } }, t('setup.other_number')),
            submit: async ({ code }) => {
                await call('POST', '/v1/account/phone/confirmation', { code: code.replace(/\D/g, '') });
                close(true);
            },
        }, field({
            name: 'code', label: t('setup.code'), class: 'digits', autocomplete: 'one-time-code', inputmode: 'numeric', pattern: '[0-9 ]{6,}',
            required: true, ref: (/** @type {HTMLElement} */ input) => queueMicrotask(() => input.focus()),
        })) : form({
            key: 'number',
            button: t('setup.send_code'),
            errors: { INVALID_PHONE_NUMBER: 'phone_number', PHONE_IN_USE: 'phone_number', ALREADY_VERIFIED: 'phone_number' },
            submit: async ({ phone_number }) => {
                number = phone_number.replace(/[^+0-9]/g, '');
                const { status } = await call('POST', '/v1/account/phone/verification', { phone_number: number });
                if (status !== 'code_sent') return close(true);
                sent = true;
                draw();
            },
        }, field({
            name: 'phone_number', label: t('setup.number'), hint: t('setup.number_hint'), type: 'tel', autocomplete: 'tel', value: number, required: true,
        })),
    ]) === true;
}
