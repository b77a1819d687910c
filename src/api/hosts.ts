/** One port for all faces, chosen by host name. For use behind a proxy that terminates TLS for several names. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Face } from '#http/server.ts';

/** The first label of a host name, and its face. Any other name selects the reader. */
export const HOST_LABELS = { r: 'reader', s: 'search', api: 'model', flow: 'flow' } as const;
export type FaceName = (typeof HOST_LABELS)[keyof typeof HOST_LABELS];

export function faceOf(host: string | undefined): FaceName {
  const [label = ''] = (host ?? '').toLowerCase().split('.', 1);
  return Object.hasOwn(HOST_LABELS, label) ? HOST_LABELS[label as keyof typeof HOST_LABELS] : 'reader';
}

/** A face that handles requests received by another server. */
export interface HostFace {
  routing(request: IncomingMessage, response: ServerResponse): void;
  /** Handles WebSocket upgrades. Without it, the connection is closed. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Requests to a missing face go to the reader. */
export type HostFaces = Readonly<Partial<Record<FaceName, HostFace>>> & { readonly reader: Face };

/** Creates a server that passes each request to the face of its host name. The faces must be ready. */
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
