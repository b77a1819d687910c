import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, environmentName, flagName, readConfig } from './config.ts';

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
  it('names them alike everywhere', () => {
    expect([environmentName('allowNetworks'), flagName('allowNetworks')]).toEqual([
      'LECTERN_ALLOW_NETWORKS',
      '--allow-networks',
    ]);
  });

  it('puts flags over the environment, that over the file, that over the default', () => {
    const LECTERN_CONFIG = write('readerPort: 1\nsearchPort: 2\nmodelPort: 3\n');
    const environment = { LECTERN_CONFIG, LECTERN_READER_PORT: '4', LECTERN_SEARCH_PORT: '5' };
    const config = readConfig({ environment, flags: { readerPort: '6' } });
    expect([config.readerPort, config.searchPort, config.modelPort, config.flowPort]).toEqual([6, 5, 3, 3003]);
  });

  it('takes lists from text and from the file', () => {
    expect(readConfig({ environment: { LECTERN_ALLOW_NETWORKS: '10.0.0.0/8, a.test:80' } }).allowNetworks).toEqual([
      '10.0.0.0/8',
      'a.test:80',
    ]);
    expect(readConfig({ flags: { config: write('allowNetworks: [b.test]') } }).allowNetworks).toEqual(['b.test']);
  });

  it('names every fault with its place', () => {
    const config = write('worker: 3\nbrowserPages: none\n');
    const run = () => readConfig({ environment: { LECTERN_READER_PORT: 'x' }, flags: { config } });
    expect(run).toThrow(ConfigError);
    expect(run).toThrow(/LECTERN_READER_PORT: .*\nbrowserPages in .*: .*\nworker in .*: there is no such setting/);
  });

  it('says when the file is not there', () => {
    expect(() => readConfig({ flags: { config: path.join(dir, 'none.yaml') } })).toThrow(/cannot be read/);
  });
});
