/** Database queries for trained classifiers. */
import os from 'node:os';
import type { Selectable } from 'kysely';
import type { Store } from '#storage/database/store.ts';
import type { Sample, Weights } from './logistic-regression.ts';
import type { Access } from './request.ts';
import type { Tables } from './schema.ts';

type Db = Pick<Store<Tables>, 'db'>;
type Row = Selectable<Tables['classifiers']>;

/** A trained classifier without its weights. */
export interface ClassifierRecord {
  readonly id: string;
  readonly owner: string;
  readonly access: Access;
  readonly model: string;
  readonly labels: readonly string[];
  readonly dimensions: number;
  readonly samples: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly updatedNumber: number;
  readonly usedAt: number | null;
  readonly usedNumber: number;
}

const COLUMNS = [
  'id',
  'owner',
  'access',
  'model',
  'labels',
  'dimensions',
  'samples',
  'created_at',
  'updated_at',
  'updated_number',
  'used_at',
  'used_number',
] as const;

const recordOf = (row: Pick<Row, (typeof COLUMNS)[number]>): ClassifierRecord => ({
  id: row.id,
  owner: row.owner,
  access: row.access,
  model: row.model,
  labels: JSON.parse(row.labels) as string[],
  dimensions: row.dimensions,
  samples: row.samples,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  updatedNumber: row.updated_number,
  usedAt: row.used_at === null ? null : Number(row.used_at),
  usedNumber: Number(row.used_number),
});

/** Returns the classifier, if the owner may use it. */
export async function findClassifier({ db }: Db, id: string, owner: string): Promise<ClassifierRecord | undefined> {
  const row = await db
    .selectFrom('classifiers')
    .select(COLUMNS)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('owner', '=', owner), eb('access', '=', 'public')]))
    .executeTakeFirst();
  return row && recordOf(row);
}

/** Lists an owner's classifiers in order of creation. */
export async function listClassifiers({ db }: Db, owner: string): Promise<ClassifierRecord[]> {
  const rows = await db.selectFrom('classifiers').select(COLUMNS).where('owner', '=', owner).orderBy('id').execute();
  return rows.map(recordOf);
}

export async function countClassifiers({ db }: Db, owner: string): Promise<number> {
  const row = await db
    .selectFrom('classifiers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export interface TrainedWeights {
  readonly weights: Weights;
  readonly labels: readonly string[];
}

/** Returns the weights with their labels, and counts one use. `undefined` if the classifier has been deleted. */
export async function useWeights({ db }: Db, id: string, now: number): Promise<TrainedWeights | undefined> {
  const row = await db
    .updateTable('classifiers')
    .set((eb) => ({ used_at: now, used_number: eb('used_number', '+', 1) }))
    .where('id', '=', id)
    .returning(['weights', 'labels', 'dimensions'])
    .executeTakeFirst();
  if (!row) return undefined;
  const labels = JSON.parse(row.labels) as string[];
  return { labels, weights: weightsOf(row.weights, labels.length, row.dimensions) };
}

export async function readSamples({ db }: Db, { id, dimensions }: ClassifierRecord): Promise<Sample[]> {
  const rows = await db
    .selectFrom('classifier_samples')
    .select(['labels', 'vectors'])
    .where('classifier_id', '=', id)
    .orderBy('start')
    .execute();
  return rows.flatMap(({ labels, vectors }) => {
    const values = floatsOf(vectors);
    return (JSON.parse(labels) as number[]).map((label, at) => ({
      label,
      vector: values.subarray(at * dimensions, (at + 1) * dimensions),
    }));
  });
}

export interface Training {
  readonly record: ClassifierRecord;
  readonly weights: Weights;
  /** The samples of this training. */
  readonly added: readonly Sample[];
}

/** Stores a new classifier. */
export async function insertClassifier({ db }: Db, { record, weights, added }: Training): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const { id, owner, access, model, dimensions, samples, createdAt, updatedAt } = record;
    await transaction
      .insertInto('classifiers')
      .values({
        ...{ id, owner, access, model, dimensions, samples },
        labels: JSON.stringify(record.labels),
        weights: bytesOfWeights(weights),
        created_at: createdAt,
        updated_at: updatedAt,
        updated_number: 0,
        used_at: null,
        used_number: 0,
      })
      .execute();
    await transaction
      .insertInto('classifier_samples')
      .values(samplesRow(id, 0, added))
      .execute();
  });
}

/** Stores a further training. Returns false if the classifier was trained or deleted after `record` was read. */
export async function updateClassifier(
  { db }: Db,
  before: ClassifierRecord,
  { record, weights, added }: Training,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .updateTable('classifiers')
      .set({
        access: record.access,
        labels: JSON.stringify(record.labels),
        weights: bytesOfWeights(weights),
        samples: record.samples,
        updated_at: record.updatedAt,
        updated_number: before.updatedNumber + 1,
      })
      .where('id', '=', before.id)
      .where('updated_number', '=', before.updatedNumber)
      .returning('id')
      .executeTakeFirst();
    if (!row) return false;
    await transaction
      .insertInto('classifier_samples')
      .values(samplesRow(before.id, before.samples, added))
      .execute();
    return true;
  });
}

/** Returns false if the owner has no such classifier. */
export async function deleteClassifier({ db }: Db, id: string, owner: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const found = await transaction
      .selectFrom('classifiers')
      .select('id')
      .where('id', '=', id)
      .where('owner', '=', owner)
      .executeTakeFirst();
    if (!found) return false;
    await transaction.deleteFrom('classifier_samples').where('classifier_id', '=', id).execute();
    await transaction.deleteFrom('classifiers').where('id', '=', id).execute();
    return true;
  });
}

const samplesRow = (id: string, start: number, added: readonly Sample[]) => ({
  classifier_id: id,
  start,
  labels: JSON.stringify(added.map(({ label }) => label)),
  vectors: bytesOf(added.map(({ vector }) => vector)),
});

const bytesOfWeights = ({ weights, biases, mean }: Weights): Uint8Array => bytesOf([weights, biases, mean]);

function weightsOf(bytes: Uint8Array, labels: number, dimensions: number): Weights {
  const values = floatsOf(bytes);
  const rows = labels * dimensions;
  return {
    dimensions,
    weights: values.subarray(0, rows),
    biases: values.subarray(rows, rows + labels),
    mean: values.subarray(rows + labels),
  };
}

function bytesOf(parts: readonly Float32Array[]): Uint8Array {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)));
  return os.endianness() === 'LE' ? bytes : bytes.swap32();
}

function floatsOf(bytes: Uint8Array): Float32Array {
  // Copied, because a Float32Array needs an aligned offset.
  const copy = Buffer.from(Uint8Array.from(bytes).buffer);
  if (os.endianness() !== 'LE') copy.swap32();
  return new Float32Array(copy.buffer, copy.byteOffset, copy.byteLength / Float32Array.BYTES_PER_ELEMENT);
}
