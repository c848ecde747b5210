// The servers to measure: Portero, and the servers that it is compared with.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { SERVER_CORE, start } from './lib.mjs';

export const root = new URL('..', import.meta.url).pathname;
export const binary = join(root, 'build/porterod');

const UNLIMITED = {
  PORTERO_LIMITS_REQUESTS_ACTIVE: '100000000', PORTERO_LIMITS_REQUESTS_FREE: '100000000',
  PORTERO_HTTP_CONNECTIONS: '20000', PORTERO_HTTP_IDLE_TIMEOUT_S: '600',
};

const ANYWHERE = { https: '127.0.0.1:0', http: '127.0.0.1:0', sip: '127.0.0.1:0' };

/** `threads` HTTP threads; pinned to the server's core unless `free`. `at`: the addresses, if it may not choose its ports. */
export async function portero(data, { threads = 1, free = false, at = ANYWHERE, env = {} } = {}) {
  const config = join(data, 'bench.conf');
  writeFileSync(config, `mode = sandbox\ndata_dir = "${data}"\ntrusted_proxies = {"127.0.0.0/8"}\nlog_level = warn\n`);
  const args = ['serve', '--config', config, '--https', at.https, '--http', at.http, '--sip', at.sip];
  const server = await start(binary, args, {
    core: free ? undefined : SERVER_CORE,
    ready: /^ready (https:\S+) (http:\S+) sip:(\S+)(?: metrics:(\S+))?/,
    env: { ...UNLIMITED, PORTERO_HTTP_THREADS: String(threads), ...env },
  });
  const [, https, http, sip, metrics] = server.match;
  return { ...server, https, http, sip, metrics };
}

/** One worker, plain and over TLS with Portero's own certificate. `answer`: the body of every answer, or {site, fields}: a
 *  directory of files, which are sent with these fields. */
export async function nginx(dir, answer, certificates) {
  mkdirSync(dir, { recursive: true });
  const plain = 20000 + 2 * (process.pid % 5000), tls = plain + 1;
  const how = typeof answer === 'string' ? `return 200 '${answer}';`
    : `root ${answer.site}; etag off; if_modified_since off; open_file_cache max=10 inactive=1h; sendfile on; tcp_nopush on;
      ${answer.fields.map(([name, value]) => `add_header ${name} "${value.replace(/"/g, '\\"')}";`).join(' ')}`;
  writeFileSync(join(dir, 'nginx.conf'), `
${process.getuid() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; default_type application/json; keepalive_timeout 600;
  client_body_temp_path ${dir}/b; proxy_temp_path ${dir}/p; fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
  server {
    listen 127.0.0.1:${plain} reuseport;
    listen 127.0.0.1:${tls} ssl reuseport;
    ssl_certificate ${certificates}/tls.crt; ssl_certificate_key ${certificates}/tls.key; ssl_protocols TLSv1.2 TLSv1.3;
    location / { ${how} }
  }
}`);
  const server = await start('nginx', ['-c', join(dir, 'nginx.conf'), '-p', dir], { core: SERVER_CORE });
  const worker = Number(spawnSync('pgrep', ['-P', String(server.pid)]).stdout.toString().trim().split('\n')[0] || server.pid);
  return { ...server, pid: worker, http: `http://127.0.0.1:${plain}`, https: `https://127.0.0.1:${tls}` };
}

/** Portero's own HTTP engine with a handler that answers `bytes` bytes: no gate, no store. */
export async function constant(bytes) {
  const server = await start(join(root, 'build/bench_http'), ['--bytes', String(bytes)], { core: SERVER_CORE, ready: /^ready (\S+)/ });
  return { ...server, http: server.match[1] };
}

/** The Fastify and better-sqlite3 server of bench/peer on a copy of the same store. */
export async function fastify(database) {
  const dir = join(root, 'bench/peer');
  const server = await start(process.execPath, [join(dir, 'server.mjs'), database], { core: SERVER_CORE, ready: /^ready (\S+)/ });
  return { ...server, http: server.match[1] };
}
