/** Real proxies on loopback for network tests, and test certificates. */
import { createServer as createHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { type HttpServerOptions, type PrepareRequestFunctionResult, RequestError, Server } from 'proxy-chain';
import { onTestFinished } from 'vitest';
import { type Loopback, started, startTcp } from './loopback.suite.ts';

/** A self-signed certificate for site.example and 127.0.0.1. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAuUJaGuxJFDEyFol
+FI8IOd5q3XlThd1Eyr8cRbZq8ihRANCAATSAqP4+XQiKGZujd7yDSlJyErJCC9H
85hc5E1H3bcjwBN2tNRvakX3lGF4B7/QsfTN74UNpgzd0ymz30hml++x
-----END PRIVATE KEY-----`;
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBpDCCAUqgAwIBAgIUB0AEJUjxypngtmJhX0cI01IzHwMwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMc2l0ZS5leGFtcGxlMCAXDTI2MTEyMTAyMTAxNVoYDzIxMjYx
MDI4MDIxMDE1WjAXMRUwEwYDVQQDDAxzaXRlLmV4YW1wbGUwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAATSAqP4+XQiKGZujd7yDSlJyErJCC9H85hc5E1H3bcjwBN2
tNRvakX3lGF4B7/QsfTN74UNpgzd0ymz30hml++xo3IwcDAdBgNVHQ4EFgQU5zyf
3WitEv+QxH8nMOVOTRemoEkwHwYDVR0jBBgwFoAU5zyf3WitEv+QxH8nMOVOTRem
oEkwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHREEFjAUggxzaXRlLmV4YW1wbGWHBH8A
AAEwCgYIKoZIzj0EAwIDSAAwRQIgA7VWYgmp6qVkaxohGkBwJdpkOLtP6euzzNun
zW/3EjICIQDRvyAH4iY4bIEtZyGcPo/RaLHkXLorDU7Mm1VXTDcXLw==
-----END CERTIFICATE-----`;

export interface TestProxy extends Loopback {
  /** Requested targets: `host:port`, or the full URL for plain requests. */
  readonly targets: string[];
}

interface Account {
  readonly username: string;
  readonly password: string;
}

/** Resolves test names to loopback. */
const dialled = (host: string) => (host.endsWith('.example') ? '127.0.0.1' : host);

/** An HTTP proxy, over TLS if `secure`. With `refuse`, every request gets this status. */
export async function startHttpProxy({
  account,
  secure = false,
  refuse,
}: {
  account?: Account;
  secure?: boolean;
  refuse?: number;
} = {}): Promise<TestProxy> {
  const targets: string[] = [];
  const options: HttpServerOptions = {
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction({ username, password, hostname, port, isHttp, request }): PrepareRequestFunctionResult {
      if (account && (username !== account.username || password !== account.password)) {
        return { requestAuthentication: true };
      }
      targets.push(isHttp ? request.url! : `${hostname}:${port}`);
      if (refuse) throw new RequestError('No', refuse);
      return { dnsLookup: toLoopback as NonNullable<PrepareRequestFunctionResult['dnsLookup']> };
    },
  };
  const server = new Server(
    secure ? { ...options, serverType: 'https', httpsOptions: { key: KEY, cert: CERTIFICATE } } : options,
  );
  const open = new Set<Socket>();
  let connections = 0;
  server.server.on('connection', (socket: Socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => {}).once('close', () => open.delete(socket));
  });
  await server.listen();
  onTestFinished(() => server.close(true));
  const host = `127.0.0.1:${server.port}`;
  return {
    port: server.port,
    host,
    origin: `${secure ? 'https' : 'http'}://${host}`,
    connections: () => connections,
    open: () => open.size,
    targets,
  };
}

function toLoopback(_: string, { all }: { all?: boolean }, callback: (...parts: unknown[]) => void): void {
  if (all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
}

/** A SOCKS 4 and 5 proxy. With `reply`, it sends this code instead of connecting. */
export async function startSocks({ account, reply }: { account?: Account; reply?: number } = {}): Promise<TestProxy> {
  const targets: string[] = [];
  const proxy = await startTcp((socket) => {
    void serve(socket, targets, account, reply).catch(() => socket.destroy());
  });
  return { ...proxy, targets };
}

async function serve(socket: Socket, targets: string[], account: Account | undefined, reply: number | undefined) {
  const bytes = reader(socket);
  const [version] = await bytes(1);
  const to = version === 4 ? await socks4Target(bytes, account) : await socks5Target(socket, bytes, account);
  targets.push(`${to.host}:${to.port}`);
  const say = (code: number) =>
    socket.write(version === 4 ? [0, code ? 0x5b : 0x5a, 0, 0, 0, 0, 0, 0].reduce(bytesOf, empty) : reply5(code));
  if (reply !== undefined) return void say(reply);
  const target = connect(to.port, dialled(to.host));
  target.once('error', () => {
    say(5);
    socket.end();
  });
  target.once('connect', () => {
    say(0);
    socket.pipe(target).on('error', () => {});
    target.pipe(socket);
    socket.once('close', () => target.destroy());
  });
}

const empty = Buffer.alloc(0);
const bytesOf = (all: Buffer, byte: number) => Buffer.concat([all, Buffer.from([byte])]);
/** Sends the bound address as a name, so that clients must parse its length. */
const reply5 = (code: number) => Buffer.from([5, code, 0, 3, 4, ...Buffer.from('here'), 0, 80]);

async function socks4Target(bytes: (count: number) => Promise<Buffer>, account: Account | undefined) {
  const request = await bytes(7);
  const text = async () => {
    let all = '';
    for (;;) {
      const [byte] = await bytes(1);
      if (!byte) return all;
      all += String.fromCharCode(byte);
    }
  };
  const user = await text();
  if (account && user !== account.username) throw new Error('another user');
  const address = [...request.subarray(3)];
  const host = address.slice(0, 3).every((part) => part === 0) ? `name ${await text()}` : address.join('.');
  return { host: host.replace('name ', ''), port: request.readUInt16BE(1) };
}

async function socks5Target(socket: Socket, bytes: (count: number) => Promise<Buffer>, account: Account | undefined) {
  const [count] = await bytes(1);
  const methods = [...(await bytes(count!))];
  const wanted = account ? 2 : 0;
  if (!methods.includes(wanted)) {
    socket.end(Buffer.from([5, 0xff]));
    throw new Error('no method');
  }
  socket.write(Buffer.from([5, wanted]));
  if (account) {
    await bytes(1);
    const user = (await bytes((await bytes(1))[0]!)).toString();
    const password = (await bytes((await bytes(1))[0]!)).toString();
    const isRight = user === account.username && password === account.password;
    socket.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) throw new Error('wrong');
  }
  const [, , , kind] = await bytes(4);
  const length = kind === 1 ? 4 : kind === 4 ? 16 : (await bytes(1))[0]!;
  const raw = await bytes(length);
  const host = kind === 3 ? raw.toString() : kind === 1 ? [...raw].join('.') : `[${raw.toString('hex')}]`;
  return { host, port: (await bytes(2)).readUInt16BE() };
}

function reader(socket: Socket): (count: number) => Promise<Buffer> {
  return async (count) => {
    for (;;) {
      const read = socket.read(count) as Buffer | null;
      if (read) return read;
      if (socket.readableEnded || socket.destroyed) throw new Error('gone');
      await new Promise((resolve) => socket.once('readable', resolve).once('close', resolve));
    }
  };
}

/** An HTTPS server with the test certificate. */
export const startSecure = (text = 'secure'): Promise<Loopback> =>
  started(createHttps({ key: KEY, cert: CERTIFICATE }, (request, response) => response.end(`${text} ${request.url}`)));
