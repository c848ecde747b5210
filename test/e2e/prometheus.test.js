// Prometheus scrapes a daemon, and answers every expression of the alerts and of the dashboard that are in packaging/.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { engine, root, temporaryDirectory } from './lib/daemon.js';
import { METRICS, page, promtool, samples } from './lib/metrics.js';
import { buzz, QUICK } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { eventually, grant, resident, useWorld } from './lib/world.js';

const packaging = (path) => join(root, 'packaging', path);
const panels = JSON.parse(readFileSync(packaging('grafana/portero.json'), 'utf8')).panels;
const other = engine === 'sqlite' ? '(PostgreSQL)' : '(SQLite)';

describe('Prometheus', () => {
    const w = useWorld({ config: { ...METRICS, ...QUICK, ...REACHABLE } });
    const receiver = useReceiver();
    const directory = temporaryDirectory();
    let port;
    let child;

    const query = async (path, parameters = {}) => {
        const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`);
        const body = await response.json();
        assert.equal(body.status, 'success', `${parameters.query}: ${body.error}`);
        return body.data;
    };

    before(async () => {
        port = await freePort();
        writeFileSync(join(directory, 'prometheus.yml'), JSON.stringify({
            global: { scrape_interval: '1s', evaluation_interval: '1s' },
            rule_files: [packaging('prometheus/alerts.yml')],
            scrape_configs: [{ job_name: 'portero', static_configs: [{ targets: [w.daemon.metrics] }] }],
        }));
        child = spawn('prometheus', [`--config.file=${join(directory, 'prometheus.yml')}`, `--storage.tsdb.path=${join(directory, 'data')}`,
            `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'], { stdio: ['ignore', 'ignore', 'inherit'] });
        await eventually(() => query('query', { query: 'up' }).catch(() => null), 'Prometheus');
    });
    after(() => {
        child?.kill('SIGKILL');
        rmSync(directory, { recursive: true, force: true });
    });

    it('reads the page, every series of it', async () => {
        await eventually(async () => (await query('query', { query: 'up{job="portero"}' })).result[0]?.value[1] === '1', 'a scrape');
        const series = async () => Number((await query('query', { query: 'scrape_samples_scraped' })).result[0].value[1]);
        await eventually(async () => await series() === Object.keys(samples(await page(w.daemon))).length, 'all series');
    });

    it('gives every panel of the dashboard something to show, after calls, requests and deliveries', async () => {
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        ok(await person.client.post('/v1/webhooks', { url: receiver.url() }), 201);
        assert.equal((await buzz(w.daemon, person.number, '--digits', '1234')).tones, '9');
        for (const { title, targets } of panels.filter((panel) => !panel.title.includes(other))) {
            for (const { expr } of targets) {
                const text = expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');
                await eventually(async () => (await query('query', { query: text })).result.length > 0, `${title}: ${text}`, 30_000);
            }
        }
    });

    it('evaluates every alert, and none fires at a healthy service that is new', async () => {
        const rules = async () => (await query('rules')).groups.flatMap((group) => group.rules);
        await eventually(async () => (await rules()).every(({ health }) => health === 'ok'), 'the evaluation of the rules');
        const firing = (await rules()).filter(({ state, name }) => state !== 'inactive' && name !== 'PorteroCertificate' && name !== 'PorteroBackupOld');
        assert.deepEqual(firing.map(({ name }) => name), []);
    });

    it('finds the alerts valid, each firing at its trouble and silent without it', () => {
        promtool(['check', 'rules', packaging('prometheus/alerts.yml')]);
        promtool(['test', 'rules', packaging('prometheus/alerts_test.yml')]);
    });

    it('has a rule for each alert that the documentation explains, and the other way round', () => {
        const names = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name).sort();
        const rules = names(readFileSync(packaging('prometheus/alerts.yml'), 'utf8'), /alert: (\w+)/g);
        const explained = names(readFileSync(join(root, 'docs/operations.md'), 'utf8'), /^\| (Portero[A-Z]\w+) \|/gm);
        assert.deepEqual(explained, rules);
    });
});
