/**
 * A linear model over tokens: the words in the names of elements (class, id, role and others) and in short texts. Its
 * scores are features of the trees. It learns from annotated pages what lists of words state by hand, in every
 * language of those pages.
 */
import { pairHash, tokenHash } from './tokens.ts';

/** The kinds of tokens, each with a weight of its own. */
export const TOKEN_KINDS = ['own', 'around', 'word', 'pair', 'first'] as const;
/**
 * - `own`: in the name of the block's element or of its parent
 * - `around`: in the name of the block's element or of any ancestor
 * - `word`, `pair`, `first`: a word of a short text, two consecutive ones, and the first one
 */
export type TokenKind = (typeof TOKEN_KINDS)[number];

export interface TokenModel {
  readonly bias: number;
  readonly weights: Readonly<Record<TokenKind, TokenWeights>>;
}

/** Weights by token hash. */
export interface TokenWeights {
  /** The weight of a token; 0 if it is unknown. */
  get(hash: number): number;
}

/** Builds the model of these weights. A token of the kind `pair` is two words with a space between. */
export function createTokenModel(
  bias: number,
  rows: Iterable<readonly [kind: TokenKind, token: string, weight: number]>,
): TokenModel {
  const maps = Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, new Map<number, number>()])) as Record<
    TokenKind,
    Map<number, number>
  >;
  for (const [kind, token, weight] of rows) maps[kind].set(hashOf(kind, token), weight);
  const weights = Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, createTable(maps[kind])])) as Record<
    TokenKind,
    TokenWeights
  >;
  return { bias, weights };
}

export function hashOf(kind: TokenKind, token: string): number {
  if (kind !== 'pair') return tokenHash(token);
  const space = token.indexOf(' ');
  return pairHash(tokenHash(token.slice(0, space)), tokenHash(token.slice(space + 1)));
}

/** An open-addressing table at most half full, which is faster here than a Map. */
function createTable(weights: ReadonlyMap<number, number>): TokenWeights {
  let size = 64;
  while (size < weights.size * 2) size *= 2;
  const keys = new Int32Array(size).fill(-1);
  const values = new Float64Array(size);
  const slotOf = (hash: number): number => {
    let slot = (hash ^ (hash >>> 15)) & (size - 1);
    while (keys[slot] !== -1 && keys[slot] !== hash) slot = (slot + 1) & (size - 1);
    return slot;
  };
  for (const [hash, weight] of weights) {
    const slot = slotOf(hash);
    keys[slot] = hash;
    values[slot] = weight;
  }
  return { get: (hash) => values[slotOf(hash)]! };
}

/**
 * Parses the text form: the first line is the bias, every other line a kind, a weight and the tokens with this weight.
 * Tokens of the kind `pair` are written with `+` between the words.
 */
export function parseTokenModel(text: string): TokenModel {
  const [bias, ...lines] = text.trim().split('\n');
  const rows: [TokenKind, string, number][] = [];
  for (const line of lines) {
    const [kind, weight, ...tokens] = line.split(' ');
    for (const token of tokens) rows.push([kind as TokenKind, token.replace('+', ' '), Number(weight)]);
  }
  return createTokenModel(Number(bias), rows);
}

/** Writes the text form, with weights rounded to two decimals. Words contain no `+` and no space. */
export function writeTokenModel(
  bias: number,
  rows: Iterable<readonly [kind: TokenKind, token: string, weight: number]>,
): string {
  const lines = new Map<string, string[]>();
  for (const [kind, token, weight] of rows) {
    const rounded = weight.toFixed(2);
    if (Number(rounded) === 0) continue;
    const key = `${kind} ${rounded}`;
    const tokens = lines.get(key);
    if (tokens) tokens.push(token.replace(' ', '+'));
    else lines.set(key, [token.replace(' ', '+')]);
  }
  const rank = (key: string) => {
    const [kind = '', weight] = key.split(' ');
    return TOKEN_KINDS.indexOf(kind as TokenKind) * 1000 + Number(weight);
  };
  const sorted = [...lines].sort(([one], [other]) => rank(one) - rank(other));
  return [bias.toFixed(3), ...sorted.map(([key, tokens]) => `${key} ${tokens.sort().join(' ')}`)].join('\n');
}
