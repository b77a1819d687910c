/** Clients that leave: what was started for them is to end. */
import type { FastifyReply } from 'fastify';
import { problem } from '#errors.ts';

/** Aborted when the client goes away before its answer is out. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(problem('DataStreamBrokenError', { message: 'The client has gone' }));
  });
  if (reply.raw.destroyed) gone.abort(problem('DataStreamBrokenError', { message: 'The client has gone' }));
  return gone.signal;
}
