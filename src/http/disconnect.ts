/** Detects clients that disconnect before their response is complete. */
import type { FastifyReply } from 'fastify';
import { problem } from '#errors.ts';

/** A signal that is aborted if the client disconnects before its response has been sent completely. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  const leave = () => disconnected.abort(problem('DataStreamBrokenError', { message: 'The client disconnected' }));
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leave();
  });
  if (reply.raw.destroyed) leave();
  return disconnected.signal;
}
