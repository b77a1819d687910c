/** One port for all faces, told apart by host name: for those behind a proxy that ends TLS for several names. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Face } from '#http/server.ts';

/** The first label of a host name, and the face it means; any other name means the reader. */
export const HOST_LABELS = { r: 'reader', s: 'search', api: 'model', flow: 'flow' } as const;
export type FaceName = (typeof HOST_LABELS)[keyof typeof HOST_LABELS];

export function faceOf(host: string | undefined): FaceName {
  const [label = ''] = (host ?? '').toLowerCase().split('.', 1);
  return Object.hasOwn(HOST_LABELS, label) ? HOST_LABELS[label as keyof typeof HOST_LABELS] : 'reader';
}

/** What answers requests that came in by a port of somebody else. */
export interface HostFace {
  routing(request: IncomingMessage, response: ServerResponse): void;
  /** For WebSocket; a face without it closes the connection. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** A face that is not there means the reader too. */
export type HostFaces = Readonly<Partial<Record<FaceName, HostFace>>> & { readonly reader: Face };

/** A server that hands each request to the face of its host name. The faces must be ready. */
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
