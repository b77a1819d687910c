/** Sends requests that no client library would send. The bytes are written unchanged. */
import net from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Sends one request with these header lines and reads until the server closes the connection. The lines are encoded as
 * Latin-1.
 */
export function rawRequest(
  url: string,
  { method = 'GET', path = '/', lines = [] as readonly string[], body = '' } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const length = Buffer.byteLength(body);
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, 'Connection: close', ...lines];
  if (body) head.push('Content-Type: application/json', `Content-Length: ${length}`);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname);
    const parts: Buffer[] = [];
    const done = () => {
      const text = Buffer.concat(parts).toString('utf8');
      const end = text.indexOf('\r\n\r\n');
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
      if (end < 0 || !status) reject(new Error('no answer'));
      else resolve({ status, head: text.slice(0, end), body: unchunked(text.slice(0, end), text.slice(end + 4)) });
    };
    socket.on('data', (part) => parts.push(part));
    socket.on('close', done);
    // A server that rejects a large header closes the connection while the header is still being sent.
    socket.on('error', () => {});
    socket.write(Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'));
    socket.write(body);
  });
}

function unchunked(head: string, body: string): string {
  if (!/^transfer-encoding: chunked/im.test(head)) return body;
  let rest = body;
  let text = '';
  for (;;) {
    const line = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, line), 16);
    if (!size) return text;
    text += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(line + 4 + size);
  }
}
