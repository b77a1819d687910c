/** Metadata of a PDF. */
import { setOwnValue } from '#own-value.ts';

/** Default titles that programs write. */
const EMPTY_TITLES =
  /^(?:untitled|title|document|no title|unknown|about:blank|\(?anonymous\)?|microsoft (?:word|powerpoint|excel)\b.*|(?:word|powerpoint) (?:document|presentation)|.*\.(?:docx?|xlsx?|pptx?|odt|odp|ods|rtf|txt|indd|qxd|tex|dvi|pdf|html?|pages|eps|ai|cdr|fm|tmp)|(?:document|dokument|untitled|presentation)[ _-]?\d+|[{(]?[0-9a-f]{8}-[0-9a-f-]{27}[)}]?|file:.*|slide 1|powerpoint-pr[äa]sentation|layout \d+|print(?:ing)?)$/i;

export function titleOf(info: Readonly<Record<string, unknown>>): string {
  const title = oneLine(info.Title);
  return EMPTY_TITLES.test(title) || !/[\p{L}\p{N}]/u.test(title) ? '' : title;
}

/** Maximum length of a value, in characters. Longer values are truncated. */
const MAX_VALUE_LENGTH = 4_000;

/** The entries of the information dictionary as text, under their original names; dates in ISO 8601. */
export function metadataOf(info: Readonly<Record<string, unknown>>): Record<string, string> {
  const out: Record<string, string> = {};
  const add = (key: string, value: unknown) => {
    const text = /Date$/.test(key) ? (isoDate(value) ?? oneLine(value)) : oneLine(value);
    if (text !== '') setOwnValue(out, key, text.slice(0, MAX_VALUE_LENGTH));
  };
  for (const [key, value] of Object.entries(info)) {
    if (key === 'Custom' && value !== null && typeof value === 'object') {
      for (const [name, custom] of Object.entries(value)) add(name, custom);
    } else if (!NOT_SHOWN.has(key)) add(key, value);
  }
  return out;
}

/** Fields that PDF.js adds, and fields without information about the text. */
const NOT_SHOWN = new Set(
  'EncryptFilterName IsAcroFormPresent IsXFAPresent IsCollectionPresent IsSignaturesPresent IsLinearized Language Trapped'.split(
    ' ',
  ),
);

const oneLine = (value: unknown): string => {
  const text = typeof value === 'object' && value !== null && 'name' in value ? value.name : value;
  if (typeof text !== 'string' && typeof text !== 'number' && typeof text !== 'boolean') return '';
  return String(text)
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
};

/** Converts `D:20240131120000+01'00'` to ISO 8601 (ISO 32000-1, section 7.9.4); `undefined` if it is malformed. */
export function isoDate(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const found =
    /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([Z+-])(?:(\d\d)'?(?:(\d\d)'?)?)?)?/.exec(value.trim()) ??
    null;
  if (!found) return undefined;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', sign, offsetHour, offsetMinute] =
    found;
  const offset = sign === '+' || sign === '-' ? `${sign}${offsetHour ?? '00'}:${offsetMinute ?? '00'}` : 'Z';
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
