/** The chat completion engines, keyed by the model names that requests use. */
import { problem } from '#errors.ts';
import type { Ocr } from '#ocr/index.ts';
import type { Models } from '../chat/chat.ts';
import type { Body } from '../inputs/fields.ts';
import { type CompleteTools, type CompletionCall, type CompletionPiece, complete } from './complete.ts';
import { createEmbeddedEngine } from './embedded.ts';
import type { Engine } from './engine.ts';
import { createGenerativeEngine } from './generative.ts';
import { type CompletionRequest, readCompletionRequest } from './request.ts';

export interface CompletionModel {
  readonly id: string;
  readonly description: string;
  readonly readsImages: boolean;
  readonly chats: boolean;
  readonly contextTokens: number;
}

export interface OpenCompletion {
  /** The id in the request, or its short form if only that is known. */
  readonly name: string;
  /** Id of the engine that generates the response. */
  readonly model: string;
  readonly request: CompletionRequest;
  pieces(call: CompletionCall): AsyncGenerator<CompletionPiece>;
}

export interface Completions {
  /** Throws ModelNotFoundError, or ParamValidationError with all faults. */
  open(model: string, body: Body): OpenCompletion;
  list(): readonly CompletionModel[];
  find(name: string): CompletionModel | undefined;
}

/** The id of each role's model on its server. */
export interface ModelNames {
  readonly chat?: string | undefined;
  readonly vision?: string | undefined;
  readonly ocr?: string | undefined;
}

export interface CompletionsOptions extends CompleteTools {
  /** Built-in text recognition. */
  readonly ocr?: Ocr | undefined;
  readonly models?: Models | undefined;
  readonly names?: ModelNames | undefined;
  /** Prompt for pages that are sent to the text recognition model. */
  readonly ocrPrompt?: string | undefined;
}

const EMBEDDED = 'lectern-ocr';
/** Public names of the default text recognition engine. The hosted vision model has its own. */
const DEFAULT_OCR = ['svc-ocr-v1', 'svc-ocr'];
const HOSTED_VISION = 'jina-vlm';

export function createCompletions(options: CompletionsOptions): Completions {
  const engines = enginesOf(options);

  /** Finds an engine by name. The organization is optional on both sides. */
  function find(name: string): Engine | undefined {
    const short = withoutOrganization(name);
    return engines.get(name) ?? Array.from(engines).find(([id]) => withoutOrganization(id) === short)?.[1];
  }

  function chosen(engine: Engine, request: CompletionRequest): Engine {
    if (request.media.length > 0 || engine.chats) return engine;
    const id = options.names?.chat;
    return (id === undefined ? undefined : engines.get(id)) ?? engine;
  }

  return {
    open(name, body) {
      const named = find(name);
      if (!named) throw missing(name, [...engines.keys()]);
      const request = readCompletionRequest(body);
      const engine = chosen(named, request);
      const shown = engines.has(name) ? name : withoutOrganization(name);
      return { name: shown, model: engine.id, request, pieces: (call) => complete(engine, request, call, options) };
    },
    list: () => Array.from(engines, ([id, engine]) => ({ ...modelOf(engine), id })),
    find: (name) => {
      const engine = find(name);
      return engine && modelOf(engine);
    },
  };
}

function enginesOf({ ocr, models = {}, names = {}, ocrPrompt }: CompletionsOptions): Map<string, Engine> {
  const engines = new Map<string, Engine>();
  const embedded = ocr && createEmbeddedEngine(EMBEDDED, ocr);
  const served = (part: keyof ModelNames, description: string, prompt?: string) => {
    const [id, chat] = [names[part], models[part]];
    return id !== undefined && chat ? createGenerativeEngine({ id, chat, description, prompt }) : undefined;
  };
  const reading = served('ocr', 'Text recognition model on a remote server', ocrPrompt);
  const looking = served('vision', 'Vision model on a remote server');
  const chatting = served('chat', 'Chat model on a remote server');
  if (embedded) engines.set(EMBEDDED, embedded);
  const standard = reading ?? embedded;
  if (standard) for (const name of DEFAULT_OCR) engines.set(name, standard);
  for (const engine of [reading, looking, chatting])
    if (engine && !engines.has(engine.id)) engines.set(engine.id, engine);
  if (looking) engines.set(HOSTED_VISION, looking);
  return engines;
}

const modelOf = ({ id, description, forms, chats, contextTokens }: Engine): CompletionModel => ({
  id,
  description,
  readsImages: forms.length > 0,
  chats,
  contextTokens,
});

const withoutOrganization = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

const MOST_SHOWN = 100;

function missing(name: string, ids: readonly string[]) {
  const shown = name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name;
  const available = ids.length
    ? `Available for /v1/chat/completions: ${ids.join(', ')}`
    : 'No model is available for /v1/chat/completions';
  return problem('ModelNotFoundError', { message: `Model ${shown} not found. ${available}` });
}
