/** Language codes sent by callers. They are the codes of web search APIs, some of which ISO 639 has replaced. */
import { ownValue } from '#own-value.ts';

const CODES =
  'af ak am ar as az be bem bg bh bn br bs ca chr ckb co crs cs cy da de ee el en en-gb en-us eo es es-419 et eu fa fi fil fo fr fr-ca fy ga gaa gd gl gn gu ha haw he hi hr ht hu hy ia id ig is it iw ja jv jw ka kg kk km kn ko kri ku ky la lg ln lo loz lt lua lv mfe mg mi mk ml mn mo mr ms mt my nb ne nl nn no nso ny nyn oc om or pa pcm pl ps pt pt-br pt-pt qu rm rn ro ru rw sd sh si sk sl sn so sq sr sr-me st su sv sw ta te tg th ti tk tl tn to tr tt tum tw ug uk ur uz vi wo xh yi yo zh zh-cn zh-hk zh-tw zu';
const LANGUAGES: ReadonlySet<string> = new Set(CODES.split(' '));
/** Codes that ISO 639 has replaced. */
const REPLACED: Readonly<Record<string, string>> = { iw: 'he', jw: 'jv', mo: 'ro', tl: 'fil', bh: 'bho', no: 'nb' };

/** Returns the code in lower case; `undefined` if it is unknown. */
export function parseLanguage(text: string): string | undefined {
  const code = text.trim().toLowerCase();
  return LANGUAGES.has(code) ? code : undefined;
}

/** Returns the ISO 639 code without its region: `he` for `iw`, `zh` for `zh-tw`. */
export function baseLanguage(code: string): string {
  const [base = ''] = code.split('-', 1);
  return ownValue(REPLACED, base) ?? base;
}

/** Returns the BCP 47 tag: `zh-CN`, `pt-BR`, `es-419`. */
export function languageTag(code: string): string {
  const [, region] = code.split('-');
  return region ? `${baseLanguage(code)}-${region.toUpperCase()}` : baseLanguage(code);
}
