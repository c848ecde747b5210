// The first data of the page, which came with it; see src/site/pages.c.

/**
 * @typedef {import('../contract.js').Schemas['Building']} Building
 * @typedef {{page: {kept?: boolean, at: string, building: string, seq: number, closed: string[], door: import('./live.js').LiveEvent[]}} & import('../contract.js').Data} PageData
 */

/** The answers of the page's parts by their names. Empty on a page for people who are not signed in. */
export const data = /** @type {PageData} */ (JSON.parse(document.getElementById('data')?.textContent || '{}'));

/** The building that the page is about. */
export const building = /** @type {Building} */ (data.buildings?.data.find((one) => one.id === data.page.building));

/** Whether this person has the page of that path: members of a building lack the owner's. @param {string} path */
export const has = (path) => !data.page.closed.includes(path);
