// Import it first: runs the test file in a network of its own, where only loopback exists and from which nothing leaves.
// Firefox asks the kernel for the address that it would send from, and takes no loopback without an answer. It gets one
// from a default route through loopback, where whatever has another destination is dropped.
import { spawnSync } from 'node:child_process';

const SET_UP = 'ip link set lo up && ip route add default dev lo src 127.0.0.1 && exec "$@"';

if (!process.env.PORTERO_E2E_OWN_NETWORK) {
    const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const { error, status } = spawnSync('unshare', ['--map-root-user', '--net', 'sh', '-c', SET_UP, 'sh', ...again],
        { stdio: 'inherit', env: { ...process.env, PORTERO_E2E_OWN_NETWORK: '1' } });
    if (error) throw error;
    process.exit(status ?? 1);
}
