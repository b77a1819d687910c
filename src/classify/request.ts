/** Parses the requests of the classification endpoints into checked values. Unknown fields are ignored. */
import {
  createFaults,
  type Faults,
  findField,
  type RequestField,
  readInteger,
  readText,
  readWord,
} from '#models/index.ts';
import { ownValue } from '#own-value.ts';
import { checkLabel, checkLabelCount, checkLabels, MAX_GROUP_LABELS, MAX_GROUPS, MAX_LABELS } from './labels.ts';

type Body = Readonly<Record<string, unknown>>;

export const MAX_ITEMS = 512;
const MIN_SAMPLES = 2;
const ITERATIONS = 10;
const MAX_ITERATIONS = 100;
export const ACCESS = ['private', 'public'] as const;
export type Access = (typeof ACCESS)[number];

const text = { type: 'string' };
const item = {
  anyOf: [
    text,
    { type: 'object', properties: { text }, required: ['text'] },
    { type: 'object', properties: { image: text }, required: ['image'] },
  ],
};
const sample = {
  type: 'object',
  properties: { text, image: text, label: text },
  required: ['label'],
};
const classifierId = {
  aliases: [],
  schema: { type: ['string', 'null'] },
  meaning: 'The id of a trained classifier, instead of `model`.',
} satisfies RequestField;
const model = {
  aliases: [],
  schema: { type: ['string', 'null'] },
  meaning: 'The id of an embedding model (`GET /v1/models`). Required without `classifier_id`.',
} satisfies RequestField;

export const CLASSIFY_FIELDS = {
  model,
  classifier_id: classifierId,
  input: {
    aliases: [],
    required: true,
    schema: { anyOf: [...item.anyOf, { type: 'array', minItems: 1, maxItems: MAX_ITEMS, items: item }] },
    meaning: 'What to classify: a text, `{text}` or `{image}`, or a list of these.',
  },
  labels: {
    aliases: [],
    schema: {
      anyOf: [
        { type: 'array', minItems: 2, maxItems: MAX_LABELS, items: text },
        {
          type: 'object',
          maxProperties: MAX_GROUPS,
          additionalProperties: { type: 'array', minItems: 2, maxItems: MAX_GROUP_LABELS, items: text },
        },
        { type: 'null' },
      ],
    },
    meaning:
      'The labels to choose from: a list, or an object of lists, each of which gets a prediction. Required with `model`.',
  },
} as const satisfies Record<string, RequestField>;

export const TRAIN_FIELDS = {
  model,
  classifier_id: { ...classifierId, meaning: 'The id of a classifier to train further, instead of `model`.' },
  input: {
    aliases: [],
    required: true,
    schema: { anyOf: [sample, { type: 'array', minItems: 1, maxItems: MAX_ITEMS, items: sample }] },
    meaning: 'The samples, each `{text, label}` or `{image, label}`; at least two for a new classifier.',
  },
  access: {
    aliases: [],
    schema: { enum: [...ACCESS, null], default: 'private' },
    meaning:
      'Who may use the classifier: only your account (`private`, the default), or every account that knows its id (`public`).',
  },
  num_iters: {
    aliases: [],
    schema: { type: ['integer', 'null'], minimum: 1, maximum: MAX_ITERATIONS, default: ITERATIONS },
    meaning: 'How long the training takes. Default: 10.',
  },
} as const satisfies Record<string, RequestField>;

/** The model or trained classifier that a request names. */
export type Classifier = { readonly model: string } | { readonly classifierId: string };

/** Label groups, keyed by name. A plain list of labels is one group without a name. */
export type LabelGroups = ReadonlyMap<string | null, readonly string[]>;

export interface ClassifyRequest {
  readonly classifier: Classifier;
  readonly inputs: readonly unknown[];
  /** The label groups; empty for a trained classifier. */
  readonly groups: LabelGroups;
}

export interface TrainRequest {
  readonly classifier: Classifier;
  /** Samples in the form in which they were sent, each with one label in `labels`. */
  readonly inputs: readonly unknown[];
  readonly labels: readonly string[];
  /** `undefined` leaves the access of an existing classifier unchanged. */
  readonly access: Access | undefined;
  readonly iterations: number;
}

/**
 * Throws ParamValidationError with all errors, InvalidLabelsError for labels that cannot be used, and
 * LabelLimitExceededError for too many labels.
 */
export function readClassifyRequest(body: Body): ClassifyRequest {
  const faults = createFaults();
  const classifier = readClassifier(body, faults);
  const inputs = readItems(body, 1, faults);
  const given = findField(body, 'labels', CLASSIFY_FIELDS.labels)?.value;
  const trained = 'classifierId' in classifier;
  if (trained && given !== undefined) {
    faults.add(['labels'], 'value_error', 'cannot be combined with `classifier_id`, which has labels of its own');
  }
  if (!trained && given === undefined) faults.add(['labels'], 'missing', 'is required with `model`');
  const groups = given === undefined || trained ? new Map() : readGroups(given, faults);
  faults.check();
  for (const [name, labels] of groups) {
    const path = name === null ? 'labels' : `labels.${name}`;
    checkLabels(labels, path);
    checkLabelCount(labels.length, name === null ? MAX_LABELS : MAX_GROUP_LABELS, path);
  }
  return { classifier, inputs, groups };
}

/** Throws ParamValidationError with all errors, and InvalidLabelsError for labels that cannot be used. */
export function readTrainRequest(body: Body): TrainRequest {
  const faults = createFaults();
  const classifier = readClassifier(body, faults);
  const inputs = readItems(body, 'classifierId' in classifier ? 1 : MIN_SAMPLES, faults);
  const labels = inputs.map((value, at) => readLabel(value, at, faults));
  const find = (name: 'access' | 'num_iters') => findField(body, name, TRAIN_FIELDS[name]);
  const access = readWord(find('access'), ACCESS, faults);
  const range = { min: 1, max: MAX_ITERATIONS };
  const iterations = readInteger(find('num_iters'), range, faults) ?? ITERATIONS;
  faults.check();
  for (const [at, label] of labels.entries()) checkLabel(label, `input.${at}.label`);
  return { classifier, inputs, labels, access, iterations };
}

function readClassifier(body: Body, faults: Faults): Classifier {
  const classifierId = readText(findField(body, 'classifier_id', CLASSIFY_FIELDS.classifier_id), faults);
  if (classifierId !== undefined) return { classifierId };
  const name = readText(findField(body, 'model', CLASSIFY_FIELDS.model), faults);
  if (name === undefined && !faults.count) faults.add(['model'], 'missing', 'is required, or `classifier_id`');
  return { model: name ?? '' };
}

function readItems(body: Body, least: number, faults: Faults): readonly unknown[] {
  const found = findField(body, 'input', CLASSIFY_FIELDS.input);
  if (!found) faults.add(['input'], 'missing', 'is required');
  if (!found) return [];
  const items = Array.isArray(found.value) ? found.value : [found.value];
  if (items.length < least) {
    const message = `must have at least ${least} ${least === 1 ? 'item' : 'items'}, not ${items.length}`;
    faults.add(['input'], 'too_short', message, found.value);
  }
  if (items.length > MAX_ITEMS) {
    faults.add(['input'], 'too_long', `must have at most ${MAX_ITEMS} items, not ${items.length}`);
    return [];
  }
  return items;
}

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readLabel(value: unknown, at: number, faults: Faults): string {
  if (!isObject(value)) {
    faults.add(['input', at], 'dict_type', 'must be an object with `label` and `text` or `image`', value);
    return '';
  }
  const label = ownValue(value, 'label');
  if (typeof label === 'string') return label;
  if (label === undefined || label === null) faults.add(['input', at, 'label'], 'missing', 'is required', value);
  else faults.add(['input', at, 'label'], 'string_type', 'must be a string', label);
  return '';
}

function readGroups(given: unknown, faults: Faults): LabelGroups {
  if (Array.isArray(given)) return new Map([[null, readLabels(given, ['labels'], faults)]]);
  if (!isObject(given)) {
    faults.add(['labels'], 'list_type', 'must be a list of strings, or an object of such lists', given);
    return new Map();
  }
  const entries = Object.entries(given);
  if (!entries.length) faults.add(['labels'], 'too_short', 'must have at least one group', given);
  if (entries.length > MAX_GROUPS) {
    faults.add(['labels'], 'too_long', `must have at most ${MAX_GROUPS} groups, not ${entries.length}`);
    return new Map();
  }
  return new Map(entries.map(([name, labels]) => [name, readLabels(labels, ['labels', name], faults)]));
}

function readLabels(value: unknown, at: readonly string[], faults: Faults): readonly string[] {
  if (!Array.isArray(value)) {
    faults.add(at, 'list_type', 'must be a list of strings', value);
    return [];
  }
  const wrong = value.findIndex((label) => typeof label !== 'string');
  if (wrong >= 0) faults.add([...at, wrong], 'string_type', 'must be a string', value[wrong]);
  return value as string[];
}
