/** Tokenizes text with the vocabularies of GPT models. Each is loaded on first use, because they are large. */
import { bytesOfToken, encodeTokens, loadTokens, tokenizerPieces } from '#reader/index.ts';
import type { Tokenizer } from './fields.ts';

/** The text of one or more tokens, and their ids. A character that several tokens share is not divided. */
export type Token = readonly [text: string, ids: readonly number[]];

interface Vocabulary {
  encode(text: string): number[];
  bytesOf(id: number): Uint8Array;
}

type Ranks = readonly (string | readonly number[])[];
type Encode = (text: string, options: { readonly disallowedSpecial: Set<string> }) => number[];

/** The vocabularies apart from cl100k_base, which the reader loads to count tokens. */
const LOADERS = {
  o200k_base: () =>
    Promise.all([import('gpt-tokenizer/encoding/o200k_base'), import('gpt-tokenizer/bpeRanks/o200k_base')]),
  p50k_base: () =>
    Promise.all([import('gpt-tokenizer/encoding/p50k_base'), import('gpt-tokenizer/bpeRanks/p50k_base')]),
  r50k_base: () =>
    Promise.all([import('gpt-tokenizer/encoding/r50k_base'), import('gpt-tokenizer/bpeRanks/r50k_base')]),
};
type VocabularyName = keyof typeof LOADERS | 'cl100k_base';

/** Tokenizers that differ from a vocabulary only in their special tokens, which count as text here. */
const VOCABULARIES: Readonly<Record<Tokenizer, VocabularyName>> = {
  cl100k_base: 'cl100k_base',
  o200k_base: 'o200k_base',
  p50k_base: 'p50k_base',
  p50k_edit: 'p50k_base',
  r50k_base: 'r50k_base',
  gpt2: 'r50k_base',
};

const loaded = new Map<VocabularyName, Promise<Vocabulary>>();

export async function loadTokenizer(tokenizer: Tokenizer): Promise<(text: string) => Token[]> {
  const name = VOCABULARIES[tokenizer];
  const loading = loaded.get(name) ?? load(name);
  loaded.set(name, loading);
  const vocabulary = await loading;
  return (text) => tokenize(text, vocabulary);
}

async function load(name: VocabularyName): Promise<Vocabulary> {
  if (name === 'cl100k_base') {
    await loadTokens();
    return { encode: encodeTokens, bytesOf: (id) => bytesOfToken(id)! };
  }
  const [{ encode }, { default: ranks }] = (await LOADERS[name]()) as unknown as [
    { encode: Encode },
    { default: Ranks },
  ];
  const asText = { disallowedSpecial: new Set<string>() };
  return {
    encode: (text) => encode(text, asText),
    bytesOf: (id) => {
      const bytes = ranks[id]!;
      return typeof bytes === 'string' ? Buffer.from(bytes) : Uint8Array.from(bytes);
    },
  };
}

function tokenize(text: string, { encode, bytesOf }: Vocabulary): Token[] {
  const tokens: Token[] = [];
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (const piece of tokenizerPieces(text)) {
    let ids: number[] = [];
    let shown = '';
    let bytes = 0;
    for (const id of encode(piece)) {
      const part = bytesOf(id);
      shown += decoder.decode(part, { stream: true });
      bytes += part.length;
      ids.push(id);
      // The decoder holds back the bytes of an incomplete character.
      if (Buffer.byteLength(shown) !== bytes) continue;
      tokens.push([shown, ids]);
      [ids, shown, bytes] = [[], '', 0];
    }
  }
  return tokens;
}
