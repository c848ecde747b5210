// The metrics page of a daemon with METRICS in its configuration.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

export const METRICS = { listen: { metrics: '127.0.0.1:0' } };

/** The page as text. */
export async function page(daemon) {
    const response = await fetch(`http://${daemon.metrics}/metrics`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    return response.text();
}

/** The samples of a page: {'name{labels}': value}. */
export function samples(text) {
    return Object.fromEntries(text.split('\n').filter((line) => line && !line.startsWith('#')).map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
    }));
}

/** The samples that differ between two pages: {'name{labels}': by how much}. */
export function raised(before, after) {
    const [was, is] = [samples(before), samples(after)];
    return Object.fromEntries(Object.keys(is).filter((name) => is[name] !== (was[name] ?? 0)).map((name) => [name, is[name] - (was[name] ?? 0)]));
}

/** Whether readiness answers 200, and its reasons. */
export async function ready(daemon) {
    const response = await fetch(`http://${daemon.metrics}/ready`);
    const body = await response.json();
    assert.equal(body.ready, response.status === 200);
    if (!body.ready) assert.equal(response.status, 503);
    return body;
}

/** Runs promtool and checks that it found nothing. */
export function promtool(args, input) {
    const done = spawnSync('promtool', args, { input, encoding: 'utf8', timeout: 30_000 });
    if (done.error) throw done.error;
    assert.equal(done.status, 0, done.stdout + done.stderr);
    return done;
}
