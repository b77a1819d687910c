/**
 * Serves all APIs on one port. The host name selects the API. For use behind a proxy that terminates TLS for several
 * names.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Face } from '#http/server.ts';

/** First labels of host names, each with the API that it selects. All other names select the reader. */
export const HOST_LABELS = { r: 'reader', s: 'search', api: 'model', flow: 'flow', compat: 'compat' } as const;
export type FaceName = (typeof HOST_LABELS)[keyof typeof HOST_LABELS];

export function faceOf(host: string | undefined): FaceName {
  const [label = ''] = (host ?? '').toLowerCase().split('.', 1);
  return Object.hasOwn(HOST_LABELS, label) ? HOST_LABELS[label as keyof typeof HOST_LABELS] : 'reader';
}

/**
 * First labels of the EU host names, each with the API that it selects. Their requests use only services inside the EU.
 */
const EU_LABELS = { 'eu-r': 'reader', 'eu-s': 'search' } as const;
export type EuFaceName = (typeof EU_LABELS)[keyof typeof EU_LABELS];

/** The EU API of a host name; `undefined` for other host names. */
export function euFaceOf(host: string | undefined): EuFaceName | undefined {
  const [label = ''] = (host ?? '').toLowerCase().split('.', 1);
  return Object.hasOwn(EU_LABELS, label) ? EU_LABELS[label as keyof typeof EU_LABELS] : undefined;
}

/** Opens the EU APIs. They are created when the first request arrives. */
export type OpenEuFaces = () => Promise<Readonly<Record<EuFaceName, HostFace>>>;

/**
 * Passes requests for EU host names to the EU APIs, and all others to the server's existing listeners. A request for an
 * EU host name never reaches another API.
 */
export function serveEuHosts(server: Server, open: OpenEuFaces): void {
  const others = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const name = euFaceOf(request.headers.host);
    if (name === undefined) for (const listener of others) listener.call(server, request, response);
    else
      open().then(
        (faces) => faces[name].routing(request, response),
        () => response.writeHead(500).end(),
      );
  });
}

/** An API that handles requests received by another server. */
export interface HostFace {
  routing(request: IncomingMessage, response: ServerResponse): void;
  /** Handles WebSocket upgrades. If missing, the connection is closed. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The reader also receives the requests for APIs that are missing here. */
export type HostFaces = Readonly<Partial<Record<FaceName, HostFace>>> & { readonly reader: Face };

/** Creates a server that passes each request to the API selected by its host name. The APIs must be ready. */
export function createHostServer(faces: HostFaces, maxHeaderBytes: number): Server {
  const faceFor = (request: IncomingMessage): HostFace => faces[faceOf(request.headers.host)] ?? faces.reader;
  const server = createServer({ maxHeaderSize: maxHeaderBytes }, (request, response) => {
    faceFor(request).routing(request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    const face = faceFor(request);
    if (face.upgrade) face.upgrade(request, socket, head);
    else socket.destroy();
  });
  server.on('clientError', (error, socket) => faces.reader.server.emit('clientError', error, socket));
  return server;
}
