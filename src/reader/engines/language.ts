/** The language that every engine requests from a target. */

/** What most browsers send, independent of the machine's language. */
export const DEFAULT_LOCALE = 'en-US';

/** A language tag, then its language without the region, as browsers list them: `de-CH`, `de`. */
export function languagesOf(locale: string = DEFAULT_LOCALE): readonly string[] {
  const language = locale.split('-', 1)[0]!;
  return language === locale ? [locale] : [locale, language];
}

/** Value of the header `Accept-Language`: `de-CH,de;q=0.9`. */
export const acceptLanguage = (locale?: string): string =>
  languagesOf(locale)
    .join(',')
    .replace(/,(.*)$/, ',$1;q=0.9');
