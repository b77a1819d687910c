/** Requests and snapshots for the tests of the cache. */
import type { GivenOptions } from '../options/options.ts';
import { resolve } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Target } from '../target.ts';

export const TEA_URL = 'https://tea.example/Leaves?kind=green';

/** A request to read a URL, or content sent with the request. */
export const request = (
  given: GivenOptions = {},
  target: string | Target = TEA_URL,
  more: Partial<ReadRequest> = {},
): ReadRequest => ({
  target: typeof target === 'string' ? { url: target } : target,
  options: resolve(given),
  signal: new AbortController().signal,
  keyed: false,
  ...more,
});

export const page = (words: string, more: Partial<Snapshot> = {}): Snapshot => ({
  url: TEA_URL,
  status: 200,
  statusText: 'OK',
  mediaType: 'text/html',
  text: `<!doctype html><title>Tea</title><p>${words}</p>`,
  settled: true,
  hiddenFrames: false,
  hiddenShadow: false,
  notes: [],
  engine: 'direct',
  ...more,
});

export const file = (words: string, more: Partial<Snapshot> = {}): Snapshot =>
  page(words, {
    url: 'https://tea.example/leaves.pdf',
    text: `<html><head><title></title></head><body>${words}</body></html>`,
    document: { title: 'leaves', mediaType: 'application/pdf', metadata: {}, hiddenCount: 0 },
    ...more,
  });

export const last = async (snapshots: AsyncIterable<Snapshot>): Promise<Snapshot> => {
  let latest: Snapshot | undefined;
  for await (const snapshot of snapshots) latest = snapshot;
  if (!latest) throw new Error('there was no snapshot');
  return latest;
};
