/** Prepares the inputs of an embedding model on a remote server: counts tokens and truncates texts. */
import type { MediaFormats, Prepared, PrepareOptions, ReadyMedium } from '../backends/backend.ts';
import { MEDIA_KINDS } from '../inputs/inputs.ts';
import type { EmbeddingKind, EmbeddingRow } from '../registry/catalogue.ts';
import { createExactCounts, cutTo, SURE_SHARE } from './counts.ts';
import { estimate, SPECIAL_TOKENS, sanitizeText } from './estimate.ts';
import type { RemoteMedium } from './protocol.ts';
import type { RemoteRuns } from './protocols.ts';
import type { RemoteTools, Server } from './server.ts';

/** Payload of a prepared input: one text, the chunks of one text, or a file. */
export interface Payload {
  readonly texts: readonly string[];
  readonly task: string | undefined;
  /** Whether the server truncates the text. */
  readonly truncate: boolean;
  /** Limit for truncation. If unset, a text that is too long is rejected. */
  readonly maxTokens: number | undefined;
  readonly lateChunking: boolean;
  /** Set for media, instead of texts. */
  readonly media?: { readonly medium: RemoteMedium; readonly uri: string } | undefined;
}

/** Estimated number of tokens of a file, used until the server has reported the real number. */
const MEDIA_TOKENS = 256;

export interface InputPreparer {
  prepare(texts: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
  prepareMedia(media: readonly ReadyMedium[], options: PrepareOptions): Promise<Prepared[]>;
  prepareChunks(prefix: string, items: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
}

export function createInputPreparer(
  row: EmbeddingRow,
  runs: RemoteRuns,
  { server, tokens }: { readonly server: Server; readonly tokens: RemoteTools['tokens'] },
): InputPreparer {
  const { contextTokens } = row;
  const { protocol } = server;
  const exact = createExactCounts(server, runs.model);

  /**
   * The task is sent to servers that support tasks, unless the row has prompts: then the model itself does not support
   * them.
   */
  const taskFor = (task: string | undefined) =>
    protocol.tasks && Object.keys(row.prefixes).length === 0 ? task : undefined;

  async function prepare(texts: readonly string[], { maxTokens, task, signal }: PrepareOptions): Promise<Prepared[]> {
    const clean = texts.map(sanitizeText);
    const estimates = await estimate(tokens, clean, signal);
    const counted = clean.map((text, index) => ({ text, tokens: estimates[index]! }));
    const counts = await exact.of(counted, contextTokens, signal);
    return counted.map((text, index) => {
      const fullTokens = counts[index]!;
      const mayBeCut = maxTokens !== undefined && Math.max(fullTokens, text.tokens) > maxTokens * SURE_SHARE;
      let shortened = text.text;
      if (maxTokens !== undefined && protocol.truncates)
        shortened = mayBeCut ? tokens.keep(shortened, maxTokens * 4) : shortened;
      else if (maxTokens !== undefined && fullTokens > maxTokens) {
        shortened = cutTo(tokens, text, fullTokens, maxTokens, SPECIAL_TOKENS);
      }
      const payload: Payload = {
        texts: [shortened],
        task: taskFor(task),
        truncate: mayBeCut && protocol.truncates,
        maxTokens,
        lateChunking: false,
      };
      return { tokens: Math.min(fullTokens, maxTokens ?? Number.POSITIVE_INFINITY), fullTokens, payload };
    });
  }

  async function prepareMedia(media: readonly ReadyMedium[], { task }: PrepareOptions): Promise<Prepared[]> {
    return media.map((one) => {
      if (!('file' in one)) throw new Error('remote models take media as files');
      const uri = `data:${one.mediaType};base64,${Buffer.from(one.file).toString('base64')}`;
      const payload: Payload = {
        texts: [],
        task: taskFor(task),
        truncate: false,
        maxTokens: undefined,
        lateChunking: false,
        media: { medium: one.medium, uri },
      };
      return { tokens: MEDIA_TOKENS, fullTokens: MEDIA_TOKENS, payload };
    });
  }

  /** The server splits the sequence into windows itself. */
  async function prepareChunks(prefix: string, items: readonly string[], options: PrepareOptions): Promise<Prepared[]> {
    const { maxTokens, task, signal } = options;
    const texts = items.map((text, index) => sanitizeText(index === 0 ? prefix + text : text));
    const estimates = await estimate(tokens, texts, signal);
    const fullTokens = estimates.reduce((sum, count) => sum + count - SPECIAL_TOKENS, SPECIAL_TOKENS);
    const payload: Payload = {
      texts,
      task: taskFor(task),
      truncate: maxTokens !== undefined,
      maxTokens,
      lateChunking: true,
    };
    return [{ tokens: fullTokens, fullTokens, payload }];
  }

  return { prepare, prepareMedia, prepareChunks };
}

/** The media, sent as files, that both the protocol and the model's kind accept. */
export function mediaFormatsOf(media: readonly RemoteMedium[], { kind }: EmbeddingRow): MediaFormats {
  const need = (medium: RemoteMedium) =>
    media.includes(medium) && (MEDIA_KINDS[medium] as readonly EmbeddingKind[]).includes(kind) ? 'file' : undefined;
  return { image: need('image'), audio: need('audio'), video: need('video') };
}
