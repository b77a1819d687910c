/** What the doctor says about stores and browsers on other machines, with real ones and with wrong settings. */
import { afterAll, describe, expect, it } from 'vitest';
import { remoteChecks } from '#app/doctor/remote.ts';
import { readConfig } from '#config.ts';
import { startOpenSearch } from '../support/opensearch-server.ts';
import { s3Bucket } from '../support/services.ts';

const bucket = await s3Bucket();
const openSearch = await startOpenSearch();
afterAll(() => openSearch.close());

async function findings(flags: Record<string, unknown>) {
  const checks = remoteChecks(readConfig({ environment: {}, flags }));
  return Promise.all(checks.map(async ({ name, run }) => ({ name, ...(await run()) })));
}

it('checks nothing that is not configured', async () => {
  expect(await findings({})).toEqual([]);
});

describe.skipIf(!bucket)('a bucket', () => {
  const settings = (url: string, secret = bucket!.credentials!.secretAccessKey) => ({
    blobsUrl: url,
    blobsEndpoint: bucket!.endpoint,
    blobsAccessKey: bucket!.credentials!.accessKeyId,
    blobsSecretKey: secret,
  });

  it('is written, read and emptied again', async () => {
    const [found] = await findings(settings(bucket!.url));
    expect(found).toEqual({ name: 'Bucket', state: 'ok', found: 'objects can be written, read and removed' });
  });

  it('is broken if it is missing, if a key is wrong, or if the store is away', async () => {
    const wrong = [
      settings('s3://no-such-bucket'),
      settings(bucket!.url, 'wrong'),
      { ...settings(bucket!.url), blobsEndpoint: 'http://127.0.0.1:1' },
    ];
    for (const flags of wrong) {
      const [found] = await findings(flags);
      expect(found).toMatchObject({
        state: 'broken',
        found: expect.stringContaining('the S3 store could not be written: '),
        advice: expect.stringContaining('LECTERN_BLOBS_URL'),
      });
      expect(JSON.stringify(found)).not.toContain(bucket!.credentials!.secretAccessKey);
    }
  });
});

it('asks the search engine what it is', async () => {
  expect(await findings({ indexUrl: openSearch.url('pages') })).toEqual([
    { name: 'Search engine', state: 'ok', found: 'OpenSearch 2.19.0' },
  ]);
  expect(openSearch.requests).toEqual(['GET /']);
  const wrong = openSearch.url('pages').replace('lectern:', 'guest:');
  for (const indexUrl of [wrong, 'opensearch+http://127.0.0.1:1', openSearch.url('Upper')]) {
    const [found] = await findings({ indexUrl });
    expect(found, indexUrl).toMatchObject({ state: 'broken', advice: expect.stringContaining('LECTERN_INDEX_URL') });
    expect(JSON.stringify(found)).not.toContain('tea');
  }
});

it('names each remote browser that does not answer', async () => {
  const [found] = await findings({ browserUrl: 'ws://127.0.0.1:1/a,ws://127.0.0.1:1/b' });
  expect(found).toMatchObject({ name: 'Remote browsers', state: 'broken' });
  expect(found!.found.match(/it cannot be reached \(ECONNREFUSED\)/g)).toHaveLength(2);
});
