/**
 * Models that write: what a generator owes, and which of them the operator configured. Anything that speaks the
 * OpenAI chat protocol will do: vLLM, Ollama, llama.cpp, a hosted service.
 */
import type { Config } from '#config.ts';
import { type ChatFetch, createChat } from './backends/chat.ts';

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly ChatPart[];
}

/** Asks the server to let the model write nothing but JSON of this schema. Servers that cannot are asked without it. */
export interface JsonFormat {
  readonly type: 'json_schema';
  readonly json_schema: { readonly name: string; readonly schema: unknown; readonly strict?: boolean };
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  /** Of the answer. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly responseFormat?: JsonFormat | undefined;
  /** Further fields of the protocol, by its names: `top_p`, `stop`. */
  readonly sampling?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
}

/** As the server counts them. */
export interface ChatUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface ChatAnswer {
  readonly text: string;
  readonly usage?: ChatUsage | undefined;
  /** Whether the model stopped by itself, and not at a limit of ours or of the server. */
  readonly complete: boolean;
}

/** A piece of an answer; the last one says how it ended. */
export type ChatDelta =
  | { readonly text: string }
  | { readonly text: ''; readonly end: Pick<ChatAnswer, 'usage' | 'complete'> };

/**
 * A model behind a server. Fails with DownstreamServiceFailureError (unreachable, broken, refused, too slow),
 * ServiceNodeResourceDrainError (no capacity), or the reason of the signal.
 */
export interface Chat {
  /** Throws DownstreamServiceFailureError when the server may not be asked at all: it is outside the region. */
  check?(): void;
  complete(request: ChatRequest): Promise<ChatAnswer>;
  stream(request: ChatRequest): AsyncGenerator<ChatDelta>;
}

/** The parts a model may play; each is absent when nothing is configured for it. */
export interface Models {
  readonly chat?: Chat | undefined;
  /** Looks at pictures and pages. */
  readonly vision?: Chat | undefined;
  /** Rewrites HTML. */
  readonly readerlm?: Chat | undefined;
  /** Reads text off pictures. */
  readonly ocr?: Chat | undefined;
}

type Part = 'chat' | 'vision' | 'readerlm' | 'ocr';
export type ModelSettings = Pick<Config, `${Part}${'Url' | 'Model' | 'Key'}` | 'modelTimeoutMs'>;

/** Under which id the model of each part is known to its server. */
export const modelNames = (settings: ModelSettings): Readonly<Partial<Record<Part, string>>> => ({
  chat: settings.chatModel,
  vision: settings.visionModel ?? settings.chatModel,
  readerlm: settings.readerlmModel ?? settings.chatModel,
  ocr: settings.ocrModel ?? settings.chatModel,
});

/**
 * What a part leaves unset is that of `chat`; a part on a server of its own does not send the key of another. `ocr`
 * exists only when it has a server or a model of its own, since text recognition works without.
 */
export function createModels(settings: ModelSettings, { fetch }: { readonly fetch: ChatFetch }): Models {
  const of = (part: Part): Chat | undefined => {
    const url = settings[`${part}Url`] ?? settings.chatUrl;
    const model = settings[`${part}Model`] ?? settings.chatModel;
    const key = settings[`${part}Key`] ?? (url === settings.chatUrl ? settings.chatKey : undefined);
    return url && model ? createChat({ url, model, key, fetch, timeoutMs: settings.modelTimeoutMs }) : undefined;
  };
  return {
    chat: of('chat'),
    vision: of('vision'),
    readerlm: of('readerlm'),
    ocr: settings.ocrUrl || settings.ocrModel ? of('ocr') : undefined,
  };
}
