/** A name server that records every lookup by any process or library. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Resolver {
  /** Names in lower case, without a trailing dot, in the order of their first query. */
  readonly names: ReadonlySet<string>;
  close(): void;
}

/**
 * IP addresses returned for unexpected names. They are outside of the namespace, so that the connection after the
 * lookup is recorded too.
 */
export const OUTSIDE = { A: '198.51.100.7', AAAA: '2001:db8:ffff::7' } as const;

const HEADER_BYTES = 12;
const QUESTION_TAIL_BYTES = 4;
const TYPE_A = 1;
const TYPE_AAAA = 28;

/** Listens on port 53 of 127.0.0.1. Names in `here` resolve to 127.0.0.1. */
export async function startResolver(here: readonly string[]): Promise<Resolver> {
  const names = new Set<string>();
  const answer = (query: Buffer): Buffer => {
    const { name, type, end } = questionOf(query);
    names.add(name);
    return answerOf(query.subarray(0, end), type, here.includes(name));
  };
  const udp = createSocket('udp4', (query, from) => udp.send(answer(query), from.port, from.address));
  const tcp = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const response = answer(received.subarray(2));
      socket.end(Buffer.concat([Buffer.from([response.length >> 8, response.length & 255]), response]));
    });
  });
  udp.bind(53, '127.0.0.1');
  tcp.listen(53, '127.0.0.1');
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
  return {
    names,
    close() {
      udp.close();
      tcp.close();
    },
  };
}

/** Parses the question of a query (RFC 1035, section 4.1.2). */
function questionOf(query: Buffer) {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    end: at + 1 + QUESTION_TAIL_BYTES,
  };
}

function answerOf(asked: Buffer, type: number, isHere: boolean): Buffer {
  const data = dataOf(type, isHere);
  const header = Buffer.from(asked.subarray(0, HEADER_BYTES));
  // Flags: response, recursion available, no error.
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(data ? 1 : 0, 6);
  header.fill(0, 8);
  const parts = [header, asked.subarray(HEADER_BYTES)];
  if (data) {
    const record = Buffer.alloc(12);
    // A pointer to the name in the question.
    record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    parts.push(record, data);
  }
  return Buffer.concat(parts);
}

function dataOf(type: number, isHere: boolean): Buffer | undefined {
  if (type === TYPE_A) return Buffer.from((isHere ? '127.0.0.1' : OUTSIDE.A).split('.').map(Number));
  if (type !== TYPE_AAAA || isHere) return undefined;
  return Buffer.from('20010db8ffff00000000000000000007', 'hex');
}
