/** Clients that leave. */
import type { FastifyReply } from 'fastify';
import { problem } from '#errors.ts';

/** Aborted when the client goes away before its answer is out. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = () => gone.abort(problem('DataStreamBrokenError', { message: 'The client has gone' }));
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leave();
  });
  if (reply.raw.destroyed) leave();
  return gone.signal;
}
