/** What an answer costs, in tokens (contract, section 6.9). */
import { type Options, wantsMarkdown } from './options/resolve.ts';
import type { RenderTask } from './render.ts';
import type { Page } from './rendition.ts';
import { countTokens } from './tokens.ts';

/** Tokens that a picture is charged. */
const PICTURE_TOKENS = 765;
/** What is charged at least for generated alternative texts, and for injected scripts or remote rendering. */
const LEAST_WITH_ALT = 765;
const LEAST_WITH_SCRIPTS = 4_000;
/** No answer is charged more than this. */
const MAX_CHARGE = 2_000_000;

export function chargeFor(
  page: Page,
  { snapshot, options, limits }: Pick<RenderTask, 'snapshot' | 'options' | 'limits'>,
  contentTokens: number | undefined,
): number {
  const picture = snapshot.screenshot || snapshot.pageshot ? PICTURE_TOKENS : 0;
  const main = (contentTokens ?? countTokens(page.content ?? '')) || countTokens(page.description);
  const total = main + countTokens(page.text ?? '') + countTokens(page.html ?? '') + picture;
  const factor = snapshot.proxied ? limits.proxyFactor : 1;
  return Math.min(Math.max(total, leastCharge(options)) * factor, MAX_CHARGE);
}

function leastCharge(options: Options): number {
  const { injectPageScript, injectFrameScript, engine, retainImages } = options;
  const injects = injectPageScript.length + injectFrameScript.length > 0;
  if (injects || engine === 'cf-browser-rendering') return LEAST_WITH_SCRIPTS;
  return retainImages.endsWith('_p') && wantsMarkdown(options) ? LEAST_WITH_ALT : 0;
}
