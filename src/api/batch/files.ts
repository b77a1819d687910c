/** Sends the files of a batch job (JSON Lines), either completely or as a range of bytes. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BatchModule, FileKind, Job } from '#batch/index.ts';
import { startReading } from '../unavailable.ts';

/**
 * Streams the file from its store, so that only one chunk is in memory at a time. Throws ServiceAwayError if the store is
 * unreachable.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  batch: BatchModule,
  job: Job,
  kind: FileKind,
) {
  const file = batch.file(job, kind);
  const range = rangeOf(request.headers.range, file.bytes);
  const { from, to } = range === undefined || range === 'unsatisfiable' ? { from: 0, to: file.bytes } : range;
  const content = range === 'unsatisfiable' ? undefined : await startReading(file.read(from, to));
  reply
    .type('application/x-ndjson')
    .header('accept-ranges', 'bytes')
    .header('content-disposition', `attachment; filename="${job.id}_${kind}.jsonl"`);
  if (!content) {
    return reply
      .code(416)
      .header('content-range', `bytes */${file.bytes}`)
      .removeHeader('content-disposition')
      .type('application/json; charset=utf-8')
      .send(
        JSON.stringify({
          detail: `The range is outside the file, which has ${file.bytes} bytes`,
          request_id: request.id,
        }),
      );
  }
  if (range) reply.code(206).header('content-range', `bytes ${from}-${to - 1}/${file.bytes}`);
  reply.header('content-length', to - from);
  return reply.send(Readable.from(content, { objectMode: false }));
}

interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/**
 * Parses a single byte range (RFC 9110, section 14). Returns `undefined`, which means the whole file, if there are
 * several ranges or the unit is not bytes.
 */
export function rangeOf(header: string | undefined, bytes: number): Range | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (!first && !last) return undefined;
  if (!first) {
    const count = Math.min(Number(last), bytes);
    return count ? { from: bytes - count, to: bytes } : 'unsatisfiable';
  }
  const from = Number(first);
  if (last && Number(last) < from) return undefined;
  if (from >= bytes) return 'unsatisfiable';
  return { from, to: last ? Math.min(Number(last) + 1, bytes) : bytes };
}
