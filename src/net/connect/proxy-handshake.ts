/** Proxy handshakes: HTTP CONNECT (RFC 9110, section 9.3.6), SOCKS 4 and 4a, SOCKS 5 (RFC 1928, RFC 1929). */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { problem } from '#errors.ts';
import { parseAddress } from '../guard/ip-address.ts';
import { basicAuthorization, credentialsOf } from '../proxy/proxy-table.ts';
import type { Destination } from './dial.ts';

type Target = Pick<Destination, 'hostname' | 'port' | 'addresses'>;

/**
 * Resolves when the tunnel to the target is open. Bytes that the target sends early remain in the socket. Throws a
 * problem.
 */
export type Handshake = (socket: Socket, proxy: URL, to: Target) => Promise<void>;

const failed = (message: string) => problem('AssertionFailureError', { message });

const MAX_HEAD_BYTES = 16 * 1024;

export const connectByHttp: Handshake = async (socket, proxy, { hostname, port }) => {
  const credentials = credentialsOf(proxy);
  const authority = `${hostname}:${port}`;
  const login = credentials ? `Proxy-Authorization: ${basicAuthorization(credentials)}\r\n` : '';
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${login}\r\n`);
  for (;;) {
    const head = await takeHead(socket);
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(head)?.[1]);
    // Skip interim responses (RFC 9110, section 15.2).
    if (status >= 100 && status < 200) continue;
    if (status >= 200 && status < 300) return;
    throw proxyStatusProblem(status, credentials !== undefined);
  }
};

/** Builds the problem for an error status sent by the proxy itself. */
export function proxyStatusProblem(status: number, hadCredentials: boolean) {
  if (Number.isNaN(status)) return failed('The proxy did not send a valid HTTP response');
  if (status === 407)
    return failed(
      hadCredentials ? 'The proxy does not accept these credentials (407)' : 'The proxy requires credentials (407)',
    );
  if (status >= 500) return failed(`The proxy could not reach the target (${status})`);
  return failed(`The proxy refused the connection to the target (${status})`);
}

export const connectBySocks: Handshake = (socket, proxy, to) =>
  proxy.protocol.startsWith('socks4') ? socks4(socket, proxy, to) : socks5(socket, proxy, to);

/** SOCKS 4 supports only IPv4. SOCKS 4a sends the invalid IP address 0.0.0.1 and appends the host name. */
async function socks4(socket: Socket, proxy: URL, to: Target): Promise<void> {
  const user = credentialsOf(proxy)?.username ?? '';
  const ipv4 = to.addresses.find(({ family }) => family === 4)?.address;
  const byName = !isLiteral(to) && (proxy.protocol === 'socks4a:' || !ipv4);
  if (!byName && !ipv4) throw failed('The proxy supports only IPv4, and the target has only IPv6 addresses');
  const address = byName ? [0, 0, 0, 1] : ipaddr.IPv4.parse(ipv4!).octets;
  const name = byName ? [...Buffer.from(to.hostname), 0] : [];
  socket.write(Buffer.from([4, 1, to.port >> 8, to.port & 0xff, ...address, ...Buffer.from(user), 0, ...name]));
  const [, code] = await take(socket, 8);
  if (code === 0x5a) return;
  if (code === 0x5c || code === 0x5d) throw failed('The proxy does not accept this user name');
  throw failed('The proxy refused the connection to the target');
}

const SOCKS5_REPLIES: Record<number, string> = {
  1: 'The proxy reported a general failure',
  2: 'The proxy does not allow the connection to the target',
  3: 'The proxy could not reach the network of the target',
  4: 'The proxy could not reach the target',
  5: 'The target refused the connection of the proxy',
  6: 'The proxy could not reach the target in time',
  7: 'The proxy does not support connections to targets',
  8: 'The proxy does not support this type of IP address',
};

async function socks5(socket: Socket, proxy: URL, to: Target): Promise<void> {
  const credentials = credentialsOf(proxy);
  const [NONE, PASSWORD] = [0, 2];
  socket.write(Buffer.from(credentials ? [5, 2, NONE, PASSWORD] : [5, 1, NONE]));
  const [version, method] = await take(socket, 2);
  if (version !== 5) throw failed('The proxy did not send a valid SOCKS 5 response');
  if (method === PASSWORD && credentials) await logIn(socket, credentials);
  else if (method !== NONE)
    throw failed(credentials ? 'The proxy does not accept these credentials' : 'The proxy requires credentials');
  socket.write(Buffer.from([5, 1, 0, ...socks5Address(proxy, to), to.port >> 8, to.port & 0xff]));
  const [, reply, , kind] = await take(socket, 4);
  if (reply !== 0) throw failed(SOCKS5_REPLIES[reply!] ?? 'The proxy refused the connection to the target');
  const lengths: Record<number, number> = { 1: 4, 4: 16 };
  const length = kind === 3 ? (await take(socket, 1))[0]! : lengths[kind!];
  if (length === undefined) throw failed('The proxy did not send a valid SOCKS 5 response');
  await take(socket, length + 2);
}

async function logIn(socket: Socket, { username, password }: { username: string; password: string }): Promise<void> {
  const [user, pass] = [Buffer.from(username), Buffer.from(password)];
  socket.write(Buffer.from([1, user.length, ...user, pass.length, ...pass]));
  const [, status] = await take(socket, 2);
  if (status !== 0) throw failed('The proxy does not accept these credentials');
}

function socks5Address(proxy: URL, to: Target): number[] {
  if (proxy.protocol === 'socks5h:' && !isLiteral(to)) {
    const name = Buffer.from(to.hostname);
    return [3, name.length, ...name];
  }
  // Prefer IPv4, because more proxies support it.
  const { address } = to.addresses.find(({ family }) => family === 4) ?? to.addresses[0]!;
  const parsed = ipaddr.parse(address);
  return [parsed.kind() === 'ipv4' ? 1 : 4, ...parsed.toByteArray()];
}

const isLiteral = ({ hostname }: Target) => parseAddress(hostname) !== undefined;

/**
 * Reads exactly `count` bytes. It reads all buffered bytes and unshifts the rest; otherwise `readable` would fire
 * endlessly.
 */
async function take(socket: Socket, count: number): Promise<Buffer> {
  let taken: Buffer = Buffer.alloc(0);
  while (taken.length < count) {
    const bytes = socket.read() as Buffer | null;
    if (bytes) taken = Buffer.concat([taken, bytes]);
    else if (socket.readableEnded) throw closedByProxy();
    else await untilReadable(socket);
  }
  if (taken.length > count) socket.unshift(taken.subarray(count));
  return taken.subarray(0, count);
}

/** Reads the status line and headers, up to the empty line. */
async function takeHead(socket: Socket): Promise<string> {
  let head = '';
  for (;;) {
    const bytes = socket.read() as Buffer | null;
    if (bytes) {
      const before = head.length;
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n', Math.max(0, before - 3));
      if (end >= 0) {
        const rest = bytes.subarray(end + 4 - before);
        if (rest.length) socket.unshift(rest);
        return head.slice(0, end + 2);
      }
      if (head.length > MAX_HEAD_BYTES) throw failed('The headers of the proxy are too large');
    } else if (socket.readableEnded) throw closedByProxy();
    else await untilReadable(socket);
  }
}

const closedByProxy = () => failed('The proxy closed the connection');

/** Waits until the socket is readable or closed. */
async function untilReadable(socket: Socket): Promise<void> {
  if (socket.destroyed) throw closedByProxy();
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    // `once` rejects on a socket error.
    await Promise.race(['readable', 'end', 'close'].map((event) => once(socket, event, { signal })));
  } finally {
    waiting.abort();
  }
}
