// Access grants, as people read them, and what changes them.
// texts: grant. pass.
import { call } from './call.js';
import { building, data } from './data.js';
import { DAYS, shortSentence, timesText } from './pass.js';
import { t } from './texts.js';
import { city, dayNames, exactTime, hour, length, now, placeNote, when, zone } from './time.js';

/**
 * @typedef {Grant['type']} Kind
 * @typedef {Grant['status']} Status
 * @typedef {import('../contract.js').Schemas['Unlock']} Grant
 * @typedef {{days?: string[], start?: string, end?: string}} Window
 */

export const WEEKDAYS = DAYS.slice(1, 6);

/** The choices of days that a routine may have: [value, text]; a value has the days' names. @returns {[string, string][]} */
export const dayChoices = () => [
    [WEEKDAYS.join(' '), t('grant.weekdays')], ['sunday saturday', t('grant.weekend')], [DAYS.join(' '), t('grant.every_day')],
    ...[1, 2, 3, 4, 5, 6, 0].map((day) => /** @type {[string, string]} */ ([DAYS[day], dayNames[day]])),
];

/** @param {Grant} grant */
const beginOf = (grant) => grant.pass?.from ?? grant.starts_at;

/** Its status now, as the service derives it. @param {Grant} grant @returns {Status} */
export function statusOf(grant) {
    if (grant.status === 'revoked') return 'revoked';
    if (!grant.enabled) return 'inactive';
    if (grant.remaining_uses === 0) return 'exhausted';
    if (grant.ends_at && Date.parse(grant.ends_at) <= now()) return 'expired';
    // The service's word counts where its clock is a little ahead.
    const begins = beginOf(grant);
    return grant.status !== 'active' && begins && Date.parse(begins) > now() ? 'scheduled' : 'active';
}

/** @param {Grant} grant */
export const hasEnded = (grant) => ['inactive', 'exhausted', 'expired', 'revoked'].includes(statusOf(grant));

/** @param {Window} window @param {string | undefined} timezone */
function holds({ days = [], start = '', end = '' }, timezone) {
    const [today, time] = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, weekday: 'long', hour: '2-digit', minute: '2-digit' })
        .format(now()).toLowerCase().split(/,? (?=\d)/);
    const overMidnight = end <= start, yesterday = DAYS[(DAYS.indexOf(today) + 6) % 7];
    return (days.includes(today) && time >= start && (overMidnight || time < end)) || (overMidnight && days.includes(yesterday) && time < end);
}

/** Does it let in whoever buzzes now? @param {Grant} grant */
export function opensNow(grant) {
    if (statusOf(grant) !== 'active' || grant.type === 'passcode') return false;
    if (grant.type === 'timer') return true;
    return (grant.pass?.windows ?? [grant]).some((window) => holds(window, grant.timezone));
}

/** The word for its status. @param {Grant} grant */
export function statusText(grant) {
    if (opensNow(grant)) return t('grant.open_now');
    const texts = {
        active: t('grant.active'), scheduled: t('grant.scheduled'), inactive: grant.type === 'timer' && !grant.pass ? t('grant.expired') : t('grant.inactive'),
        exhausted: t('grant.exhausted'), expired: t('grant.expired'), revoked: t('grant.revoked'),
    };
    return texts[statusOf(grant)];
}

/** @param {Grant} grant */
export function usesText({ remaining_uses: left }) {
    if (left === null || left === undefined) return t('grant.unlimited');
    return left === 1 ? t('grant.one_use') : t('grant.uses', { count: left });
}

/** "Weekdays, 9:00 to 12:00". @param {Window & {timezone?: string}} grant @param {boolean} sent */
function scheduleText({ days = [], start = '', end = '', timezone = zone }, sent) {
    const day = dayChoices().find(([value]) => value.split(' ').sort().join() === [...days].sort().join())?.[1] ?? days.map((name) => dayNames[DAYS.indexOf(name)]).join(', ');
    const elsewhere = sent ? ` (${placeNote(timezone)})` : timezone === zone ? '' : ` (${city(timezone)})`;
    return t('grant.schedule', { days: day, start: hour(start), end: hour(end) }) + elsewhere;
}

/** A pass as its sentence is made of it; undefined for another grant. @param {Grant} grant @returns {import('./pass.js').Pass | undefined} */
export const passOf = ({ label, type, pass, remaining_uses }) => pass && { label, code: type === 'passcode', remaining_uses, ...pass };

/**
 * When it opens the door: "until 17:30".
 * @param {Grant} grant @param {boolean} [sent] to somebody who reads it another day, elsewhere: with day, date and zone
 * @returns {string}
 */
export function timeText(grant, sent = false) {
    const pass = passOf(grant);
    return pass ? timesText(pass, sent) : grant.type === 'routine' ? scheduleText(grant, sent) : spanText(grant, sent ? exactTime : when);
}

/** When a pass opens next, unless it is open, or never will be: a time. @param {Grant} grant */
export function nextOf(grant) {
    const next = grant.pass?.next_opening;
    return next && !hasEnded(grant) && Date.parse(next) > now() ? when(next) : '';
}

/** @param {Grant} grant @param {(at: string) => string} say @returns {string} */
function spanText(grant, say) {
    const begins = beginOf(grant) ?? '';
    if (!grant.ends_at && statusOf(grant) === 'scheduled') return t('grant.begins', { time: say(begins) });
    if (!grant.ends_at) return t('grant.no_end');
    const status = statusOf(grant);
    if (status === 'scheduled') return t('grant.from_to', { start: say(begins), end: say(grant.ends_at) });
    return Date.parse(grant.ends_at) <= now() ? t('grant.ended', { time: say(grant.ends_at) }) : t('grant.until', { time: say(grant.ends_at) });
}

/** Which member made it. @param {Grant} grant */
const byOf = (grant) => grant.created_by_name && t('grant.by', { name: grant.created_by_name });

/** One line about it. @param {Grant} grant */
export function lineOf(grant) {
    const pass = passOf(grant), next = nextOf(grant);
    if (pass) return [shortSentence(pass) + (next && ` ${t('grant.next', { time: next })}`), byOf(grant)].filter(Boolean).join(' · ');
    const left = grant.type === 'timer' && opensNow(grant) && t('grant.left', { time: length(Date.parse(grant.ends_at ?? '') - now()) });
    const limited = typeof grant.remaining_uses === 'number' && grant.remaining_uses > 0;
    return [timeText(grant), left, limited && usesText(grant), byOf(grant)].filter(Boolean).join(' · ');
}

/** Writes a change of the version that the person saw. @param {Grant} grant @param {object} body @returns {Promise<Grant>} */
export const change = (grant, body) => call('PATCH', `${grant.pass ? '/v1/passes' : '/v1/unlock'}/${grant.id}`, body, { match: grant.version });

/** @param {Grant} grant @returns {Promise<Grant>} */
export const reread = (grant) => call('GET', `/v1/unlock/${grant.id}`);

/** The building as a guest finds it: "Home (1 Main Street, Portland)". */
export function doorText() {
    const { label, address } = building;
    const place = [address?.street, address?.city].filter(Boolean).join(', ');
    return place ? `${label} (${place})` : label;
}

/** How a guest gets in, to be sent to them. @param {Grant} grant */
export function invitation(grant) {
    const name = data.settings?.call_box_name;
    const door = { building: doorText(), buzz: name ? t('grant.invite_buzz_name', { name }) : t('grant.invite_buzz') };
    const lines = {
        passcode: t('grant.invite_code', { ...door, code: grant.access_code ?? '' }), timer: t('grant.invite_timer', door), routine: t('grant.invite_routine', door),
    };
    const limited = statusOf(grant) === 'scheduled' || grant.type === 'routine' || grant.pass || grant.ends_at;
    const when = limited && timeText(grant, true);
    return [lines[grant.type], when && t('grant.invite_when', { when })].filter(Boolean).join(' ');
}
