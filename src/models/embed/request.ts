/** An embeddings request: validates a body and returns it as a frozen value with defaults filled in. */

import { createFaults, type Faults } from '../inputs/faults.ts';
import { type Body, type Found, findField, readFlag, readInteger, readWord } from '../inputs/fields.ts';
import { type Input, type InputPart, readInputs } from '../inputs/inputs.ts';
import { capabilitiesOf, mediaOf } from '../registry/capabilities.ts';
import type { EmbeddingKind, EmbeddingRow } from '../registry/catalogue.ts';
import { EMBED_FIELDS, type EmbedFieldName } from './fields.ts';
import { prefixFor, SIDES, type Side, TASKS } from './tasks.ts';
import { EMBEDDING_TYPES, type EmbeddingType } from './vectors.ts';

export interface EmbedRequest {
  readonly inputs: readonly Input[];
  /** The prompt that is prepended to each text. */
  readonly prefix: string;
  /** The task that the caller sent; undefined if none. */
  readonly task: string | undefined;
  readonly side: Side | undefined;
  readonly dimensions: number;
  readonly normalized: boolean;
  /** Without duplicates. With several types, each vector becomes an object. */
  readonly types: readonly EmbeddingType[];
  readonly truncate: boolean;
  readonly lateChunking: boolean;
  readonly output: 'pooled' | 'tokens' | 'sparse';
  readonly withTokens: boolean;
}

/**
 * Parses a request for a model of one kind. Reports all faults in one ParamValidationError. Unknown fields are ignored.
 */
export function readEmbedRequest(body: Body, row: EmbeddingRow, kind: EmbeddingKind): EmbedRequest {
  const faults = createFaults();
  const find = (name: EmbedFieldName) => findTaken(body, name, kind, faults);
  const flag = (name: EmbedFieldName, standard: boolean) => readFlag(find(name), faults) ?? standard;

  const input = find('input');
  if (!input) faults.add(['input'], 'missing', 'is required');
  const inputs = input ? readInputs(input.value, input.at, { faults, kind, takes: mediaOf(row) }) : [];
  const task = readWord(find('task'), TASKS[kind]?.values ?? [], faults);
  const side = readSide(find('input_type'), kind, faults);
  const multivector = kind === 'colbert' || flag('return_multivector', false);
  const sparse = kind === 'sparse' || flag('return_sparse', false);
  const withTokens = flag('return_tokenized_input', false);
  if (multivector && !capabilitiesOf(row).multivector) {
    const at = kind === 'colbert' ? 'model' : 'return_multivector';
    faults.add([at], 'value_error', 'is not supported: the serving model returns one vector for each input');
  }
  if (sparse && kind !== 'sparse') refuseSparse({ row, multivector, dimensions: find('dimensions') }, faults);
  if (withTokens && !multivector) {
    faults.add(['return_tokenized_input'], 'value_error', 'needs `return_multivector`', true);
  }
  const lateChunking = flag('late_chunking', false);
  if (input) refuseMixtures(inputs, input.at, { row, multivector, lateChunking, faults });
  const dimensions = find('dimensions');
  if (dimensions && multivector && kind !== 'colbert') {
    faults.add([dimensions.at], 'value_error', 'cannot be combined with `return_multivector`', dimensions.value);
  }
  const request: EmbedRequest = {
    inputs,
    prefix: prefixFor(row, { kind, task, side }),
    task,
    side,
    dimensions: readDimensions(dimensions, row, faults),
    normalized: flag('normalized', true),
    types: readTypes(find('embedding_type'), faults),
    truncate: flag('truncate', false),
    lateChunking,
    output: sparse ? 'sparse' : multivector ? 'tokens' : 'pooled',
    withTokens,
  };
  faults.check();
  return Object.freeze(request);
}

function refuseSparse(
  { row, multivector, dimensions }: { row: EmbeddingRow; multivector: boolean; dimensions: Found | undefined },
  faults: Faults,
): void {
  const refuse = (message: string) => faults.add(['return_sparse'], 'value_error', message, true);
  if (!capabilitiesOf(row).sparse) refuse('is not supported: the serving model returns no weights of terms');
  if (multivector) refuse('cannot be combined with `return_multivector`: send one request for each');
  if (dimensions)
    faults.add([dimensions.at], 'value_error', 'cannot be combined with `return_sparse`', dimensions.value);
}

interface Mixing {
  readonly row: EmbeddingRow;
  readonly multivector: boolean;
  readonly lateChunking: boolean;
  readonly faults: Faults;
}

/**
 * Rejects combinations of inputs that the model cannot embed: media for a text-only model, several parts for a model
 * that accepts only one, and media in separate vector spaces.
 */
function refuseMixtures(
  inputs: readonly Input[],
  at: string,
  { row, multivector, lateChunking, faults }: Mixing,
): void {
  const parts = inputs.flatMap((input) => input.parts);
  const hasMedia = parts.some(({ medium }) => medium !== 'text');
  if (lateChunking && hasMedia) faults.add([at], 'value_error', 'must be texts with `late_chunking`');
  if (multivector && (inputs.some(({ isContent }) => isContent) || parts.some(({ medium }) => medium === 'video'))) {
    faults.add([at], 'value_error', 'parts that form one vector cannot be combined with one vector for each token');
  }
  const { spaces } = row;
  if (!spaces) return;
  const used = new Map(parts.map(({ medium }) => [spaceOf(medium, row), medium]));
  if (used.size < 2) return;
  const media = [...used.values()].join(' and ');
  faults.add([at], 'value_error', `must share a vector space: this model puts ${media} into separate spaces`);
}

const spaceOf = (medium: InputPart['medium'], { spaces }: EmbeddingRow): string =>
  spaces?.[medium === 'pdf' || medium === 'video' ? 'image' : medium] ?? '';

/** Finds a field if the kind accepts it. Adds a fault if the field is set to true but is not allowed for this kind. */
function findTaken(body: Body, name: EmbedFieldName, kind: EmbeddingKind, faults: Faults): Found | undefined {
  const field = EMBED_FIELDS[name];
  const found = findField(body, name, field);
  const kinds: readonly EmbeddingKind[] = field.kinds;
  if (!found || kinds.includes(kind)) return found;
  if (field.otherwise === 'refused' && found.value !== false) {
    const message = `is not supported by models of kind ${kind}, only by ${kinds.join(', ')}`;
    faults.add([found.at], 'value_error', message, found.value);
  }
  return undefined;
}

function readSide(found: Found | undefined, kind: EmbeddingKind, faults: Faults): Side | undefined {
  if (kind === 'colbert') {
    const word = readWord(found, ['query', 'document'], faults);
    return SIDES[word ?? 'document'];
  }
  // Other kinds do not define the field, so an unknown value is ignored like an unknown field.
  const word = typeof found?.value === 'string' ? found.value : '';
  return Object.hasOwn(SIDES, word) ? SIDES[word as keyof typeof SIDES] : undefined;
}

/**
 * Supported vector lengths: any length up to the full one for Matryoshka models, otherwise only the trained lengths.
 */
export function sizesOf({ dimensions, matryoshka, kind }: EmbeddingRow): 'any' | readonly number[] {
  const anywhere = matryoshka.length > 0 && kind !== 'colbert';
  return anywhere ? 'any' : [...new Set([dimensions, ...matryoshka])].sort((a, b) => b - a);
}

function readDimensions(found: Found | undefined, row: EmbeddingRow, faults: Faults): number {
  const size = readInteger(found, { min: 1, max: row.dimensions }, faults);
  if (size === undefined) return row.dimensions;
  const sizes = sizesOf(row);
  if (sizes !== 'any' && !sizes.includes(size)) {
    const message =
      sizes.length > 1
        ? `must be one of ${sizes.join(', ')} for this model`
        : `must be ${row.dimensions}: this model was not trained for shorter vectors`;
    faults.add([found!.at], 'value_error', message, size);
  }
  return size;
}

const MOST_TYPES = 16;

function readTypes(found: Found | undefined, faults: Faults): readonly EmbeddingType[] {
  if (!found) return ['float'];
  if (!Array.isArray(found.value)) return [readWord(found, EMBEDDING_TYPES, faults) ?? 'float'];
  const { length } = found.value;
  if (!length) faults.add([found.at], 'too_short', 'must have at least one item', found.value);
  if (length > MOST_TYPES) {
    faults.add([found.at], 'too_long', `must have at most ${MOST_TYPES} items, not ${length}`, found.value);
    return [];
  }
  const words: EmbeddingType[] = [];
  for (const [index, value] of found.value.entries()) {
    const word = EMBEDDING_TYPES.find((known) => known === value);
    if (word) words.push(word);
    else faults.add([found.at, index], 'enum', `must be one of ${EMBEDDING_TYPES.join(', ')}`, value);
  }
  return [...new Set(words)];
}
