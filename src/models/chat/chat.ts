/**
 * Generative models: the interface of a chat backend, and which models the operator configured. Any server that speaks
 * the OpenAI chat protocol works: vLLM, Ollama, llama.cpp, a hosted service.
 */
import type { Config } from '#config.ts';
import { type ChatFetch, createChat } from './client.ts';

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly ChatPart[];
}

/**
 * Constrains the response to JSON that matches this schema. Servers that do not support schemas are called without it.
 */
export interface JsonFormat {
  readonly type: 'json_schema';
  readonly json_schema: { readonly name: string; readonly schema: unknown; readonly strict?: boolean };
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  /** Maximum length of the response, in tokens. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly responseFormat?: JsonFormat | undefined;
  /** Further fields of the protocol under their wire names, such as `top_p` or `stop`. */
  readonly sampling?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
}

/** Token counts that the server reports. */
export interface ChatUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface ChatAnswer {
  readonly text: string;
  readonly usage?: ChatUsage | undefined;
  /** False if the response was cut off at the server's limit or at ours. */
  readonly complete: boolean;
}

/** A piece of the response. The last piece contains the usage and indicates whether the response is complete. */
export type ChatDelta =
  | { readonly text: string }
  | { readonly text: ''; readonly end: Pick<ChatAnswer, 'usage' | 'complete'> };

/**
 * A model on a server. Fails with DownstreamServiceFailureError (unreachable, broken, rejected, too slow),
 * ServiceNodeResourceDrainError (no capacity) or the signal's reason.
 */
export interface Chat {
  /** Throws DownstreamServiceFailureError if the server must not be called because it is outside the region. */
  check?(): void;
  complete(request: ChatRequest): Promise<ChatAnswer>;
  stream(request: ChatRequest): AsyncGenerator<ChatDelta>;
}

/** The models by role. A role without a configured model is absent. */
export interface Models {
  readonly chat?: Chat | undefined;
  /** Describes images and pages. */
  readonly vision?: Chat | undefined;
  /** Rewrites HTML as Markdown. */
  readonly readerlm?: Chat | undefined;
  /** Recognizes text in images. */
  readonly ocr?: Chat | undefined;
}

type Part = 'chat' | 'vision' | 'readerlm' | 'ocr';
export type ModelSettings = Pick<Config, `${Part}${'Url' | 'Model' | 'Key'}` | 'modelTimeoutMs'>;

/** The model id that each role sends to its server. */
export const modelNames = (settings: ModelSettings): Readonly<Partial<Record<Part, string>>> => ({
  chat: settings.chatModel,
  vision: settings.visionModel ?? settings.chatModel,
  readerlm: settings.readerlmModel ?? settings.chatModel,
  ocr: settings.ocrModel ?? settings.chatModel,
});

/**
 * An unset setting of a role falls back to that of `chat`. A role with its own server never sends the key of another
 * server. `ocr` exists only with its own server or model, because text recognition also works without one.
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
