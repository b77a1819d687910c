// Keeps one server for tests: starts and signals it as told on stdin, and when stdin ends, however its owner ended, kills
// it and removes its folder. `node services-keeper.mjs '{"program","args","folder","uid","gid","kill"}'`
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
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(late);
}
rmSync(folder, { recursive: true, force: true });
