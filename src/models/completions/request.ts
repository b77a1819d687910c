/** A chat completion request: validates a body and returns it as a frozen value. */
import { createFaults, type Faults } from '../inputs/faults.ts';
import { type Body, findField, readFlag, readInteger, readText, readWord } from '../inputs/fields.ts';
import { CHAT_FIELDS, FORMS, type Form, ROLES, type Role } from './fields.ts';
import { type MediaSource, readParts } from './parts.ts';

export interface Message {
  readonly role: Role;
  readonly text: string;
}

/** Sampling parameters under their wire names, for generative engines. */
export type Sampling = Readonly<Record<string, string | number>>;

export interface CompletionRequest {
  /** All messages, reduced to text. */
  readonly messages: readonly Message[];
  /** Text of the last user message. With media, only this message counts. */
  readonly question: string;
  readonly media: readonly MediaSource[];
  readonly form: Form;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
  readonly sampling: Sampling;
}

/** Reports all faults in one ParamValidationError. Unknown fields are ignored. */
export function readCompletionRequest(body: Body): CompletionRequest {
  const faults = createFaults();
  const find = (name: keyof typeof CHAT_FIELDS) => findField(body, name, CHAT_FIELDS[name]);
  const { messages, question, media } = readMessages(find('messages')?.value, faults);
  const n = find('n');
  if (n && n.value !== 1) faults.add(['n'], 'value_error', 'must be 1', n.value);
  const options = find('stream_options');
  if (options && (typeof options.value !== 'object' || Array.isArray(options.value)))
    faults.add(['stream_options'], 'dict_type', 'must be an object', options.value);
  const limits = (['max_completion_tokens', 'max_tokens'] as const).map((name) =>
    readInteger(find(name), { min: 1 }, faults),
  );
  const request: CompletionRequest = {
    messages,
    question,
    media,
    form: readWord(find('output_format'), FORMS, faults) ?? (wantsPlainText(question) ? 'text' : 'markdown'),
    stream: readFlag(find('stream'), faults) ?? false,
    includeUsage: (options?.value as Body | undefined)?.include_usage === true,
    maxTokens: limits[0] ?? limits[1],
    stop: readStop(find('stop')?.value, faults),
    sampling: {
      ...readNumbers(body, faults),
      ...withName('user', readText(find('user'), faults)),
    },
  };
  faults.check();
  return Object.freeze(request);
}

/**
 * The words "plain text" in the prompt select the plain-text form (docs/reference/wire/models.md, Chat completions).
 */
const wantsPlainText = (question: string): boolean => /\bplain[\s-]text\b/i.test(question);

const MOST_MESSAGES = 2_000;

function readMessages(value: unknown, faults: Faults) {
  const nothing = { messages: [] as Message[], question: '', media: [] };
  if (value === undefined || value === null) {
    faults.add(['messages'], 'missing', 'is required');
    return nothing;
  }
  if (!Array.isArray(value)) {
    faults.add(['messages'], 'list_type', 'must be a list', value);
    return nothing;
  }
  if (value.length === 0) faults.add(['messages'], 'too_short', 'must have at least one item', value);
  if (value.length > MOST_MESSAGES) {
    faults.add(['messages'], 'too_long', `must have at most ${MOST_MESSAGES} items, not ${value.length}`);
    return nothing;
  }
  const messages = value.flatMap((message: unknown, at) => readMessage(message, at, faults) ?? []);
  const last = messages.findLast(({ role }) => role === 'user');
  return {
    messages: messages.map(({ role, text }) => ({ role, text })),
    question: last?.text ?? '',
    media: last?.media ?? [],
  };
}

function readMessage(message: unknown, at: number, faults: Faults) {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    faults.add(['messages', at], 'dict_type', 'must be an object', message);
    return undefined;
  }
  const { role: given, content } = message as { role?: unknown; content?: unknown };
  const role = ROLES.find((known) => known === given);
  if (given === undefined) faults.add(['messages', at, 'role'], 'missing', 'is required');
  else if (!role) faults.add(['messages', at, 'role'], 'enum', `must be one of ${ROLES.join(', ')}`, given);
  // An assistant message without content contains only a tool call.
  const isSilent = role === 'assistant' && (content === null || content === undefined);
  const { texts, media } = isSilent
    ? { texts: [], media: [] }
    : readParts(content, ['messages', at, 'content'], faults);
  return role && { role, text: texts.join('\n'), media };
}

const MOST_STOPS = 4;
const LONGEST_STOP = 1_000;

function readStop(value: unknown, faults: Faults): string[] {
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  const isFine = (text: unknown) => typeof text === 'string' && text.length <= LONGEST_STOP;
  if (list.length > MOST_STOPS || !list.every(isFine)) {
    const message = `must be a string or a list of at most ${MOST_STOPS} strings, each of at most ${LONGEST_STOP} characters`;
    faults.add(['stop'], 'value_error', message, value);
    return [];
  }
  return list.filter((text: string) => text !== '');
}

const NUMBERS = ['temperature', 'top_p', 'seed', 'presence_penalty', 'frequency_penalty'] as const;

function readNumbers(body: Body, faults: Faults): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const name of NUMBERS) {
    const found = findField(body, name, CHAT_FIELDS[name]);
    if (!found) continue;
    const { minimum = -Infinity, maximum = Infinity } = CHAT_FIELDS[name].schema as {
      minimum?: number;
      maximum?: number;
    };
    if (name === 'seed') readInteger(found, { min: Number.MIN_SAFE_INTEGER }, faults);
    else if (typeof found.value !== 'number') faults.add([name], 'value_error', 'must be a number', found.value);
    else if (found.value < minimum)
      faults.add([name], 'greater_than_equal', `must be at least ${minimum}`, found.value);
    else if (found.value > maximum) faults.add([name], 'less_than_equal', `must be at most ${maximum}`, found.value);
    if (typeof found.value === 'number') numbers[name] = found.value;
  }
  return numbers;
}

const withName = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value });
