/** Models as Ollama describes them. */
import { createHash } from 'node:crypto';
import { quantizationOf } from '#api/models/models.ts';
import { problem } from '#errors.ts';
import { isEmbedding, type ServedEmbedding } from '#models/index.ts';
import type { Native } from '../native/native.ts';

/** The tag that clients add to names without one. */
const TAG = ':latest';

/** Models are named with their tag in lists, because clients compare names with it. */
export const tagged = (name: string): string => `${name}${TAG}`;

export const untagged = (name: string): string => (name.endsWith(TAG) ? name.slice(0, -TAG.length) : name);

export function notFound(name: string, { message }: { readonly message: string }) {
  return problem('ModelNotFoundError', { message: `model "${name.slice(0, 100)}" not found: ${message}` });
}

/** The embedding models. There is no endpoint for rerankers. */
export async function embedders({ parts }: Native): Promise<ServedEmbedding[]> {
  return (await parts.modelHost.registry.list()).filter(isEmbedding);
}

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString();

export function entryOf({ name, row, kind }: ServedEmbedding) {
  return {
    name: tagged(name),
    model: tagged(name),
    modified_at: isoOf(row.created),
    size: row.runs.on === 'onnx' ? (row.runs.bytes ?? 0) : 0,
    // Clients only compare it. It changes with the model that a name stands for.
    digest: createHash('sha256').update(`${row.id} ${kind}`).digest('hex'),
    details: detailsOf({ row }),
  };
}

export const detailsOf = ({ row }: Pick<ServedEmbedding, 'row'>) => ({
  parent_model: '',
  format: row.runs.on === 'onnx' ? 'onnx' : '',
  family: ARCHITECTURE,
  families: [ARCHITECTURE],
  parameter_size: '',
  quantization_level: quantizationOf(row).toUpperCase() || 'F32',
});

/** Clients read the keys that begin with it. The architecture itself is not in our catalogue. */
export const ARCHITECTURE = 'lectern';
