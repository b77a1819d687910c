/**
 * `POST /v1/classify` and `POST /v1/train`; lists and removes trained classifiers (docs/reference/wire/models.md,
 * Classification).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#accounts/index.ts';
import {
  type ClassifierOwner,
  type ClassifierRecord,
  type ClassifyModule,
  type Prediction,
  readClassifyRequest,
  readTrainRequest,
} from '#classify/index.ts';
import type { Face } from '#http/server.ts';
import type { Plans } from '#plans.ts';
import { bodyOf } from '../models/body.ts';
import { callOf, type ModelEndpointOptions, refuseOtherMethods } from '../models/endpoint.ts';
import { orUnavailable } from '../unavailable.ts';

export interface ClassifyEndpointOptions {
  readonly classify: ClassifyModule;
  readonly plans: Plans;
}

const ACCESS = { face: 'model', endpoint: 'embeddings', authorization: 'bearer', keyless: 'refused' } as const;

export function classifyRoutes(face: Face, deps: ModelEndpointOptions & ClassifyEndpointOptions): void {
  const { classify, accessHooks, plans } = deps;
  const onRequest = accessHooks.hook(ACCESS, 'by kind');
  const ownerOf = (request: FastifyRequest) => classifierOwner(accessHooks.admissionOf(request).caller, plans);

  face.post('/v1/classify', { onRequest }, async (request, reply) => {
    const body = bodyOf(request);
    const asked = readClassifyRequest(body);
    const call = callOf(request, reply, deps, body);
    request.body = undefined;
    const { predictions, tokens, model } = await orUnavailable(classify.classify(asked, ownerOf(request), call));
    accessHooks.admissionOf(request).recordCost({ tokens, model });
    const trace = deps.tracing.show(request, reply);
    return send(reply, { data: predictions.map(entryOf), usage: { total_tokens: tokens }, ...(trace && { trace }) });
  });
  refuseOtherMethods(face, '/v1/classify', ['POST']);

  face.post('/v1/train', { onRequest }, async (request, reply) => {
    const body = bodyOf(request);
    const asked = readTrainRequest(body);
    const call = callOf(request, reply, deps, body);
    request.body = undefined;
    const { record, tokens } = await orUnavailable(classify.train(asked, ownerOf(request), call));
    accessHooks.admissionOf(request).recordCost({ tokens, model: record.model });
    const trace = deps.tracing.show(request, reply);
    const answer = { classifier_id: record.id, num_samples: asked.inputs.length, usage: { total_tokens: tokens } };
    return send(reply, { ...answer, ...(trace && { trace }) });
  });
  refuseOtherMethods(face, '/v1/train', ['POST']);

  // The hosted service supports both methods.
  face.route({
    method: ['GET', 'POST'],
    url: '/v1/classifiers',
    onRequest,
    handler: async (request, reply) => {
      const records = await orUnavailable(classify.list(ownerOf(request).id));
      return send(reply, records.map(summaryOf));
    },
  });
  refuseOtherMethods(face, '/v1/classifiers', ['GET', 'POST']);

  face.delete('/v1/classifiers/:id', { onRequest }, async (request, reply) => {
    const { id } = request.params as { id: string };
    await orUnavailable(classify.remove(id, ownerOf(request).id));
    return send(reply, { classifier_id: id, deleted: true });
  });
  refuseOtherMethods(face, '/v1/classifiers/:id', ['DELETE']);
}

const send = (reply: FastifyReply, value: unknown) =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(value));

function classifierOwner(caller: Caller, plans: Plans): ClassifierOwner {
  if (caller.kind !== 'key') return { id: '', maxLabels: undefined, maxClassifiers: undefined };
  const { id, plan: name } = caller.account;
  // A plan that this version does not know gets the limits of the smallest plan.
  const { labels, classifiers } = plans[name] ?? plans.free;
  return { id, maxLabels: labels, maxClassifiers: classifiers };
}

/** The response entry of one prediction. With groups of labels, each field is an object keyed by group. */
function entryOf(prediction: Prediction, index: number) {
  const groups = [...prediction];
  const single = prediction.get(null);
  const byGroup = <T>(of: (one: (typeof groups)[number][1]) => T) =>
    single ? of(single) : Object.fromEntries(groups.map(([name, one]) => [name, of(one)]));
  return {
    object: 'classification',
    index,
    prediction: byGroup(({ best }) => best.label),
    score: byGroup(({ best }) => best.score),
    predictions: byGroup(({ scores }) => scores),
  };
}

const dateOf = (time: number) => new Date(time).toISOString();

const summaryOf = (record: ClassifierRecord) => ({
  classifier_id: record.id,
  user_id: record.owner,
  model: record.model,
  labels: record.labels,
  access: record.access,
  updated_number: record.updatedNumber,
  used_number: record.usedNumber,
  created_at: dateOf(record.createdAt),
  updated_at: dateOf(record.updatedAt),
  used_at: record.usedAt === null ? null : dateOf(record.usedAt),
  is_active: true,
  is_latest: true,
  metadata_: { num_samples: record.samples },
});
