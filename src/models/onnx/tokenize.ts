/** Tokenizes texts for a model, with truncation, pairs, windows and late chunking. */
import { createYielder } from '#concurrency/yielder.ts';
import { ownValue } from '#own-value.ts';
import type { Judge, Marks } from '../registry/catalogue.ts';
import { framePair, type Tokenizer, wellFormed } from '../tokenizers/tokenizer.ts';
import { createJudgePairs } from './judge.ts';
import type { ReadyPairs, ReadySequence, Sequence } from './messages.ts';
import { windowsOf } from './windows.ts';

export interface Preparer {
  prepare(texts: readonly string[], options: CutOptions): Promise<ReadySequence[]>;
  /** One sequence per window; see `Embedder` in backend.ts. */
  chunks(prefix: string, items: readonly string[], options: CutOptions): Promise<ReadySequence[]>;
  pairs(query: string, documents: readonly string[], maxTokens: number | undefined): Promise<ReadyPairs>;
}

export interface CutOptions {
  readonly maxTokens?: number | undefined;
  readonly task?: string | undefined;
}

export interface PreparerOptions {
  readonly contextTokens: number;
  /** Padding id. It also represents an empty sequence, because a run needs at least one token. */
  readonly padId: number;
  readonly taskIds?: Readonly<Record<string, number>> | undefined;
  readonly marks?: Marks | undefined;
  readonly judge?: Judge | undefined;
  readonly querySuffix?: string | undefined;
  /** Texts are padded to this many tokens; the model processes padding like other tokens. */
  readonly textTokens?: number | undefined;
}

/** Long texts are tokenized in pieces of this size, because tokenizers take superlinear time on text without spaces. */
const PIECE_CHARS = 8_192;
/** How far back to search for a space, so that no word is split. */
const BORDER_CHARS = 512;
/** Tokens are counted up to this many times the context size; beyond that, their number is estimated. */
const COUNTED_CONTEXTS = 8;

export function createPreparer(tokenizer: Tokenizer, options: PreparerOptions): Preparer {
  const { contextTokens, padId, taskIds, marks, judge, querySuffix, textTokens = 0 } = options;
  const { before, after } = tokenizer.frame;
  const yieldIfDue = createYielder();
  const marked = marks && {
    query: idOf(tokenizer, marks.query),
    document: idOf(tokenizer, marks.document),
    mask: idOf(tokenizer, marks.mask),
  };
  const punctuation = marks?.dropsPunctuation ? punctuationIds(tokenizer) : undefined;
  const suffix = querySuffix === undefined ? [] : [...tokenizer.encode(querySuffix)];

  /** Returns the ids of a text without special tokens, at most `most`; `full` is the token count of the whole text. */
  async function idsOf(text: string, most: number, follows = false): Promise<{ ids: number[]; full: number }> {
    const ids: number[] = [];
    const enough =
      COUNTED_CONTEXTS * (most === Number.POSITIVE_INFINITY ? contextTokens : Math.max(most, contextTokens));
    let read = 0;
    for (const piece of piecesOf(wellFormed(text))) {
      await yieldIfDue();
      // A later chunk is tokenized as if text preceded it.
      const found = follows && read === 0 ? tokenizer.encodeItems(['', piece])[1]! : tokenizer.encode(piece);
      for (const id of found) ids.push(id);
      read += piece.length;
      if (ids.length > enough) break;
    }
    const full = read < text.length ? Math.ceil((ids.length / read) * text.length) : ids.length;
    if (ids.length > most) ids.length = most;
    return { ids, full };
  }

  const frameStart = (task: string | undefined): readonly number[] =>
    marked ? [...before, task === 'query' ? marked.query : marked.document] : before;

  const taskOf = (task: string | undefined): number | undefined =>
    (taskIds && ownValue(taskIds, task ?? 'default')) ?? taskIds?.default;

  const ready = (ids: readonly number[], lost: number, rest: Omit<Sequence, 'ids'>): ReadySequence => {
    const all = Int32Array.from(ids.length ? ids : [padId]);
    return { sequence: { ids: all, ...rest }, tokens: all.length, fullTokens: all.length + lost };
  };

  async function one(text: string, { maxTokens, task }: CutOptions): Promise<ReadySequence> {
    const isQuery = task === 'query';
    const start = frameStart(task);
    const end = isQuery ? [...suffix, ...after] : after;
    const limit = marks && isQuery ? marks.queryTokens : maxTokens;
    const { ids, full } = await idsOf(text, remainingTokens(limit, start.length + end.length));
    const all = [...start, ...ids, ...end];
    const unmasked = all.length;
    while (marks && marked && isQuery && all.length < marks.queryTokens) all.push(marked.mask);
    while (all.length < textTokens) all.push(padId);
    return ready(all, full - ids.length, {
      task: taskOf(task),
      ...(marks && isQuery && !marks.attendsToMasks && { attended: unmasked }),
      ...(punctuation && !isQuery && { kept: positionsWithout(all, punctuation) }),
    });
  }

  const judgePairs = judge && createJudgePairs(judge, { idsOf, encode: (text) => [...tokenizer.encode(text)] });

  return {
    async prepare(texts, cut) {
      const sequences: ReadySequence[] = [];
      for (const text of texts) sequences.push(await one(text, cut));
      return sequences;
    },

    async chunks(prefix, items, { maxTokens, task }) {
      if (items.length === 1) return [await one(prefix + items[0], { maxTokens, task })];
      const lead = prefix.trimEnd();
      const start = [...frameStart(task), ...(await idsOf(lead, Number.POSITIVE_INFINITY)).ids];
      const maxTextTokens = remainingTokens(maxTokens, start.length + after.length);
      const windows: Window[] = [];
      for (const item of items) {
        const last = windows.at(-1);
        const { ids, full } = await idsOf(item, maxTextTokens, lead !== '' || last !== undefined);
        const isRoom = last !== undefined && last.ids.length + ids.length <= maxTextTokens;
        const window = isRoom ? last : { ids: [], spans: [], lost: 0 };
        if (!isRoom) windows.push(window);
        const from = start.length + window.ids.length;
        window.spans.push(from, from + ids.length);
        for (const id of ids) window.ids.push(id);
        window.lost += full - ids.length;
      }
      return windows.map(({ ids, spans, lost }) =>
        ready([...start, ...ids, ...after], lost, { spans: Int32Array.from(spans), task: taskOf(task) }),
      );
    },

    async pairs(query, documents, given) {
      const maxTokens = Math.min(given ?? contextTokens, contextTokens);
      if (judgePairs) return judgePairs(query, documents, maxTokens);
      const { pair } = tokenizer.frame;
      const around = pair.before.length + pair.between.length + pair.after.length;
      const asked = await idsOf(query, Math.max(1, Math.floor(maxTokens / 2) - pair.before.length));
      const lost = asked.full - asked.ids.length;
      const maxTextTokens = Math.max(1, maxTokens - around - asked.ids.length);
      const first = Int32Array.from(asked.ids);
      const pairs: ReadySequence[] = [];
      const positions: number[][] = [];
      for (const document of documents) {
        const { ids } = await idsOf(document, Number.POSITIVE_INFINITY);
        const windows = windowsOf(ids, maxTextTokens);
        positions.push(windows.map((_, at) => pairs.length + at));
        for (const window of windows) {
          const { ids: all, typeIds } = framePair(tokenizer.frame, first, Int32Array.from(window));
          pairs.push({ sequence: { ids: all, types: typeIds }, tokens: all.length, fullTokens: all.length + lost });
        }
      }
      return { pairs, documents: positions };
    },
  };
}

interface Window {
  readonly ids: number[];
  readonly spans: number[];
  lost: number;
}

const remainingTokens = (limit: number | undefined, around: number) =>
  limit === undefined ? Number.POSITIVE_INFINITY : Math.max(0, limit - around);

/** The first ids of punctuation marks, whose vectors ColBERT leaves out. */
function punctuationIds(tokenizer: Tokenizer): ReadonlySet<number> {
  const marks = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'];
  return new Set(marks.flatMap((mark) => [...tokenizer.encode(mark).slice(0, 1)]));
}

const positionsWithout = (ids: readonly number[], left: ReadonlySet<number>): Int32Array =>
  Int32Array.from(ids.flatMap((id, at) => (left.has(id) ? [] : [at])));

/** Splits a text before spaces if possible, and never within a character. */
export function* piecesOf(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > PIECE_CHARS) {
    let to = from + PIECE_CHARS;
    const blank = text.lastIndexOf(' ', to - 1);
    if (blank > to - BORDER_CHARS) to = blank;
    else if (/[\uD800-\uDBFF]/.test(text[to - 1]!)) to--;
    yield text.slice(from, to);
    from = to;
  }
  yield text.slice(from);
}

function idOf(tokenizer: Tokenizer, piece: string): number {
  const id = tokenizer.idOf(piece);
  if (id === undefined) throw new Error(`the tokenizer has no ${piece}`);
  return id;
}
