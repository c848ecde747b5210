// What a key may do, in plain words.
// texts: scope.
import { t } from './texts.js';

/** In the order of their reach: [scope, text]. @type {[import('../contract.js').Schemas['AuthorizationRequest']['scopes'][number], string][]} */
export const SCOPES = [
    ['account:read', t('scope.account_read')], ['access:read', t('scope.access_read')], ['access:write', t('scope.access_write')], ['logs:read', t('scope.logs_read')],
    ['calls:listen', t('scope.calls_listen')],
    ['setup:write', t('scope.setup_write')], ['buildings:write', t('scope.buildings_write')], ['billing:write', t('scope.billing_write')],
];
/** Scopes of keys of the earlier revision, which the pages show and do not give. @type {[string, string][]} */
export const EARLIER_SCOPES = [['webhooks:write', t('scope.webhooks_write')], ['owner', t('scope.owner')]];
