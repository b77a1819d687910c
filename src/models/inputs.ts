/** What a request wants embedded or ranked, in every form that clients send it (contract, 5.3): from JSON to texts. */
import type { EmbeddingKind } from './catalogue.ts';
import type { Faults, Place } from './inputs-faults.ts';

/** Which kinds take what is not text. */
export const MEDIA_KINDS = {
  image: ['clip-v1', 'clip-v2', 'omni-v4', 'omni-v5'],
  pdf: ['clip-v1', 'clip-v2', 'omni-v4', 'omni-v5'],
  audio: ['omni-v5'],
  video: ['omni-v5'],
} as const satisfies Record<string, readonly EmbeddingKind[]>;
export type Medium = keyof typeof MEDIA_KINDS;

export const MAX_INPUTS = 2048;

const TOKEN_IDS =
  "must be text: token ids belong to another model's tokenizer (in LangChain's OpenAIEmbeddings set check_embedding_ctx_length=False)";

/** The texts of `input`, which came under the name `at`; faults are added, and the texts are then of no use. */
export function readInputs(value: unknown, at: string, { faults, kind }: { faults: Faults; kind: EmbeddingKind }) {
  const reading = { faults, kind };
  if (!Array.isArray(value)) return [readItem(value, [at], reading)];
  if (!value.length) faults.add([at], 'too_short', 'must have at least one item', value);
  else if (value.every(isTokenIds) || value.every(isNumber)) faults.add([at], 'string_type', TOKEN_IDS, value);
  else if (value.length > MAX_INPUTS) {
    faults.add([at], 'too_long', `must have at most ${MAX_INPUTS} items, not ${value.length}`, value);
  } else return value.map((item, index) => readItem(item, [at, index], reading));
  return [];
}

const isNumber = (value: unknown) => typeof value === 'number';
const isTokenIds = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isNumber);

interface Reading {
  readonly faults: Faults;
  /** Of the model asked; undefined for one that reads nothing but text. */
  readonly kind?: EmbeddingKind | undefined;
}

/** The text of one item: a string, `{text}`, or a part of type text. */
export function readItem(value: unknown, at: Place, reading: Reading): string {
  if (typeof value === 'string') return value;
  const { faults } = reading;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = isTokenIds(value) ? TOKEN_IDS : 'must be a string or an object with `text`';
    faults.add(at, 'string_type', message, value);
    return '';
  }
  const item = value as Record<string, unknown>;
  const medium = mediumOf(item);
  if (medium) refuseMedium(medium, at, reading);
  else if (Array.isArray(item.content)) {
    faults.add([...at, 'content'], 'value_error', 'parts that make one vector are not taken by this server', item);
  } else if (typeof item.text === 'string') return item.text;
  else if (item.text === undefined) faults.add([...at, 'text'], 'missing', 'is required', value);
  else faults.add([...at, 'text'], 'string_type', 'must be a string', item.text);
  return '';
}

/** What an item holds that is not text, by its own name or one that older clients send. */
function mediumOf(item: Record<string, unknown>): Medium | undefined {
  if (item.text !== undefined && item.type !== 'image' && item.type !== 'image_url') return undefined;
  for (const medium of Object.keys(MEDIA_KINDS) as Medium[]) if (item[medium] !== undefined) return medium;
  const image =
    item.type === 'image' || item.type === 'image_url' || item.url !== undefined || item.bytes !== undefined;
  return image ? 'image' : undefined;
}

const NAMES: Record<Medium, string> = { image: 'images', pdf: 'PDF files', audio: 'audio', video: 'video' };

function refuseMedium(medium: Medium, at: Place, { faults, kind }: Reading): void {
  const kinds: readonly EmbeddingKind[] = MEDIA_KINDS[medium];
  const taken = kind !== undefined && kinds.includes(kind);
  const message = taken
    ? `must be text: this server does not read ${NAMES[medium]} yet, which models of kind ${kind} take`
    : kind === undefined
      ? `must be text: this model does not read ${NAMES[medium]}`
      : `must be text: ${NAMES[medium]} can be read by models of the kinds ${kinds.join(', ')} only`;
  faults.add(at, taken ? 'media_error' : 'value_error', message);
}
