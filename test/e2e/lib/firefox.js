// Debian's Firefox ESR, headless, driven by WebDriver BiDi. It trusts the test daemon's certificate, and its microphone is
// a tone of 300 Hz (lib/wav.js). Run it in a network of its own (lib/namespace.js): no preference stops all of its requests.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { cleanEnvironment } from './daemon.js';
import { COOKIE, signInBrowser } from './site.js';

const PREFERENCES = {
    'media.navigator.streams.fake': true,
    'media.navigator.permission.disabled': true,
    'media.navigator.audio.fake_frequency': 300,
    'media.autoplay.default': 0,
    'media.peerconnection.ice.loopback': true,
    'media.peerconnection.ice.obfuscate_host_addresses': false, // by multicast
    // no requests of its own
    'app.normandy.enabled': false,
    'browser.aboutwelcome.enabled': false,
    'browser.region.update.enabled': false,
    'dom.push.connection.enabled': false,
    'extensions.blocklist.enabled': false,
    'media.gmp-provider.enabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'network.trr.mode': 5,
    'security.remote_settings.crlite_filters.enabled': false,
    'security.remote_settings.intermediates.enabled': false,
    'toolkit.telemetry.server': '',
};
const PATIENCE_MS = 60_000;

export class Firefox {
    static async start() {
        const home = mkdtempSync(join(tmpdir(), 'portero-firefox-'));
        const browser = await puppeteer.launch({
            browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', userDataDir: join(home, 'profile'),
            acceptInsecureCerts: true, extraPrefsFirefox: PREFERENCES, env: cleanEnvironment({ HOME: home }),
            timeout: 120_000, protocolTimeout: 120_000,
        });
        return new Firefox(browser, home);
    }

    constructor(browser, home) {
        this.browser = browser;
        this.home = home;
        this.exited = once(browser.process(), 'exit');
    }

    /** Opens a path of the daemon for the person, in a new profile. prepare: a function that the page runs first, with that argument. */
    async openSigned(w, person, path, prepare, argument) {
        const { cookie } = await signInBrowser(w.client, { email: person.email });
        const context = await this.browser.createBrowserContext();
        await context.setCookie({ name: COOKIE, value: cookie, domain: '127.0.0.1', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' });
        const page = await context.newPage();
        page.setDefaultTimeout(PATIENCE_MS);
        await page.evaluateOnNewDocument(prepare, argument);
        await page.goto(`${w.daemon.https}${path}`);
        return page;
    }

    /** As the power going: no process of it has time for anything. */
    async kill() {
        process.kill(-this.browser.process().pid, 'SIGKILL');
        await this.exited;
    }

    async close() {
        if (this.browser.process().signalCode === null) await this.kill();
        rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
}
