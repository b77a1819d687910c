/** Offers to install a browser to a user who has none: once on a terminal; in scripts, a line names the command. */
import type { Config } from '#config.ts';
import { GET_A_BROWSER, installInto } from './browser.ts';
import type { CliContext } from './context.ts';

export type OfferContext = Pick<CliContext, 'environment' | 'ask' | 'note' | 'rewrite' | 'width' | 'signal'>;

export async function offerBrowser(
  context: OfferContext,
  { browser: configured, browserUrl, dataDir }: Pick<Config, 'browser' | 'browserUrl' | 'dataDir'>,
): Promise<void> {
  if (configured !== undefined || browserUrl.length) return;
  const { findBrowser, recordOffer, userBrowserFolder, wasOffered } = await import('#reader/index.ts');
  const { environment, ask, note } = context;
  if (findBrowser({ dataDir, environment })) return;
  const folder = userBrowserFolder(environment);
  if (!ask || wasOffered(folder))
    return note(`lectern: no browser was found, so pages are read without running scripts: ${GET_A_BROWSER}`);
  const answer = await ask('No browser was found. Download Chromium (about 70 MB) to render pages? [y/N] ');
  if (/^\s*y(?:es)?\s*$/i.test(answer)) return installInto(context, folder);
  await recordOffer(folder);
  note(`lectern: pages are read without running scripts; later, ${GET_A_BROWSER}`);
}
