/** The price of a response, in tokens (docs/reference/wire/reader.md, Tokens and charge). */
import { type Options, wantsMarkdown } from './options/resolve.ts';
import type { RenderTask } from './render.ts';
import type { Page } from './rendition.ts';
import { countTokens } from './tokens.ts';

/** Price of a response that includes a picture. Responses that are not the content of the page are free. */
const PICTURE_TOKENS = 765;
/** Minimum price of responses with generated alt text, injected scripts or remote rendering. */
const MIN_CHARGE_WITH_ALT = 765;
const MIN_CHARGE_WITH_SCRIPTS = 4_000;
/** Maximum price of a response. */
const MAX_CHARGE = 2_000_000;

export function chargeFor(
  page: Page,
  { snapshot, options, limits }: Pick<RenderTask, 'snapshot' | 'options' | 'limits'>,
  contentTokens: number | undefined,
): number {
  if (snapshot.blocked) return 0;
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
