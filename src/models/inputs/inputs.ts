/**
 * Parses the inputs of a request, in every form that clients send (docs/reference/wire/models.md, Inputs), into parts.
 */
import type { EmbeddingKind, Medium } from '../registry/catalogue.ts';
import type { Faults, Place } from './faults.ts';

/** The kinds of models that accept each medium. */
export const MEDIA_KINDS = {
  image: ['clip-v1', 'clip-v2', 'omni-v4', 'omni-v5', 'colbert'],
  pdf: ['clip-v1', 'clip-v2', 'omni-v4', 'omni-v5', 'text-v2', 'text-v3', 'text-v5', 'code', 'colbert', 'm3'],
  audio: ['omni-v5'],
  video: ['omni-v5'],
} as const satisfies Record<Medium, readonly EmbeddingKind[]>;

/** Kinds that combine several parts into one vector. */
export const CONTENT_KINDS: readonly EmbeddingKind[] = ['clip-v1', 'clip-v2', 'omni-v5'];

export const MAX_INPUTS = 2048;
/** Maximum number of inputs in a request to a model that accepts media, and of parts in all its inputs together. */
export const MAX_MEDIA_INPUTS = 512;

export type InputPart =
  | { readonly medium: 'text'; readonly text: string }
  /** A URL, a data URI or base64; `at` is its path in the body. */
  | {
      readonly medium: Medium;
      readonly value: string;
      readonly at: Place;
      /** For a PDF: one vector for each page, or one for the document. */
      readonly per?: PdfVectors;
    };

const PDF_VECTORS = ['page', 'document'] as const;
type PdfVectors = (typeof PDF_VECTORS)[number];

/** One input. Several parts, or a clip with several pieces, produce one vector; a PDF produces what its `per` says. */
export interface Input {
  readonly parts: readonly InputPart[];
  /** True if the parts were sent as a `content` list, which always produces one vector. */
  readonly isContent: boolean;
}

export interface InputRules {
  readonly faults: Faults;
  readonly kind: EmbeddingKind;
  /** The media that the model supports. They are checked after the kind. */
  readonly takes: Readonly<Record<Medium, boolean>>;
}

const TOKEN_IDS =
  "must be text: token ids belong to another model's tokenizer (in LangChain's OpenAIEmbeddings set check_embedding_ctx_length=False)";

/** Parses the inputs sent under the name `at`. If faults were added, the result must not be used. */
export function readInputs(value: unknown, at: string, rules: InputRules): Input[] {
  const { faults } = rules;
  if (!Array.isArray(value)) return [readInput(value, [at], { ...rules, isAlone: true })];
  const maxInputs = takesMedia(rules) ? MAX_MEDIA_INPUTS : MAX_INPUTS;
  if (!value.length) faults.add([at], 'too_short', 'must have at least one item', value);
  else if (value.every(isTokenIds) || value.every(isNumber)) faults.add([at], 'string_type', TOKEN_IDS, value);
  else if (value.length > maxInputs) {
    faults.add([at], 'too_long', `must have at most ${maxInputs} items, not ${value.length}`, value);
  } else {
    const inputs = value.map((item, index) => readInput(item, [at, index], { ...rules, isAlone: false }));
    const parts = inputs.reduce((sum, input) => sum + input.parts.length, 0);
    if (parts > maxInputs) faults.add([at], 'too_long', `must have at most ${maxInputs} parts in total, not ${parts}`);
    return inputs;
  }
  return [];
}

/** Most models of kind `colbert` read only text. */
const takesMedia = ({ kind, takes }: InputRules) =>
  (MEDIA_KINDS.image as readonly EmbeddingKind[]).includes(kind) && (kind !== 'colbert' || takes.image);
const isNumber = (value: unknown) => typeof value === 'number';
const isTokenIds = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isNumber);

type Item = Readonly<Record<string, unknown>>;
type Reading = InputRules & {
  /** True if it is the only input of the request. */
  readonly isAlone: boolean;
};

const single = (part: InputPart): Input => ({ parts: [part], isContent: false });
const NOTHING: Input = { parts: [], isContent: false };

function readInput(value: unknown, at: Place, rules: Reading): Input {
  if (isObject(value) && Array.isArray(value.content) && !isGiven(value.text) && !mediumOf(value)) {
    return readContent(value.content, at, rules);
  }
  const part = readPart(value, at, rules);
  return part ? single(part) : NOTHING;
}

function readContent(content: readonly unknown[], at: Place, rules: Reading): Input {
  const { faults, kind } = rules;
  if (!CONTENT_KINDS.includes(kind)) {
    const kinds = CONTENT_KINDS.join(', ');
    faults.add(
      [...at, 'content'],
      'value_error',
      `parts that form one vector are supported only by the kinds ${kinds}`,
    );
    return NOTHING;
  }
  if (!content.length) faults.add([...at, 'content'], 'too_short', 'must have at least one part', content);
  if (content.length > MAX_MEDIA_INPUTS) {
    const message = `must have at most ${MAX_MEDIA_INPUTS} parts, not ${content.length}`;
    faults.add([...at, 'content'], 'too_long', message);
    return NOTHING;
  }
  const parts = content.flatMap((part, index) => {
    const read = readPart(part, [...at, 'content', index], { ...rules, isAlone: false });
    return read ? [read] : [];
  });
  return { parts, isContent: true };
}

function readPart(value: unknown, at: Place, rules: Reading): InputPart | undefined {
  const held = isObject(value) ? heldBy(value) : [];
  if (held.length > 1) {
    const message = `must hold one of ${held.join(', ')}, not several: send each as a separate input`;
    rules.faults.add(at, 'value_error', message, value);
    return undefined;
  }
  const medium = isObject(value) ? mediumOf(value) : undefined;
  if (!isObject(value) || !medium) {
    const { faults } = rules;
    const before = faults.count;
    const text = readItem(value, at, { faults, kind: rules.kind });
    if (faults.count > before) return undefined;
    if (text !== '' && text.trim() === '') {
      faults.add(at, 'value_error', 'must not consist of white space', text);
      return undefined;
    }
    return { medium: 'text', text };
  }
  if (refuseMedium(medium, at, rules)) return undefined;
  const { place, given } = givenIn(value, medium);
  const from = [...at, ...place];
  if (typeof given !== 'string') {
    rules.faults.add(from, isGiven(given) ? 'string_type' : 'missing', 'must be a string', given ?? undefined);
    return undefined;
  }
  if (medium === 'pdf' && !rules.isAlone) {
    rules.faults.add(from, 'value_error', 'must be the only input: its pages are the vectors of the answer');
    return undefined;
  }
  if (medium !== 'pdf' || !isGiven(value.per)) return { medium, value: given, at: from };
  const per = PDF_VECTORS.find((one) => one === value.per);
  if (!per) rules.faults.add([...at, 'per'], 'enum', `must be one of ${PDF_VECTORS.join(', ')}`, value.per);
  return { medium, value: given, at: from, per: per ?? 'page' };
}

/** The URL or base64 value of an item and its path, under any of the field names that clients use. */
function givenIn(item: Item, medium: Medium): { place: string[]; given: unknown } {
  if (isGiven(item[medium])) return { place: [medium], given: item[medium] };
  if (isGiven(item.image_url)) {
    return isObject(item.image_url)
      ? { place: ['image_url', 'url'], given: item.image_url.url }
      : { place: ['image_url'], given: item.image_url };
  }
  const name = ['url', 'bytes', 'value'].find((one) => isGiven(item[one])) ?? 'value';
  return { place: [name], given: item[name] };
}

interface ItemRules {
  readonly faults: Faults;
  /** Kind of the requested model; undefined for a text-only model. */
  readonly kind?: EmbeddingKind | undefined;
}

/** Returns the text of an item: a string, `{text}` or a part of type text. */
export function readItem(value: unknown, at: Place, { faults, kind }: ItemRules): string {
  if (typeof value === 'string') return value;
  if (!isObject(value)) {
    const message = isTokenIds(value) ? TOKEN_IDS : 'must be a string or an object with `text`';
    faults.add(at, 'string_type', message, value);
    return '';
  }
  const medium = mediumOf(value);
  if (medium) refuseMedium(medium, at, { faults, kind });
  else if (typeof value.text === 'string') return value.text;
  else if (Array.isArray(value.content)) {
    faults.add([...at, 'content'], 'value_error', 'parts that form one vector are not supported here', value);
  } else if (!isGiven(value.text)) faults.add([...at, 'text'], 'missing', 'is required', value);
  else faults.add([...at, 'text'], 'string_type', 'must be a string', value.text);
  return '';
}

const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Generated clients send null for every unset field. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** The medium of a non-text item, by its field name or by a name that older clients send. */
function mediumOf(item: Item): Medium | undefined {
  if (isGiven(item.text) && item.type !== 'image' && item.type !== 'image_url') return undefined;
  for (const medium of Object.keys(MEDIA_KINDS) as Medium[]) if (isGiven(item[medium])) return medium;
  const image = item.type === 'image' || item.type === 'image_url' || isGiven(item.url) || isGiven(item.bytes);
  return image ? 'image' : undefined;
}

/** The fields of the item that each form an input. Older clients send the last three for an image. */
const heldBy = (item: Item): string[] =>
  ['text', ...Object.keys(MEDIA_KINDS), 'image_url', 'url', 'bytes']
    .filter((name) => isGiven(item[name]))
    .concat(Array.isArray(item.content) ? ['content'] : []);

const NAMES: Record<Medium, string> = { image: 'images', pdf: 'PDF files', audio: 'audio', video: 'video' };

interface Refusing extends ItemRules {
  readonly takes?: Readonly<Record<Medium, boolean>> | undefined;
}

/** Adds a fault and returns true if the medium is not accepted. */
function refuseMedium(medium: Medium, at: Place, { faults, kind, takes }: Refusing): boolean {
  const kinds: readonly EmbeddingKind[] = MEDIA_KINDS[medium];
  const ofKind = kind !== undefined && kinds.includes(kind);
  if (ofKind && takes?.[medium]) return false;
  const message = ofKind
    ? `must be text: the model that serves this kind on this server does not read ${NAMES[medium]}${PULL[medium]}`
    : kind === undefined
      ? `must be text: this model does not read ${NAMES[medium]}`
      : `must be text: ${NAMES[medium]} can be read only by models of the kinds ${kinds.join(', ')}${PULL[medium]}`;
  faults.add(at, ofKind ? 'media_error' : 'value_error', message);
  return true;
}

const pull = (id: string, does: string) => `; \`lectern models pull ${id}\` fetches one that ${does}`;
const PULL: Readonly<Record<Medium, string>> = {
  image: pull('jina-clip-v1', 'does'),
  pdf: pull('jina-clip-v1', 'does'),
  audio: pull('clap-htsat-unfused', 'does'),
  video: pull('siglip-base-patch16-224', 'does'),
};
