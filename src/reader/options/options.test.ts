import { expect, it } from 'vitest';
import { gather } from '#http/gather.ts';
import { OPTIONS } from './options.ts';

it('takes an upload of 100 MB without looking at its bytes', () => {
  const file = new Uint8Array(100_000_000);
  expect(gather(OPTIONS, { headers: {}, query: undefined, body: { file } }).file).toBe(file);
});
