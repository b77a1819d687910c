import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nameOf } from './processes.ts';

it.runIf(process.platform === 'linux')(
  'names a process by its program, whatever its main thread is called',
  async () => {
    const child = spawn(process.execPath, [
      '-e',
      'process.title = "other"; console.log(1); setInterval(() => {}, 1000)',
    ]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    expect(readFileSync(`/proc/${child.pid}/comm`, 'utf8')).toBe('other\n');
    expect(nameOf(child.pid!)).toBe(path.basename(process.execPath));
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(nameOf(child.pid!)).toBe('');
  },
);
