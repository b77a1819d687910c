/** HTTP/1.1 over a connection that stands. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import { ResponseStream } from '../fetch/response-stream.ts';
import { type Channel, type ChannelFacts, MAX_HEADER_BYTES } from './channel.ts';

/** Longer than any connection rests: who gives it back decides how long that is. */
const KEEP_MS = 60_000;

/** Loading the client takes longer than a start should; it is to be there before a socket is, which must not be left unheard. */
export async function loadHttp1(): Promise<(socket: Socket, facts: ChannelFacts) => Channel> {
  const { Client } = await import('undici');
  return (socket, facts) => channelOver(new Client(facts.origin, optionsFor(socket)), facts);
}

function optionsFor(socket: Socket): Client.Options {
  const stream = new ResponseStream(socket);
  // It may end before the client has taken it.
  stream.on('error', () => {});
  let given = false;
  return {
    // A client dials again by itself when its socket closes; this one has its one checked socket or none. It expects
    // to be called back later, not at once.
    connect: (_, callback) =>
      queueMicrotask(() => {
        if (given || stream.destroyed)
          return callback(Object.assign(new Error('closed'), { code: 'ECONNRESET' }), null);
        given = true;
        // All that the client does with a socket, a stream can do.
        callback(null, stream as unknown as Socket);
      }),
    pipelining: 1,
    keepAliveTimeout: KEEP_MS,
    keepAliveMaxTimeout: KEEP_MS,
    // What is written anew has been measured; a name may be a little longer in it.
    maxHeaderSize: 2 * MAX_HEADER_BYTES,
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
