/** Sends concurrent requests as binary frames on one WebSocket. Responses are matched by request id. */
import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { decodeRequest, encodeRequest } from '../proto/codec.ts';
import type { DataRequest } from '../request.ts';
import { authorizationOf, hostAndPort, type Transport, type TransportTarget, unreachable } from './transport.ts';

const MAX_ANSWER_BYTES = 2 ** 30;

interface Waiting {
  resolve(answer: DataRequest): void;
  reject(reason: unknown): void;
}

export function openWebSocketTransport(target: TransportTarget): Transport {
  const base = `ws${target.tls ? 's' : ''}://${hostAndPort(target)}`;
  const waiting = new Map<string, Waiting>();
  let opening: Promise<WebSocket> | undefined;

  async function openSocket(path: string): Promise<WebSocket> {
    const { WebSocket } = await import('ws');
    const headers = authorizationOf(target);
    const socket = new WebSocket(base + path, 'bytes', { headers, maxPayload: MAX_ANSWER_BYTES });
    // A later error also closes the socket, and `close` is handled.
    socket.on('error', () => {});
    return socket;
  }

  async function open(): Promise<WebSocket> {
    const socket = await openSocket('/stream');
    try {
      await once(socket, 'open');
    } catch (error) {
      throw unreachable(`${base} does not respond`, error);
    }
    socket.on('message', (data: Buffer) => {
      const answer = decodeRequest(data);
      waiting.get(answer.header.requestId)?.resolve(answer);
    });
    socket.on('close', (_code, reason) => {
      opening = undefined;
      const why = unreachable(`${base} closed the connection${reason.length ? `: ${reason}` : ''}`);
      for (const { reject } of waiting.values()) reject(why);
    });
    return socket;
  }

  return {
    async send(request, signal) {
      opening ??= open();
      opening.catch(() => {
        opening = undefined;
      });
      const socket = await opening;
      const { requestId } = request.header;
      const onAbort = () => waiting.get(requestId)?.reject(signal?.reason);
      try {
        return await new Promise<DataRequest>((resolve, reject) => {
          signal?.throwIfAborted();
          waiting.set(requestId, { resolve, reject });
          signal?.addEventListener('abort', onAbort);
          socket.send(encodeRequest(request));
        });
      } finally {
        waiting.delete(requestId);
        signal?.removeEventListener('abort', onAbort);
      }
    },
    async ready(signal) {
      const socket = await openSocket('/dry_run');
      const stop = () => socket.terminate();
      signal?.addEventListener('abort', stop);
      const isReady = await new Promise<boolean>((resolve) => {
        // The response may arrive together with the handshake.
        socket.on('message', (answer: Buffer) => resolve(answer.length === 0));
        socket.on('close', () => resolve(false));
      });
      signal?.removeEventListener('abort', stop);
      socket.close();
      return isReady;
    },
    close() {
      opening?.then((socket) => socket.close()).catch(() => {});
    },
  };
}
