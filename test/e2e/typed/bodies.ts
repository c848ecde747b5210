// Bodies of grants as the generated types see them: which fields belong together. Nothing here runs; each wrong body must
// be an error of the compiler, or it complains of the comment above it.
import type { Schemas } from './client.js';

const week = { days: ['Tuesday', 'THURSDAY'], start: '09:00', end: '12:00', timezone: 'Europe/Berlin' };
const ends_at = '2026-11-21T00:00:00Z';

export const created: Schemas['UnlockCreate'][] = [
    { type: 'timer', expires_in_minutes: 5 },
    { type: 'timer', ends_at, starts_at: '2026-11-20T00:00:00Z', remaining_uses: null },
    { type: 'passcode' },
    { type: 'passcode', access_code: '0815', enter_code_with_voice: true, ends_at },
    { type: 'routine', ...week, label: 'Cleaner', enabled: false },
    // @ts-expect-error: a type is never inferred
    { expires_in_minutes: 5 },
    // @ts-expect-error: there is no such type
    { type: 'weekly', ...week },
    // @ts-expect-error: a timer needs an end
    { type: 'timer', label: 'Cleaner' },
    // @ts-expect-error: a timer has no days
    { type: 'timer', expires_in_minutes: 5, days: ['tuesday'] },
    // @ts-expect-error: a timer has no code
    { type: 'timer', expires_in_minutes: 5, access_code: '0815' },
    // @ts-expect-error: a passcode has no start
    { type: 'passcode', starts_at: ends_at },
    // @ts-expect-error: a routine has no uses
    { type: 'routine', ...week, remaining_uses: 1 },
    // @ts-expect-error: a routine needs its hours
    { type: 'routine', days: ['tuesday'], timezone: 'Europe/Berlin' },
];

export const changed: Schemas['UnlockUpdate'][] = [
    { label: 'Flowers' },
    { enabled: true, ends_at },
    { access_code: '12', ends_at: null },
    { start: '09:00', end: '11:00' },
    // @ts-expect-error: the type cannot change
    { type: 'timer' },
];
