import { describe, expect, it } from 'vitest';
import { createRegion } from '#net/region.ts';
import { refuseAtEuHost, storesOutside } from './eu.ts';

const log = { info: () => {}, warn: () => {} };
const regionOf = (...euHosts: string[]) => createRegion({ region: 'eu', euHosts, log });

describe('stores outside the EU', () => {
  it.each([
    [{}, [], []],
    [{ databaseUrl: 'postgres:///lectern?host=/run/postgresql' }, [], []],
    [{ databaseUrl: 'postgres://me:secret@db.example/lectern' }, [], ['databaseUrl']],
    [{ databaseUrl: 'postgresql://db.example/lectern' }, ['db.example'], []],
    [{ databaseUrl: 'postgres://db.example/lectern' }, ['db.example:5432'], []],
    [{ databaseUrl: 'postgres://db.example:6000/lectern' }, ['db.example:5432'], ['databaseUrl']],
    [{ indexUrl: 'opensearch+https://me:secret@search.example/pages' }, [], ['indexUrl']],
    [{ indexUrl: 'opensearch+https://search.example' }, ['search.example:443'], []],
    [{ redisUrl: 'rediss://:secret@cache.example' }, ['cache.example:6379'], []],
    [{ redisUrl: 'redis://cache.example', databaseUrl: 'postgres://db.example/x' }, ['db.example'], ['redisUrl']],
    [{ blobsUrl: 's3://pages', blobsEndpoint: 'https://s3.example' }, [], ['blobsUrl']],
    [{ blobsUrl: 's3://pages', blobsEndpoint: 'https://s3.example' }, ['s3.example:443'], []],
    [{ blobsUrl: 's3://pages', blobsRegion: 'eu-central-1' }, ['s3.eu-central-1.amazonaws.com'], []],
    [{ blobsUrl: 's3://pages' }, ['s3.eu-central-1.amazonaws.com'], ['blobsUrl']],
  ] as const)('%j with %j: %j', (config, marked, expected) => {
    expect(storesOutside(config, regionOf(...marked))).toEqual(expected);
  });
});

it('refuses work that goes on elsewhere, and pages with such names not', () => {
  const refused = (path: string) => () => refuseAtEuHost(path, { refusal: undefined });
  for (const path of ['/crawl', '/crawls?limit=1', '/crawl/x/pages', '/mcp', '/playground']) {
    expect(refused(path), path).toThrow('inside the EU');
  }
  for (const path of ['/', '/https://mcp.example/crawl', '/crawler.example', '/mcp.example']) {
    expect(refused(path), path).not.toThrow();
  }
});
