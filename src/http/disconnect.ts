/** Detects clients that disconnect before their response is complete. */
import type { FastifyReply } from 'fastify';
import { problem } from '#errors.ts';

/** Aborted when the client disconnects before its response was sent completely. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = () => gone.abort(problem('DataStreamBrokenError', { message: 'The client disconnected' }));
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leave();
  });
  if (reply.raw.destroyed) leave();
  return gone.signal;
}
