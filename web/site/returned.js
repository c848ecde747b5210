// Leaves of the account's page what fits the checkout's end: ?checkout=success or cancel. Anything else, or nothing,
// leaves it as it is.

const end = new URLSearchParams(location.search).get('checkout');
/** @type {NodeListOf<HTMLElement>} */
const found = document.querySelectorAll('[data-checkout]');
const sections = [...found];
if (sections.some((section) => section.dataset.checkout === end)) {
    for (const section of sections) section.hidden = section.dataset.checkout !== end;
}
