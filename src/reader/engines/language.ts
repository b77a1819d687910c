/** The language that every engine requests from a target. */

/** The language that most browsers send; independent of the machine's language. */
export const DEFAULT_LOCALE = 'en-US';

/** A language tag, followed by its language without the region, in the order that browsers use: `de-CH`, `de`. */
export function languagesOf(locale: string = DEFAULT_LOCALE): readonly string[] {
  const language = locale.split('-', 1)[0]!;
  return language === locale ? [locale] : [locale, language];
}

/** Value of the `Accept-Language` header: `de-CH,de;q=0.9`. */
export const acceptLanguage = (locale?: string): string =>
  languagesOf(locale)
    .join(',')
    .replace(/,(.*)$/, ',$1;q=0.9');
