/**
 * Faces that this version does not serve yet: each answers 503 in its own envelope, so that a client that is pointed
 * at it shows a message instead of failing to parse.
 */
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Problem, problem } from '#errors.ts';
import type { Face } from '#http/server.ts';

export type WaitingFace = 'search host' | 'flow gateway';

const notReady = (name: WaitingFace) =>
  problem('FaceNotReadyError', { message: `The ${name} is not available in this version, the reader is` });

export function waitingRoutes(face: Face, name: WaitingFace): void {
  face.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/*',
    handler: () => {
      throw notReady(name);
    },
  });
}

export function writeFlowError(failure: Problem, _request: FastifyRequest, reply: FastifyReply): unknown {
  return reply
    .code(failure.code)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ detail: failure.message }));
}

/** The body of a failure that has no request. */
export const bareFlowError = ({ message }: Problem) => ({ detail: message });

/** gRPC's UNAVAILABLE. */
const GRPC_UNAVAILABLE = '14';

export interface WaitingGrpc {
  readonly server: Http2Server;
  close(): Promise<void>;
}

/** A gRPC port whose every call ends UNAVAILABLE with a message; plain HTTP/2 requests get 503. */
export function createWaitingGrpc(): WaitingGrpc {
  const { message } = notReady('flow gateway');
  const server = createHttp2Server();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const grpc = headers['content-type']?.startsWith('application/grpc');
    if (grpc) {
      const status = {
        'grpc-status': GRPC_UNAVAILABLE,
        'grpc-message': encodeURIComponent(message).replaceAll('%20', ' '),
      };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
    } else {
      stream.respond({ ':status': 503, 'content-type': 'application/json' });
      stream.end(JSON.stringify({ detail: message }));
    }
  });
  return {
    server,
    async close() {
      for (const session of sessions) session.close();
      await new Promise<void>((done) => (server.listening ? server.close(() => done()) : done()));
    },
  };
}
