/** The vocabulary of the built-in models. It has no special tokens except the one of unknown characters. */

import { createYielder } from '#concurrency/yielder.ts';
import type { TokenCodec } from '../backend.ts';
import { WORD_MARK } from './lexicon.ts';
import type { StaticModel } from './model.ts';
import { UNKNOWN } from './pieces.ts';

export function createStaticTokens(get: () => Promise<StaticModel>): TokenCodec {
  return {
    async encode(texts, { signal }) {
      const { reader, pieces } = await get();
      const yieldIfDue = createYielder(signal);
      const found = [];
      for (const text of texts) {
        const { kept } = await reader.read(text, { yieldIfDue });
        found.push(kept.ids.map((id) => ({ id, text: pieces[id]!, isSpecial: id === UNKNOWN })));
      }
      return found;
    },
    async decode(lists, { skipSpecial }) {
      const { pieces } = await get();
      return lists.map((ids) => {
        if (ids.some((id) => pieces[id] === undefined)) return undefined;
        const kept = skipSpecial ? ids.filter((id) => id !== UNKNOWN) : ids;
        return kept
          .map((id) => pieces[id])
          .join('')
          .replaceAll(WORD_MARK, ' ')
          .trim();
      });
    },
    async idsOf(wanted) {
      const { pieces } = await get();
      return wanted.map((piece) => {
        const id = pieces.indexOf(piece);
        return id < 0 ? undefined : id;
      });
    },
  };
}
