/** Fits the token model: logistic regression over the tokens of the blocks, with an L2 penalty. */
import type { Survey } from '#reader/extract/blocks/survey.ts';
import { createTokenModel, TOKEN_KINDS, type TokenKind, type TokenModel } from '#reader/extract/trees/token-model.ts';
import { visitBlockTokens, visitElementTokens } from '#reader/extract/trees/token-scores.ts';
import { minimize } from './minimize.ts';
import type { Sample } from './samples.ts';

/** Tokens on fewer sites say little about others. */
const MIN_SITES = 6;
const L2 = 2;
const ITERATIONS = 40;
/** Smaller weights are dropped: most of them are noise. */
const MIN_WEIGHT = 0.05;

export type TokenRow = readonly [kind: TokenKind, token: string, weight: number];

export interface FittedTokens {
  readonly bias: number;
  readonly rows: readonly TokenRow[];
}

export const modelOf = ({ bias, rows }: FittedTokens): TokenModel => createTokenModel(bias, rows);

/** The tokens of all blocks of all samples. Micro-pages count as having none: they repeat a few made-up words. */
export interface TokenTable {
  readonly tokens: readonly (readonly [kind: TokenKind, token: string])[];
  /** For each block, one after another: where its tokens start in `ids`. */
  readonly starts: Uint32Array;
  readonly ids: Int32Array;
  readonly answers: Float32Array;
  readonly weights: Float32Array;
  /** The part of each block's page. */
  readonly parts: Uint8Array;
}

interface Seen {
  readonly kind: TokenKind;
  readonly token: string;
  readonly sites: Set<string>;
  id: number;
}

/** Kinds and hashes as one number. */
const keyOf = (kind: TokenKind, hash: number): number => TOKEN_KINDS.indexOf(kind) * 2 ** 30 + hash;

export function collectTokens(samples: readonly Sample[]): TokenTable {
  const seen = new Map<number, Seen>();
  for (const { survey, site, micro } of samples) {
    if (micro) continue;
    const see = (kind: TokenKind, hash: number, text: string, start: number, end: number): void => {
      const key = keyOf(kind, hash);
      let entry = seen.get(key);
      if (!entry) {
        const token = text.slice(start, end).toLowerCase();
        const words = token.split(/[^\p{L}\p{N}_]+/u);
        entry = { kind, token: kind === 'pair' ? `${words[0]} ${words.at(-1)}` : token, sites: new Set(), id: -1 };
        seen.set(key, entry);
      }
      entry.sites.add(site);
    };
    for (let at = 0; at < survey.elements.length; at++) {
      visitElementTokens(survey, at, (hash, text, start, end) => {
        see('own', hash, text, start, end);
        see('around', hash, text, start, end);
      });
    }
    for (const block of survey.blocks) visitBlockTokens(block, see);
  }
  const tokens: [TokenKind, string][] = [];
  for (const entry of seen.values()) {
    if (entry.sites.size < MIN_SITES) continue;
    entry.id = tokens.push([entry.kind, entry.token]) - 1;
  }
  const idOf = (kind: TokenKind, hash: number): number => seen.get(keyOf(kind, hash))?.id ?? -1;
  const size = samples.reduce((sum, { answer }) => sum + answer.length, 0);
  const starts = new Uint32Array(size + 1);
  const answers = new Float32Array(size);
  const weights = new Float32Array(size);
  const parts = new Uint8Array(size);
  const ids: number[] = [];
  let row = 0;
  for (const { survey, answer, weight, part, micro } of samples) {
    const names = elementTokens(survey, idOf);
    for (const [at, block] of survey.blocks.entries()) {
      if (weight[at]! > 0 && !micro) {
        for (const element of [block.owner, survey.parent[block.owner]!])
          if (element >= 0) ids.push(...names.own[element]!);
        for (let element = block.owner; element >= 0; element = survey.parent[element]!) {
          ids.push(...names.around[element]!);
        }
        visitBlockTokens(block, (kind, hash) => {
          const id = idOf(kind, hash);
          if (id >= 0) ids.push(id);
        });
      }
      answers[row] = answer[at]!;
      weights[row] = micro ? 0 : weight[at]!;
      parts[row] = part;
      starts[++row] = ids.length;
    }
  }
  return { tokens, starts, ids: Int32Array.from(ids), answers, weights, parts };
}

function elementTokens(survey: Survey, idOf: (kind: TokenKind, hash: number) => number) {
  const found = { own: [] as number[][], around: [] as number[][] };
  for (let at = 0; at < survey.elements.length; at++) {
    const own: number[] = [];
    const around: number[] = [];
    visitElementTokens(survey, at, (hash) => {
      own.push(idOf('own', hash));
      around.push(idOf('around', hash));
    });
    found.own.push(own.filter((id) => id >= 0));
    found.around.push(around.filter((id) => id >= 0));
  }
  return found;
}

/** Fits the model to every block outside some parts. */
export function fitTokens(table: TokenTable, without: readonly number[]): FittedTokens {
  const { tokens, starts, ids, answers, weights, parts } = table;
  const size = tokens.length;
  const rows = Int32Array.from(answers.keys()).filter((row) => weights[row]! > 0 && !without.includes(parts[row]!));
  // The last number is the bias, which is not penalized.
  const fitted = minimize(
    (x, gradient) => {
      let loss = 0;
      for (let at = 0; at < size; at++) {
        loss += (L2 / 2) * x[at]! * x[at]!;
        gradient[at] = L2 * x[at]!;
      }
      gradient[size] = 0;
      for (let at = 0; at < rows.length; at++) {
        const row = rows[at]!;
        const end = starts[row + 1]!;
        let odds = x[size]!;
        for (let id = starts[row]!; id < end; id++) odds += x[ids[id]!]!;
        const weight = weights[row]!;
        const answer = answers[row]!;
        loss += weight * (Math.max(odds, 0) + Math.log1p(Math.exp(-Math.abs(odds))) - answer * odds);
        const error = weight * (1 / (1 + Math.exp(-odds)) - answer);
        gradient[size]! += error;
        for (let id = starts[row]!; id < end; id++) gradient[ids[id]!]! += error;
      }
      return loss;
    },
    size + 1,
    ITERATIONS,
  );
  const kept = tokens.flatMap(([kind, token], at): TokenRow[] =>
    Math.abs(fitted[at]!) < MIN_WEIGHT ? [] : [[kind, token, fitted[at]!]],
  );
  return { bias: fitted[size]!, rows: kept };
}
