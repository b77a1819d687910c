// Full run only: waits for timeouts.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createLookup, type LookupOptions } from './dns.ts';

const TYPES = { 1: 'A', 28: 'AAAA' } as const;
type Records = Partial<Record<'A' | 'AAAA', number[][] | 'silent'>>;

/** A DNS server on loopback. Names outside `zone` do not exist. */
async function startDns(zone: Record<string, Records>, options: Omit<LookupOptions, 'servers'> = {}) {
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    let end = 12;
    const labels: string[] = [];
    while (query[end]) {
      labels.push(query.toString('latin1', end + 1, end + 1 + query[end]!));
      end += query[end]! + 1;
    }
    const name = labels.join('.');
    const type = TYPES[query.readUInt16BE(end + 1) as 1 | 28];
    queries.push(`${name} ${type}`);
    const records = zone[name];
    const answers = records?.[type] ?? [];
    if (answers === 'silent') return;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(records ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    const resources = answers.map((bytes) => {
      const resource = Buffer.alloc(12);
      resource.writeUInt16BE(0xc00c, 0);
      resource.writeUInt16BE(type === 'A' ? 1 : 28, 2);
      resource.writeUInt16BE(1, 4);
      resource.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([resource, Buffer.from(bytes)]);
    });
    socket.send(Buffer.concat([head, query.subarray(12, end + 5), ...resources]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  const lookup = createLookup({
    servers: [`127.0.0.1:${socket.address().port}`],
    tryTimeoutMs: 300,
    system: async () => Promise.reject(new Error('the system resolver was used')),
    ...options,
  });
  return { lookup, queries };
}

const SIX = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

test('finds all addresses of both families, with one query for each', async () => {
  const { lookup, queries } = await startDns({
    'site.com': {
      A: [
        [1, 2, 3, 4],
        [10, 0, 0, 1],
      ],
      AAAA: [SIX],
    },
  });
  expect(await lookup('site.com')).toEqual([
    { address: '1.2.3.4', family: 4 },
    { address: '10.0.0.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
  expect(queries.sort()).toEqual(['site.com A', 'site.com AAAA']);
});

test('finds a name with addresses of one family only', async () => {
  const { lookup } = await startDns({ 'four.com': { A: [[1, 2, 3, 4]] }, 'six.com': { AAAA: [SIX] } });
  expect(await lookup('four.com')).toEqual([{ address: '1.2.3.4', family: 4 }]);
  expect(await lookup('six.com')).toEqual([{ address: '2001:db8::1', family: 6 }]);
});

test('reports a name that does not exist, has no address, or times out', async () => {
  const { lookup } = await startDns({
    'empty.com': {},
    'silent.com': { A: 'silent', AAAA: 'silent' },
    'half.com': { AAAA: 'silent' },
  });
  await expect(lookup('absent.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(lookup('empty.com')).rejects.toMatchObject({ code: 'ENODATA' });
  await expect(lookup('silent.com')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  await expect(lookup('half.com')).rejects.toMatchObject({ code: 'ETIMEOUT' });
});

test('does not wait for the second family if it does not answer', async () => {
  const { lookup } = await startDns({ 'half.com': { A: [[1, 2, 3, 4]], AAAA: 'silent' } }, { tryTimeoutMs: 60_000 });
  expect(await lookup('half.com')).toEqual([{ address: '1.2.3.4', family: 4 }]);
});

test('a hundred names with silent servers delay no other lookup', async () => {
  const zone: Record<string, Records> = { 'good.com': { A: [[1, 2, 3, 4]], AAAA: [] } };
  for (let i = 0; i < 100; i++) zone[`silent${i}.com`] = { A: 'silent', AAAA: 'silent' };
  const { lookup } = await startDns(zone, { tryTimeoutMs: 1_000 });
  let failed = 0;
  const silent = Array.from({ length: 100 }, (_, i) => lookup(`silent${i}.com`).catch(() => failed++));
  expect(await lookup('good.com')).toHaveLength(1);
  expect(failed).toBe(0);
  await Promise.all(silent);
  expect(failed).toBe(100);
});

test('local names are looked up by the system, and all names if there is no name server', async () => {
  const queries: string[] = [];
  const system = async (name: string) => {
    queries.push(name);
    return [{ address: '10.0.0.1', family: 4 }];
  };
  const { lookup } = await startDns({ 'site.com': { A: [[1, 2, 3, 4]] } }, { system });
  for (const name of ['localhost', 'wiki', 'wiki.corp', 'db.lan'])
    expect(await lookup(name)).toEqual([{ address: '10.0.0.1', family: 4 }]);
  await lookup('site.com');
  expect(queries).toEqual(['localhost', 'wiki', 'wiki.corp', 'db.lan']);
  const orphan = createLookup({ servers: ['127.0.0.1:9'], system });
  expect(await orphan('other.com')).toEqual([{ address: '10.0.0.1', family: 4 }]);
});
