/** Interface of a chat completion engine: built-in text recognition, or a model on a server. */
import type { ChatUsage } from '../chat/chat.ts';
import type { Form } from './fields.ts';
import type { Page } from './media.ts';
import type { CompletionRequest } from './request.ts';

/** A piece of the response. The last piece indicates whether the response is complete. */
export type Piece =
  | { readonly text: string }
  | {
      readonly text: '';
      readonly end: {
        readonly complete: boolean;
        readonly usage?: ChatUsage | undefined;
        readonly warning?: string | undefined;
      };
    };

export interface Engine {
  /** The model name in requests. */
  readonly id: string;
  readonly description: string;
  /** The output forms in which it can write pages; empty if it does not accept images. */
  readonly forms: readonly Form[];
  /** True if it accepts requests without an image. */
  readonly chats: boolean;
  /** True if it is generative: it reports its own token counts and stops at `maxTokens` itself. */
  readonly generates: boolean;
  /** Size of its context in tokens; 0 if unknown. */
  readonly contextTokens: number;
  /**
   * Yields the text of pages, or the answer to a question about them. `onDrawn` is called with the size in pixels of
   * each rendered page. Throws the errors of text recognition, document rendering and the model's server.
   */
  read(pages: readonly Page[], ask: EngineRequest): AsyncGenerator<Piece>;
  /** Continues a conversation without images. */
  chat(ask: EngineRequest): AsyncGenerator<Piece>;
}

export interface EngineRequest {
  readonly request: CompletionRequest;
  readonly onDrawn: (size: { readonly width: number; readonly height: number }) => void;
  readonly signal: AbortSignal;
}
