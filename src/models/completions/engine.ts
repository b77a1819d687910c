/** What an engine owes that answers chat completions: text recognition of this machine, and models on servers. */
import type { ChatUsage } from '../generate.ts';
import type { Form } from './fields.ts';
import type { Page } from './media.ts';
import type { CompletionRequest } from './request.ts';

/** A piece of an answer; the last one says how it ended. */
export type Piece =
  | { readonly text: string }
  | { readonly text: ''; readonly end: { readonly complete: boolean; readonly usage?: ChatUsage | undefined } };

export interface Engine {
  /** What requests name. */
  readonly id: string;
  readonly description: string;
  /** Forms in which it can give pages; none for one that cannot see. */
  readonly forms: readonly Form[];
  /** Whether it answers questions without a picture. */
  readonly chats: boolean;
  /** Whether it generates: then it counts its own tokens, and ends at `maxTokens` by itself. */
  readonly generates: boolean;
  /** Tokens of its context; 0 when it is not known. */
  readonly contextTokens: number;
  /**
   * The text of pages in one of its forms, or the answer to what is asked of them. `onDrawn` is told the size of each
   * page that was looked at, in pixels. Throws what the rooms beneath throw.
   */
  read(pages: readonly Page[], ask: Asking): AsyncGenerator<Piece>;
  /** The answer to a conversation without pictures. */
  chat(ask: Asking): AsyncGenerator<Piece>;
}

export interface Asking {
  readonly request: CompletionRequest;
  readonly onDrawn: (size: { readonly width: number; readonly height: number }) => void;
  readonly signal: AbortSignal;
}
