/** HTTP/1.1 over an open connection. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import { ResponseStream } from '../fetch/response-stream.ts';
import { type Channel, type ChannelFacts, MAX_HEADER_BYTES } from './channel.ts';

/** Longer than the pool keeps idle connections open, so that the pool decides when to close them. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Loads undici lazily, because loading it would slow down the start. Call this before opening the socket, so that
 * incoming data does not remain unread.
 */
export async function loadHttp1(): Promise<(socket: Socket, facts: ChannelFacts) => Channel> {
  const { Client } = await import('undici');
  return (socket, facts) => channelOver(new Client(facts.origin, optionsFor(socket)), facts);
}

function optionsFor(socket: Socket): Client.Options {
  const stream = new ResponseStream(socket);
  // The stream may fail before the client starts using it.
  stream.on('error', () => {});
  let isUsed = false;
  return {
    // undici would reconnect by itself after a close. This client is given only the one checked socket. The callback
    // must be asynchronous.
    connect: (_, callback) =>
      queueMicrotask(() => {
        if (isUsed || stream.destroyed)
          return callback(Object.assign(new Error('closed'), { code: 'ECONNRESET' }), null);
        isUsed = true;
        // undici uses only methods that every stream has, so the cast is safe.
        callback(null, stream as unknown as Socket);
      }),
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // ResponseStream has already checked the header size; the rewritten head may be slightly longer.
    maxHeaderSize: 2 * MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}

function channelOver(client: Client, { onEnd }: ChannelFacts): Channel {
  let isDisconnected = false;
  client.on('disconnect', () => {
    isDisconnected = true;
    onEnd();
  });
  return {
    request: ({ method, ...rest }) => client.request({ ...rest, method: method as Dispatcher.HttpMethod }),
    isOpen: () => !isDisconnected && !client.destroyed,
    // undici unrefs idle sockets by itself.
    markIdle() {},
    markBusy() {},
    end: () => void client.destroy().catch(() => {}),
  };
}
