/**
 * The endpoints of batch jobs: submit, list, show and cancel jobs, and download their files
 * (docs/reference/wire/models.md, Batches).
 */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { type BatchModule, type FileKind, isFinal, type Job, toJobJson } from '#batch/index.ts';
import { problem } from '#errors.ts';
import type { Face } from '#http/server.ts';
import type { Guard } from '#net/guard/guard.ts';
import { bodyOf } from '../models/body.ts';
import { type ModelEndpointOptions, refuseOtherMethods } from '../models/endpoint.ts';
import { orUnavailable } from '../unavailable.ts';
import { sendFile } from './files.ts';
import { readSubmission } from './request.ts';

export interface BatchEndpointOptions {
  readonly batch: BatchModule;
  readonly guard: Guard;
}

const ACCESS = { face: 'model', endpoint: 'embeddings', authorization: 'bearer', keyless: 'refused' } as const;
const KINDS: readonly FileKind[] = ['output', 'errors'];
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export function batchRoutes(face: Face, deps: ModelEndpointOptions & BatchEndpointOptions): void {
  const { batch, guard, registry, accessHooks } = deps;
  const onRequest = accessHooks.hook(ACCESS, 'by kind');
  const send = (reply: FastifyReply, value: unknown) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(value));
  const shown = (request: FastifyRequest, job: Job) => toJobJson(job, batch.links, baseUrlOf(request));
  const ownerOf = (request: FastifyRequest) => callerOf(accessHooks.admissionOf(request).caller).owner;

  /** The job in the path, if it belongs to the caller. Otherwise it is reported as not found. */
  async function ownJob(request: FastifyRequest): Promise<Job> {
    const { id } = request.params as { id: string };
    const job = await orUnavailable(batch.find(id));
    if (job && job.owner === ownerOf(request)) return job;
    throw notFound(id);
  }

  face.post('/v1/batch/embeddings', { onRequest }, async (request, reply) => {
    const asked = await readSubmission(bodyOf(request), registry, guard);
    request.body = undefined;
    const caller = callerOf(accessHooks.admissionOf(request).caller);
    const job = await orUnavailable(batch.submit({ ...asked, ...caller, baseUrl: baseUrlOf(request) }));
    if (job.webhookUrl) reply.header('x-webhook-secret', batch.links.webhookSecret(job.owner));
    return send(reply, shown(request, job));
  });
  refuseOtherMethods(face, '/v1/batch/embeddings', ['POST']);

  face.get('/v1/batches', { onRequest }, async (request, reply) => {
    const jobs = await orUnavailable(batch.list(ownerOf(request), limitOf(request)));
    return send(
      reply,
      jobs.map((job) => shown(request, job)),
    );
  });
  refuseOtherMethods(face, '/v1/batches', ['GET']);

  face.get('/v1/batch/:id', { onRequest }, async (request, reply) =>
    send(reply, shown(request, await ownJob(request))),
  );
  face.delete('/v1/batch/:id', { onRequest }, async (request, reply) =>
    send(reply, shown(request, await orUnavailable(batch.cancel(await ownJob(request))))),
  );
  refuseOtherMethods(face, '/v1/batch/:id', ['GET', 'DELETE']);

  for (const kind of KINDS) {
    const url = `/v1/batch/:id/${kind}`;
    const signed = new WeakSet<FastifyRequest>();
    const keyOrLink: onRequestAsyncHookHandler = async function (request, reply) {
      const { id } = request.params as { id: string };
      const { exp, sig } = request.query as Record<string, unknown>;
      if (batch.links.verify(id, kind, { exp, sig }, Date.now())) signed.add(request);
      else await onRequest.call(this, request, reply);
    };
    face.get(url, { onRequest: keyOrLink }, async (request, reply) => {
      const { id } = request.params as { id: string };
      const job = signed.has(request) ? await orUnavailable(batch.find(id)) : await ownJob(request);
      if (!job) throw notFound(id);
      if (!isFinal(job.state)) {
        throw problem('ResourceBusyError', { message: `batch ${id} is currently being modified` });
      }
      if (job.state === 'expired' || job.completed + job.failed === 0) throw notFound(id);
      return sendFile(request, reply, batch, job, kind);
    });
    refuseOtherMethods(face, url, ['GET']);
  }
}

const MAX_ID = 100;
const notFound = (id: string) =>
  problem('ResourceNotFoundError', { message: `batch ${id.slice(0, MAX_ID)} not found or access denied` });

/** The key that owns a job and the account that it is charged to. If no keys are required, all callers share all jobs. */
export function callerOf(caller: ReturnType<ModelEndpointOptions['accessHooks']['admissionOf']>['caller']) {
  return caller.kind === 'key' ? { owner: caller.key.id, account: caller.account.id } : { owner: '', account: null };
}

/** The URL of this host as the caller sees it. */
const baseUrlOf = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`;

function limitOf({ query }: FastifyRequest): number {
  const given = (query as Record<string, unknown>).limit;
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = typeof given === 'string' && /^[+-]?\d{1,15}$/.test(given) ? Number(given) : undefined;
  const refuse = (type: string, message: string) => {
    const field = 'query -> limit';
    const errors = [{ field, message, type, input: limit ?? given }];
    return problem('ParamValidationError', { path: field, message: `${field} ${message}`, errors });
  };
  if (limit === undefined) throw refuse('int_type', 'must be a whole number');
  if (limit < 1) throw refuse('greater_than_equal', 'must be at least 1');
  if (limit > MAX_LIMIT) throw refuse('less_than_equal', `must be at most ${MAX_LIMIT}`);
  return limit;
}
