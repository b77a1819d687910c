/** The language that is asked of a target, alike by every engine. */

/** Where the caller names none: what most browsers ask for, whatever the language of the machine. */
export const DEFAULT_LOCALE = 'en-US';

/** A language, then the same without its region, as browsers list them: `de-CH`, `de`. */
export function languagesOf(locale: string = DEFAULT_LOCALE): readonly string[] {
  const language = locale.split('-', 1)[0]!;
  return language === locale ? [locale] : [locale, language];
}

/** As the header `Accept-Language`: `de-CH,de;q=0.9`. */
export const acceptLanguage = (locale?: string): string =>
  languagesOf(locale)
    .join(',')
    .replace(/,(.*)$/, ',$1;q=0.9');
