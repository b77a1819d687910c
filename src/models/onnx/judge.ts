/** Prompts of rerankers that are language models: a query and a document, between the parts of a fixed text. */
import type { Judge } from '../registry/catalogue.ts';
import type { ReadyPairs, ReadySequence } from './messages.ts';
import { windowsOf } from './windows.ts';

interface JudgeTools {
  /** The ids of a text, at most `most`, and the number of all its ids. */
  readonly idsOf: (text: string, most: number) => Promise<{ ids: number[]; full: number }>;
  /** Recognizes special tokens. */
  readonly encode: (text: string) => number[];
}

/** Tokenizes the pairs of a query. A document that is too long is split into windows. */
export type JudgePairs = (query: string, documents: readonly string[], maxTokens: number) => Promise<ReadyPairs>;

export function createJudgePairs(judge: Judge, { idsOf, encode }: JudgeTools): JudgePairs {
  const start = encode(judge.before);
  const end = encode(judge.after);
  // In most vocabularies, a space is part of the word after it, and is therefore tokenized with the text.
  const [queryStem, queryGap] = splitGap(judge.query);
  const [documentStem, documentGap] = splitGap(judge.document);
  const stem = encode(documentStem);

  async function queryIds(query: string, most: number): Promise<{ ids: number[]; lost: number }> {
    const whole = await idsOf(judge.query + query + judge.between, Number.POSITIVE_INFINITY);
    if (whole.ids.length <= most) return { ids: whole.ids, lost: 0 };
    const [opening, closing] = [encode(queryStem), encode(judge.between)];
    const { ids, full } = await idsOf(queryGap + query, Math.max(1, most - opening.length - closing.length));
    return { ids: [...opening, ...ids, ...closing], lost: full - ids.length };
  }

  return async (query, documents, maxTokens) => {
    const around = start.length + end.length;
    const asked = await queryIds(withoutSpecials(query), Math.max(1, Math.floor((maxTokens - around) / 2)));
    const head = [...start, ...asked.ids, ...stem];
    const maxTextTokens = Math.max(1, maxTokens - head.length - end.length);
    const pairs: ReadySequence[] = [];
    const positions: number[][] = [];
    for (const document of documents) {
      const { ids } = await idsOf(documentGap + withoutSpecials(document), Number.POSITIVE_INFINITY);
      const windows = windowsOf(ids, maxTextTokens);
      positions.push(windows.map((_, at) => pairs.length + at));
      for (const window of windows) {
        const all = Int32Array.from([...head, ...window, ...end]);
        pairs.push({ sequence: { ids: all }, tokens: all.length, fullTokens: all.length + asked.lost });
      }
    }
    return { pairs, documents: positions };
  };
}

function splitGap(text: string): [string, string] {
  const stem = text.replace(/ +$/, '');
  return [stem, text.slice(stem.length)];
}

/** A text must not end its part of the prompt: `<|im_end|>` in it becomes `<im_end>`. */
const withoutSpecials = (text: string): string => text.replace(/<\|([^<>|]{1,40})\|>/g, '<$1>');
