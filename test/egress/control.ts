/**
 * Proves that the watchers work: a process makes every kind of forbidden connection, and the script prints what the
 * watchers recorded.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { privacyChecks, watchConnections } from '#app/doctor/privacy.ts';
import { startResolver } from './resolver.ts';
import { startWatch } from './watch.ts';

const OFFENDER = `
const { lookup, resolve4 } = require('node:dns');
const { connect } = require('node:net');
const { createSocket } = require('node:dgram');
const quiet = (socket) => socket.on('error', () => {});
lookup('looked-up.control.test', () => {});
resolve4('queried.control.test', () => {});
quiet(connect(443, 'connected.control.test'));
quiet(connect(443, '198.51.100.9'));
quiet(connect(443, '2001:db8:ffff::9'));
quiet(createSocket('udp4')).send('x', 4000, '198.51.100.10', () => {});
setInterval(() => {}, 1000);
`;

const NAMES = ['looked-up.control.test', 'queried.control.test', 'connected.control.test'];
/** Minimum number of destinations: the IP address in the test, and the one that the name resolves to. */
const MIN_DESTINATIONS = 2;
const TIMEOUT_MS = 30_000;

const resolver = await startResolver([]);
const watch = startWatch();
const examination = watchConnections();
const quiet = watch.seen();
const offender = spawn(process.execPath, ['-e', OFFENDER], { stdio: 'ignore' });
const until = Date.now() + TIMEOUT_MS;
const isAllSeen = () =>
  NAMES.every((name) => resolver.names.has(name)) &&
  watch.seen().places.length >= MIN_DESTINATIONS &&
  watch.seen().packets > MIN_DESTINATIONS;
while (!isAllSeen() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
const { packets, places } = watch.seen();
const doctor = await privacyChecks(examination)[1]!.run();
examination.close();
offender.kill('SIGKILL');
await once(offender, 'exit');
console.log(JSON.stringify({ names: [...resolver.names], packets, places, before: quiet, doctor }));
watch.close();
resolver.close();
