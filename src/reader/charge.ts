/** The price of an answer, in tokens (docs/reference/wire/reader.md, Tokens and charge). */
import { type Options, wantsMarkdown } from './options/resolve.ts';
import type { RenderTask } from './render.ts';
import type { Page } from './rendition.ts';
import { countTokens } from './tokens.ts';

/** Price of an answer with a picture. */
const PICTURE_TOKENS = 765;
/** Minimum price of answers with generated alternative texts, and with injected scripts or remote rendering. */
const MIN_CHARGE_WITH_ALT = 765;
const MIN_CHARGE_WITH_SCRIPTS = 4_000;
/** Maximum price of an answer. */
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
  return Math.min(Math.max(total, minCharge(options)) * factor, MAX_CHARGE);
}

function minCharge(options: Options): number {
  const { injectPageScript, injectFrameScript, engine, retainImages } = options;
  const injects = injectPageScript.length + injectFrameScript.length > 0;
  if (injects || engine === 'cf-browser-rendering') return MIN_CHARGE_WITH_SCRIPTS;
  return retainImages.endsWith('_p') && wantsMarkdown(options) ? MIN_CHARGE_WITH_ALT : 0;
}
