// The first data of the page, which came with it; see src/site/pages.c.

/**
 * @typedef {{id: string, label: string, virtual_number: string | null, is_primary: boolean, provisioned: boolean, timezone?: string | null}} Building
 * @typedef {{id: string, label: string, role: string, current: boolean}} Place
 * @typedef {{id: string, email: string, subscription: {type: string, status: string}, virtual_number: string | null} & Record<string, any>} Account
 * @typedef {{page: {kept?: boolean, at: string, building: string, seq: number, closed: string[], door: import('./live.js').LiveEvent[]}, account: Account, buildings: {data: Building[]}, places: {data: Place[], can_create: boolean}} & Record<string, any>} PageData
 */

/** The answers of the page's parts by their names. Empty on a page for people who are not signed in. */
export const data = /** @type {PageData} */ (JSON.parse(document.getElementById('data')?.textContent || '{}'));

/** The building that the page is about. */
export const building = /** @type {Building} */ (data.buildings?.data.find((one) => one.id === data.page.building));

/** Whether this person has the page of that path: members of a building lack the owner's. @param {string} path */
export const has = (path) => !data.page.closed.includes(path);
