/** Requests for models that run on workers. A model is named by the id of its row, which is the same everywhere. */
import type { EmbedOptions, Prepared, PrepareOptions } from '../backend.ts';

type Options = Omit<PrepareOptions, 'signal'>;

/** The answer is the result of the method of the backend with this purpose. */
export type ModelRequest =
  /** Answered with the ids of the models whose files are on the worker. */
  | { readonly do: 'list' }
  | ({ readonly do: 'prepare'; readonly model: string; readonly texts: readonly string[] } & Options)
  | ({
      readonly do: 'chunks';
      readonly model: string;
      readonly prefix: string;
      readonly items: readonly string[];
    } & Options)
  | { readonly do: 'media'; readonly model: string }
  | ({ readonly do: 'embed'; readonly model: string; readonly batch: readonly Prepared[] } & Omit<
      EmbedOptions,
      'signal'
    >)
  | ({
      readonly do: 'pairs';
      readonly model: string;
      readonly query: string;
      readonly documents: readonly string[];
    } & Options)
  | { readonly do: 'score'; readonly model: string; readonly batch: readonly Prepared[] }
  | { readonly do: 'encode'; readonly model: string; readonly texts: readonly string[]; readonly special: boolean }
  | {
      readonly do: 'decode';
      readonly model: string;
      readonly lists: readonly (readonly number[])[];
      readonly skipSpecial: boolean;
    }
  | { readonly do: 'ids'; readonly model: string; readonly pieces: readonly string[] };
