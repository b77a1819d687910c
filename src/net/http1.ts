/** HTTP/1.1 over a connection that stands. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import { type Channel, type ChannelFacts, MAX_HEADER_BYTES } from './channel.ts';

/** Longer than any connection rests: who gives it back decides how long that is. */
const KEEP_MS = 60_000;

/** Loading the client takes longer than a start should; it is to be there before a socket is, which must not be left unheard. */
export async function loadHttp1(): Promise<(socket: Socket, facts: ChannelFacts) => Channel> {
  const { Client } = await import('undici');
  return (socket, facts) => channelOver(new Client(facts.origin, optionsFor(socket)), facts);
}

function optionsFor(socket: Socket): Client.Options {
  let given = false;
  return {
    // A client dials again by itself when its socket closes; this one has its one checked socket or none. It expects
    // to be called back later, not at once.
    connect: (_, callback) =>
      queueMicrotask(() => {
        if (given || socket.destroyed)
          return callback(Object.assign(new Error('closed'), { code: 'ECONNRESET' }), null);
        given = true;
        callback(null, socket);
      }),
    pipelining: 1,
    keepAliveTimeout: KEEP_MS,
    keepAliveMaxTimeout: KEEP_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}

function channelOver(client: Client, { onEnd }: ChannelFacts): Channel {
  let isGone = false;
  client.on('disconnect', () => {
    isGone = true;
    onEnd();
  });
  return {
    request: ({ method, ...rest }) => client.request({ ...rest, method: method as Dispatcher.HttpMethod }),
    isOpen: () => !isGone && !client.destroyed,
    // The client lets a socket that has nothing to do go by itself.
    rest() {},
    wake() {},
    end: () => void client.destroy().catch(() => {}),
  };
}
