/** The names of the reader's options in Firecrawl's requests, for errors and warnings. */
import { Problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';
import { renamePath } from '../fields.ts';

const NAMES: Readonly<Record<string, string>> = {
  respondWith: 'formats',
  targetSelector: 'includeTags',
  removeSelector: 'excludeTags',
  withLinksSummary: 'formats',
  withImagesSummary: 'formats',
  keepImgDataUrl: 'removeBase64Images',
  customHeader: 'headers',
  setCookies: 'headers',
  userAgent: 'headers',
  referer: 'headers',
  viewport: 'mobile',
  locale: 'location',
  respondTiming: 'waitFor',
  noCache: 'maxAge',
  cacheTolerance: 'maxAge',
  doNotTrack: 'storeInCache',
  skipCertVerification: 'skipTlsVerification',
  removeOverlay: 'blockAds',
  jsonSchema: 'formats',
  instruction: 'formats',
};
const PATTERN = new RegExp(`\\b(?:${Object.keys(NAMES).join('|')})\\b`, 'g');

/** Renames the options in a warning. */
export const renameOptions = (text: string): string => text.replaceAll(PATTERN, (name) => NAMES[name]!);

/** Renames the option that a problem names. `prefix` is the path of the scrape options, with a dot at its end. */
export function renameProblem(error: unknown, prefix = ''): unknown {
  if (!(error instanceof Problem) || typeof error.facts.path !== 'string') return error;
  const [option = ''] = error.facts.path.replace(/^options\./, '').split('.');
  const name = ownValue(NAMES, option);
  if (name === undefined) return error;
  return renamePath(error, { [error.facts.path]: prefix + name });
}
