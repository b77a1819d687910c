// Supervises one server for tests. Commands from stdin start it and send signals to it. When stdin ends, for whatever
// reason, the supervisor kills the server and removes its folder. `node service-supervisor.mjs
// '{"program","args","folder","uid","gid","kill"}'`
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const { program, args, folder, uid, gid, kill } = JSON.parse(process.argv[2]);
const log = openSync(path.join(folder, 'log'), 'a');
let child;

function start() {
  child = spawn(program, args, { cwd: folder, uid, gid, detached: true, stdio: ['ignore', log, log] });
  child.once('error', () => console.log('ended'));
  child.once('exit', () => console.log('ended'));
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'start') start();
  else child?.kill(line);
}
if (child?.pid && child.exitCode === null && child.signalCode === null) {
  const ended = once(child, 'exit');
  child.kill(kill);
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(killTimer);
}
rmSync(folder, { recursive: true, force: true });
