// Signing in again in a dialog, when the session ends while somebody works on a page.
import { call } from './call.js';
import { data } from './data.js';
import { dialog } from './dialog.js';
import { check, codeField, form } from './form.js';
import { forget, keepFor } from './keep.js';
import { t } from './texts.js';
import { browserZone } from './time.js';
import { h } from './view.js';

/** @type {Promise<boolean> | undefined} */
let asking;

/** Asks the page's person to sign in, once for all calls that wait for it: true if they did. */
export function signInAgain() {
    asking ??= ask().finally(() => { asking = undefined; });
    return asking;
}

async function ask() {
    const { email } = data.account;
    let challenge = '';
    await forget();
    return await dialog(t('session.title'), (close, draw) => [
        h('p', { class: 'quiet', role: 'status' }, challenge ? t('session.sent', { email }) : t('session.lead')),
        challenge ? form({
            key: 'code',
            button: t('session.enter'),
            errors: { INVALID_OTP: 'otp' },
            submit: async ({ otp, remember }) => {
                await call('POST', '/v1/auth/verify', { email, challenge, otp: otp.replace(/\D/g, ''), purpose: 'web', remember: Boolean(remember), timezone: browserZone });
                await keepFor(email, Boolean(remember));
                close(true);
            },
        }, check({ name: 'remember', label: t('session.remember') }), codeField('otp', t('session.code')))
            : form({
                key: 'send',
                button: t('session.send', { email }),
                submit: async () => {
                    ({ challenge } = await call('POST', '/v1/auth/otp', { email }));
                    draw();
                },
            }),
    ]) === true;
}
