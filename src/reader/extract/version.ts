/** The extraction version of a result: the same bytes, options and version give the same Markdown. */
import { createHash } from 'node:crypto';
import { WEIGHTS } from '#generated/content-weights.ts';
import { KIND_WEIGHTS } from '#generated/page-kind-weights.ts';
import { TOKEN_WEIGHTS } from '#generated/token-weights.ts';
import { FEATURES } from './trees/features.ts';
import { PAGE_FEATURES } from './trees/page-features.ts';

/** Increment this manually with every change to extraction or Markdown that changes neither weights nor features. */
const RULES = 10;

let version: string | undefined;

const fitted = () => [...FEATURES, WEIGHTS, TOKEN_WEIGHTS, ...PAGE_FEATURES, ...Object.values(KIND_WEIGHTS)];

/** `1-3f2a9c1b`: the rules version, then a digest of the fitted weights and feature names. */
export function extractionVersion(): string {
  version ??= `${RULES}-${createHash('sha256').update(fitted().join('\n')).digest('hex').slice(0, 8)}`;
  return version;
}
