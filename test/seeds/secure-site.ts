/** A site whose certificate was not signed by any authority. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface SecureSite {
  readonly origin: string;
  /** `127.0.0.1:port`. */
  readonly host: string;
  close(): Promise<void>;
}

export async function startSecureSite(certificate: {
  readonly key: string;
  readonly cert: string;
}): Promise<SecureSite> {
  const server = createServer(certificate, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Secure</title><p>Self-signed.</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin: `https://${host}/`,
    host,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
