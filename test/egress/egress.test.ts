/**
 * The whole product in a network without a connection to the outside. Records every name that one of its processes
 * looks up and every packet that it tries to send. Only hosts that a caller or a setting named may be recorded.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { programFile } from '../support/program.ts';
import { shareBrowser } from '../support/share-browser.ts';
import { makeFiles } from './files.ts';
import { findWay, runInside } from './namespace.ts';
import type { Seen, Task } from './product.ts';
import { HOSTS } from './sites.ts';

const { way = [], refusal } = findWay();
if (refusal) console.warn(`what leaves the machine is not watched: ${refusal}`);

const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-egress-'));
const home = path.join(folder, 'home');
mkdirSync(home);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const environment = { PATH: process.env.PATH ?? '', HOME: home };

describe.skipIf(refusal)('in an isolated network', { timeout: 600_000 }, () => {
  it('names and connections of a process that reports home are detected', async () => {
    const seen = await runInside<{
      names: string[];
      places: string[];
      packets: number;
      before: object;
      doctor: object;
    }>({
      way,
      script: 'control.ts',
      folder,
      environment,
    });
    expect(seen.before).toEqual({ packets: 0, places: [] });
    expect(seen.names.toSorted()).toEqual(['connected.control.test', 'looked-up.control.test', 'queried.control.test']);
    expect(seen.places).toContain('tcp 198.51.100.9 443');
    // The destination that the name resolved to. The machine decides whether IPv4 or IPv6 is tried.
    expect(seen.places.join('\n')).toMatch(/198\.51\.100\.7 443|:0007 443/);
    if (existsSync('/proc/net/if_inet6'))
      expect(seen.places).toContain('tcp6 2001:0db8:ffff:0000:0000:0000:0000:0009 443');
    expect(seen.doctor).toMatchObject({
      state: 'broken',
      found: expect.stringContaining('node: tcp 198.51.100.9 443'),
    });
    expect(seen.packets).toBeGreaterThan(seen.places.length);
  });

  it('the product contacts only hosts that callers and settings name', async () => {
    const dataDir = path.join(folder, 'data');
    shareBrowser(dataDir);
    const task: Task = { program: await programFile(), dataDir, given: await makeFiles(path.join(folder, 'files')) };
    const seen = await runInside<Seen>({
      way,
      script: 'product.ts',
      folder,
      environment: { ...environment, LECTERN_EGRESS_TASK: JSON.stringify(task) },
    });
    expect.soft(seen.steps.filter(({ failed }) => failed)).toEqual([]);
    expect.soft(seen.names.toSorted()).toEqual(Object.values(HOSTS).toSorted());
    expect.soft({ packets: seen.packets, places: seen.places }).toEqual({ packets: 0, places: [] });
    // The home directory stays empty.
    expect.soft(readdirSync(home, { recursive: true })).toEqual([]);
  });
});
