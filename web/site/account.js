// Leaves of the account's page what fits the checkout's end: ?checkout=success or cancel. Anything else, or nothing,
// leaves it as it is.

const end = new URLSearchParams(location.search).get('checkout');
const sections = [...document.querySelectorAll('[data-checkout]')];
if (sections.some((section) => section.dataset.checkout === end)) {
    for (const section of sections) section.hidden = section.dataset.checkout !== end;
}
