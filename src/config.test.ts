import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, environmentName, flagName, readConfig, unknownVariables } from './config.ts';
import { PLANS, plansWith } from './plans.ts';

let dir: string;
const write = (text: string) => {
  const file = path.join(dir, 'lectern.yaml');
  writeFileSync(file, text);
  return file;
};
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-config-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('settings', () => {
  it('derives the environment variable and the flag from the name', () => {
    expect([environmentName('allowNetworks'), flagName('allowNetworks')]).toEqual([
      'LECTERN_ALLOW_NETWORKS',
      '--allow-networks',
    ]);
  });

  it('prefers flags to the environment, the environment to the file, the file to the default', () => {
    const LECTERN_CONFIG = write('readerPort: 1\nsearchPort: 2\nmodelPort: 3\n');
    const environment = { LECTERN_CONFIG, LECTERN_READER_PORT: '4', LECTERN_SEARCH_PORT: '5' };
    const config = readConfig({ environment, flags: { readerPort: '6' } });
    expect([config.readerPort, config.searchPort, config.modelPort, config.flowPort]).toEqual([6, 5, 3, 3003]);
  });

  it('reads lists from comma-separated text and from the file', () => {
    expect(readConfig({ environment: { LECTERN_ALLOW_NETWORKS: '10.0.0.0/8, a.test:80' } }).allowNetworks).toEqual([
      '10.0.0.0/8',
      'a.test:80',
    ]);
    expect(readConfig({ flags: { config: write('allowNetworks: [b.test]') } }).allowNetworks).toEqual(['b.test']);
  });

  it('names every problem with its source', () => {
    const config = write('worker: 3\nbrowserPages: none\n');
    const run = () => readConfig({ environment: { LECTERN_READER_PORT: 'x' }, flags: { config } });
    expect(run).toThrow(ConfigError);
    expect(run).toThrow(
      /LECTERN_READER_PORT: .*\nbrowserPages in .*: .*\nworker in .*: unknown setting: did you mean workers\?/,
    );
  });

  it('names the setting that an unknown variable probably means', () => {
    const means = (name: string) => unknownVariables({ [name]: '1', PATH: '/bin' });
    expect(means('LECTERN_MODELS_PORT')).toEqual([
      'LECTERN_MODELS_PORT is not a known setting and has no effect: did you mean LECTERN_MODEL_PORT?',
    ]);
    expect(means('LECTERN_QQQQ')).toEqual(['LECTERN_QQQQ is not a known setting and has no effect']);
    expect(means('LECTERN_MODEL_PORT')).toEqual([]);
  });

  it.each([
    ['plans:\n  gold:\n    concurrency: 3\n', 'plans.gold', 2, 'unknown setting'],
    [
      'plans:\n  free:\n    reader:\n      requestsPerMinute: -5\n',
      'plans.free.reader.requestsPerMinute',
      4,
      'must be at least 1',
    ],
    [
      'plans:\n  free: { reader: { requestsPerMinute: 5,\n      rpm: 7 } }\n',
      'plans.free.reader.rpm',
      3,
      'unknown setting',
    ],
    [
      'plans:\n  free:\n    reader: { tokensPerMinute: 5 }\n',
      'plans.free.reader.tokensPerMinute',
      3,
      'unknown setting',
    ],
    ['readerPort: 1\nadminPort:\n', 'adminPort', 2, 'has no value'],
    ['plans:\n  free:\n    features: [proxy, magic]\n', 'plans.free.features.1', 3, 'must be one of '],
    ['plans:\n  free:\n    concurrency: 2.5\n', 'plans.free.concurrency', 3, 'whole number above zero'],
    ['\nkeylessRpm: -1\n', 'keylessRpm', 2, 'must be at least 0'],
    ['trustedProxies: [10.0.0.0/8, nonsense]\n', 'trustedProxies', 1, 'must be IP addresses'],
    ['auth: perhaps\n', 'auth', 1, 'must be one of on, off'],
    ['readerPort: many\n', 'readerPort', 1, 'must be a number$'],
    ['readerPort: 1.5\n', 'readerPort', 1, 'must be a whole number$'],
    ['readerPort: 70000\n', 'readerPort', 1, 'must be at most 65535$'],
    ['otlpUrl: here\n', 'otlpUrl', 1, 'must be a URL$'],
  ])('names the line of %j', (text, name, line, reason) => {
    const run = () => readConfig({ flags: { config: write(text) } });
    expect(run).toThrow(new RegExp(`^${name.replaceAll('.', '\\.')} in .*, line ${line}: .*${reason}`));
  });

  it('applies the given plans to the table of plans', () => {
    const { plans } = readConfig({
      environment: { LECTERN_PLANS: '{"free":{"concurrency":"none","reader":{"requestsPerMinute":7}}}' },
    });
    const { free, paid } = plansWith(plans);
    expect([free.concurrency, free.endpoints.reader.requestsPerMinute]).toEqual([undefined, 7]);
    expect([free.endpoints.search, paid]).toEqual([PLANS.free.endpoints.search, PLANS.paid]);
  });

  it('reads the limits and features of callers without a key', () => {
    expect(readConfig()).toMatchObject({ keylessRpm: 20, keylessFeatures: ['scripts'], auth: 'on' });
    const environment = { LECTERN_KEYLESS_RPM: 'none', LECTERN_KEYLESS_FEATURES: 'proxy, modelFormats' };
    expect(readConfig({ environment })).toMatchObject({
      keylessRpm: 'none',
      keylessFeatures: ['proxy', 'modelFormats'],
    });
    expect(() => readConfig({ environment: { LECTERN_KEYLESS_FEATURES: 'all' } })).toThrow(/KEYLESS_FEATURES/);
  });

  it('fails when the file of --config does not exist', () => {
    expect(() => readConfig({ flags: { config: path.join(dir, 'none.yaml') } })).toThrow(/cannot be read/);
  });
});
