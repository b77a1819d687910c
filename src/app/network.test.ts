import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '#config.ts';
import { parseAddress } from '#net/guard/ip-address.ts';
import { createLog } from '#telemetry/log.ts';
import { CloseStack } from './close-stack.ts';
import { openNetwork } from './network.ts';

const log = createLog('silent');

describe('the egress proxy', () => {
  let dataDir: string;
  let resources: CloseStack;
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(os.tmpdir(), 'network-'));
    resources = new CloseStack();
  });
  afterEach(async () => {
    await resources.closeAll(log);
    rmSync(dataDir, { recursive: true });
  });

  const open = (environment: Record<string, string>) => {
    const config = readConfig({ environment: { LECTERN_DATA_DIR: dataDir, ...environment } });
    return openNetwork(config, { version: '0', log }, resources);
  };

  it('is not started without a browser', async () => {
    expect((await open({ LECTERN_BROWSER: 'none' })).openEgress).toBeUndefined();
  });

  it('is started once when a browser of this machine needs it, and closed with the rest', async () => {
    // Any program: the browser itself is launched when a page needs it.
    const { openEgress, ownPorts } = await open({ LECTERN_BROWSER: process.execPath });
    const [egress, again] = await Promise.all([openEgress!(), openEgress!()]);
    expect(again).toBe(egress);
    expect(egress.remote).toBeUndefined();
    expect(ownPorts.has(parseAddress('127.0.0.1')!, egress.port)).toBe(true);
    await resources.closeAll(log);
    await expect(fetch(egress.url)).rejects.toThrow();
  });

  it('is started for browsers on other machines', async () => {
    const { openEgress, ownPorts } = await open({
      LECTERN_BROWSER: 'none',
      LECTERN_BROWSER_URL: 'ws://127.0.0.1:9',
      LECTERN_BROWSER_TOKEN: 't'.repeat(32),
      LECTERN_EGRESS_PROXY_HOST: '127.0.0.1',
      LECTERN_EGRESS_PROXY_PORT: '0',
    });
    const { remote } = await openEgress!();
    expect(ownPorts.has(parseAddress('127.0.0.1')!, remote!.port)).toBe(true);
  });

  it('says at the start that its port for browsers on other machines is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await expect(
      open({
        LECTERN_BROWSER: 'none',
        LECTERN_BROWSER_URL: 'ws://127.0.0.1:9',
        LECTERN_BROWSER_TOKEN: 't'.repeat(32),
        LECTERN_EGRESS_PROXY_HOST: '127.0.0.1',
        LECTERN_EGRESS_PROXY_PORT: String(port),
      }),
    ).rejects.toThrow(`LECTERN_EGRESS_PROXY_PORT: port ${port} is in use`);
    server.close();
  });

  it('refuses a browser that cannot be run', async () => {
    await expect(open({ LECTERN_BROWSER: path.join(dataDir, 'none') })).rejects.toThrow('LECTERN_BROWSER');
  });
});
