/** Section 1 of the second document: command-line flags that enable or disable endpoints. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { startProgram } from '../support/cli.ts';
import { flow } from './seed.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-seed-flow-'));
  writeFileSync(path.join(folder, 'flow.yml'), 'jtype: Flow\nwith: { protocol: HTTP, host: 127.0.0.1 }\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Response statuses of the debug and CRUD endpoints when the program runs a flow with these flags. */
async function statusesWith(...flags: string[]): Promise<{ debug: number[]; crud: number[] }> {
  const program = startProgram(['flow', '--uses', path.join(folder, 'flow.yml'), ...flags]);
  try {
    let out = '';
    program.stdout.on('data', (bytes) => {
      out += bytes;
    });
    await expect.poll(() => out, { timeout: 60_000 }).toMatch(/http:\S+/);
    const [url] = /http:\S+/.exec(out)!;
    const headers = { 'content-type': 'application/json' };
    const statusOf = async ([method, place]: readonly [string, string]) =>
      (await fetch(url + place, { method, headers, ...(method !== 'GET' && { body: '{}' }) })).status;
    const debug = [
      ['GET', '/status'],
      ['POST', '/post'],
    ] as const;
    const crud = [
      ['POST', '/index'],
      ['POST', '/search'],
      ['PUT', '/update'],
      ['DELETE', '/delete'],
    ] as const;
    return { debug: await Promise.all(debug.map(statusOf)), crud: await Promise.all(crud.map(statusOf)) };
  } finally {
    program.kill();
    await once(program, 'close');
  }
}

flow.row(
  '1',
  'Debug endpoints can be turned off with the gateway option `--no-debug-endpoints`; CRUD endpoints can be turned off with `--no-crud-endpoints`. In production the debug endpoints should be hidden.',
  async () => {
    const [hidden, without] = await Promise.all([
      statusesWith('--no-debug-endpoints'),
      statusesWith('--no-crud-endpoints'),
    ]);
    expect(hidden).toEqual({ debug: [404, 404], crud: [200, 200, 200, 200] });
    expect(without).toEqual({ debug: [200, 200], crud: [404, 404, 404, 404] });
  },
);
