/** The codes of languages in ISO 639-3, of those that are detected. */
import { ownValue } from '#own-value.ts';

const CODES: Readonly<Record<string, string>> = {
  ...{ ar: 'ara', bg: 'bul', ca: 'cat', cs: 'ces', da: 'dan', de: 'deu', el: 'ell', en: 'eng', es: 'spa', et: 'est' },
  ...{ eu: 'eus', fa: 'fas', fi: 'fin', fr: 'fra', gl: 'glg', he: 'heb', hi: 'hin', hr: 'hrv', hu: 'hun', hy: 'hye' },
  ...{ id: 'ind', it: 'ita', ja: 'jpn', ka: 'kat', km: 'khm', ko: 'kor', lo: 'lao', lt: 'lit', lv: 'lav', my: 'mya' },
  ...{ nl: 'nld', no: 'nor', pl: 'pol', pt: 'por', ro: 'ron', ru: 'rus', sk: 'slk', sl: 'slv', sr: 'srp', sv: 'swe' },
  ...{ ta: 'tam', th: 'tha', tr: 'tur', uk: 'ukr', ur: 'urd', vi: 'vie', zh: 'zho' },
};

/** `undefined` for a language without a code here. */
export const threeLetterCode = (language: string | undefined): string | undefined =>
  language === undefined ? undefined : ownValue(CODES, language);
