/** The classification module: zero-shot predictions, and classifiers that are trained and stored for an account. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Problem, problem } from '#errors.ts';
import type { ModelRuntime, Registry, RequestContext } from '#models/index.ts';
import { type ModuleTables, openStore } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { checkLabelCount } from './labels.ts';
import { predict, type Sample, train } from './logistic-regression.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import type { ClassifyRequest, LabelGroups, TrainRequest } from './request.ts';
import type { Tables } from './schema.ts';
import {
  type ClassifierRecord,
  countClassifiers,
  deleteClassifier,
  findClassifier,
  insertClassifier,
  listClassifiers,
  readSamples,
  updateClassifier,
  useWeights,
} from './store.ts';
import { embedUnits } from './vectors.ts';
import { type Classified, classifyZeroShot, predictionOf } from './zero-shot.ts';

export const CLASSIFY_TABLES: ModuleTables = {
  module: 'classify',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'classify', 'classify.db'),
};

/** Maximum number of samples per classifier. All samples are stored, because each training uses all of them. */
export const MAX_SAMPLES = 4_096;

export interface ClassifyModuleOptions {
  readonly dataDir: string;
  /** `postgres://…`; unset: SQLite. */
  readonly databaseUrl?: string | undefined;
  readonly registry: Registry;
  readonly models: ModelRuntime;
  readonly log: Pick<Log, 'warn'>;
  readonly now?: () => number;
}

/** The account of a request and the limits of its plan; `undefined` means no limit. */
export interface ClassifierOwner {
  /** Account id; empty on a server that requires no keys. */
  readonly id: string;
  readonly maxLabels: number | undefined;
  readonly maxClassifiers: number | undefined;
}

export interface Trained {
  readonly record: ClassifierRecord;
  readonly tokens: number;
}

/** Calls reject with DatabaseUnavailableError if the database cannot be reached. */
export interface ClassifyModule {
  /** Throws ResourceNotFoundError for a classifier that the owner may not use. */
  classify(
    request: ClassifyRequest,
    owner: ClassifierOwner,
    call: RequestContext,
  ): Promise<Classified & { readonly model: string }>;
  /**
   * Creates a classifier, or continues the training of an existing one. Throws ResourceNotFoundError for a classifier
   * of another account, ResourceBusyError if the classifier is being trained by another request, and
   * LabelLimitExceededError or ResourceLimitExceededError if a limit of the plan is exceeded.
   */
  train(request: TrainRequest, owner: ClassifierOwner, call: RequestContext): Promise<Trained>;
  list(owner: string): Promise<ClassifierRecord[]>;
  /** Throws ResourceNotFoundError. */
  remove(id: string, owner: string): Promise<void>;
  /** Whether the last database call succeeded. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

const MAX_SHOWN_ID = 100;
const notFound = (id: string) =>
  problem('ResourceNotFoundError', {
    message: `classifier ${id.slice(0, MAX_SHOWN_ID)} not found or access denied`,
  });

const inInput = (at: number) => ['input', at];

export async function openClassify(options: ClassifyModuleOptions): Promise<ClassifyModule> {
  const { dataDir, databaseUrl, registry, models, log, now = Date.now } = options;
  const store = await openStore<Tables>(
    { url: databaseUrl, file: CLASSIFY_TABLES.fileIn(dataDir) },
    { ...CLASSIFY_TABLES, log },
  );

  /** The classifier, with its model as it is available now. */
  async function find(id: string, owner: string) {
    const record = await findClassifier(store, id, owner);
    if (!record) throw notFound(id);
    const served = await registry.embedding(record.model).catch((error: unknown) => {
      // Only the vectors of the samples are stored, so the classifier cannot be trained again from them.
      if (!(error instanceof Problem) || error.name !== 'ModelNotFoundError') throw error;
      const message = `classifier ${id} was trained with ${record.model}, which is not available: train a new one. ${error.message}`;
      throw problem('ResourcePolicyDenyError', { message }, error);
    });
    if (served.row.dimensions !== record.dimensions) {
      const message = `classifier ${id} was trained with vectors of ${record.dimensions} numbers, and ${record.model} now gives ${served.row.dimensions}: train a new one`;
      throw problem('ResourcePolicyDenyError', { message });
    }
    return { record, served };
  }

  async function predictTrained(id: string, { inputs }: ClassifyRequest, owner: ClassifierOwner, call: RequestContext) {
    const { record, served } = await find(id, owner.id);
    const { vectors, tokens } = await embedUnits(models, served, inputs, { call, pathOf: inInput });
    const trained = await useWeights(store, id, now());
    if (!trained) throw notFound(id);
    const { weights, labels } = trained;
    const predictions = vectors.map((vector) => new Map([[null, predictionOf(labels, predict(weights, vector))]]));
    return { predictions, tokens, model: record.model };
  }

  async function create({ classifier, ...request }: TrainRequest, owner: ClassifierOwner, call: RequestContext) {
    const served = await registry.embedding('model' in classifier ? classifier.model : '');
    const labels = [...new Set(request.labels)];
    checkTrainingLabels(labels, owner);
    if (owner.maxClassifiers !== undefined && (await countClassifiers(store, owner.id)) >= owner.maxClassifiers) {
      const message = `Resource limit exceeded for the plan: it allows ${owner.maxClassifiers} classifiers. Delete one first`;
      throw problem('ResourceLimitExceededError', { message });
    }
    const { added, tokens } = await samplesOf(request, labels, { served, call });
    const weights = await train(added, {
      labels: labels.length,
      iterations: request.iterations,
      signal: call.signal,
    });
    const at = now();
    const record: ClassifierRecord = {
      id: randomUUID(),
      owner: owner.id,
      access: request.access ?? 'private',
      model: served.name,
      labels,
      dimensions: served.row.dimensions,
      samples: added.length,
      createdAt: at,
      updatedAt: at,
      updatedNumber: 0,
      usedAt: null,
      usedNumber: 0,
    };
    await insertClassifier(store, { record, weights, added });
    return { record, tokens };
  }

  async function extend(id: string, request: TrainRequest, owner: ClassifierOwner, call: RequestContext) {
    const { record: before, served } = await find(id, owner.id);
    if (before.owner !== owner.id) throw notFound(id);
    const labels = [...new Set([...before.labels, ...request.labels])];
    checkTrainingLabels(labels, owner);
    const count = before.samples + request.inputs.length;
    if (count > MAX_SAMPLES) {
      const message = `Resource limit exceeded for the plan: a classifier has at most ${MAX_SAMPLES} samples, this one would have ${count}`;
      throw problem('ResourceLimitExceededError', { message });
    }
    const { added, tokens } = await samplesOf(request, labels, { served, call });
    const samples = [...(await readSamples(store, before)), ...added];
    const { iterations } = request;
    const weights = await train(samples, { labels: labels.length, iterations, signal: call.signal });
    const access = request.access ?? before.access;
    const record = {
      ...before,
      access,
      labels,
      samples: count,
      updatedAt: now(),
      updatedNumber: before.updatedNumber + 1,
    };
    if (!(await updateClassifier(store, before, { record, weights, added }))) {
      throw problem('ResourceBusyError', { message: `classifier ${id} is currently being modified` });
    }
    return { record, tokens };
  }

  async function samplesOf(
    { inputs, labels: given }: Pick<TrainRequest, 'inputs' | 'labels'>,
    labels: readonly string[],
    { served, call }: { readonly served: Awaited<ReturnType<Registry['embedding']>>; readonly call: RequestContext },
  ): Promise<{ added: Sample[]; tokens: number }> {
    const { vectors, tokens } = await embedUnits(models, served, inputs, { call, pathOf: inInput });
    return { added: vectors.map((vector, at) => ({ vector, label: labels.indexOf(given[at]!) })), tokens };
  }

  return {
    async classify(request, owner, call) {
      const { classifier, inputs } = request;
      if ('classifierId' in classifier) return predictTrained(classifier.classifierId, request, owner, call);
      const served = await registry.embedding(classifier.model);
      const groups: LabelGroups = request.groups;
      return { ...(await classifyZeroShot(models, { served, inputs, groups, call })), model: served.name };
    },
    train: (request, owner, call) =>
      'classifierId' in request.classifier
        ? extend(request.classifier.classifierId, request, owner, call)
        : create(request, owner, call),
    list: (owner) => listClassifiers(store, owner),
    async remove(id, owner) {
      if (!(await deleteClassifier(store, id, owner))) throw notFound(id);
    },
    get healthy() {
      return store.healthy;
    },
    close: () => store.close(),
  };
}

function checkTrainingLabels(labels: readonly string[], { maxLabels }: ClassifierOwner): void {
  if (labels.length < 2) {
    const message = 'Invalid training labels: a classifier needs samples of at least two labels';
    throw problem('InvalidLabelsError', { path: 'input', message });
  }
  checkLabelCount(labels.length, maxLabels, 'input');
}
