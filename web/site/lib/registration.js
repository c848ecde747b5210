// The website's worker, of this page. Pages work without it: browsers refuse it with a certificate that they do not trust.

/** The pages may make one address of a script from text, and only this one (Content-Security-Policy). @type {any} */
let policy;

/** Registers the worker, and waits until it works. */
export async function registered() {
    policy ??= /** @type {any} */ (window).trustedTypes?.createPolicy('worker', { createScriptURL: () => '/worker.js' });
    await navigator.serviceWorker.register(policy ? policy.createScriptURL('') : '/worker.js');
    return navigator.serviceWorker.ready;
}
