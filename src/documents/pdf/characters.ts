/** Normalizes characters to plain text: expands ligatures, replaces private-use characters, detects directions. */
import { ownValue } from '#own-value.ts';

/** Characters of symbol fonts in the private use area: 0xF000 plus the code in the font. */
const PRIVATE: Readonly<Record<string, string>> = {
  '\uf0b7': '•',
  '\uf0a7': '▪',
  '\uf0d8': '➢',
  '\uf0fc': '✓',
  '\uf0a8': '□',
  '\uf06f': '□',
  '\uf071': '❑',
  '\uf076': '❖',
  '\uf0e0': '→',
  '\uf0e8': '➔',
  '\uf02d': '-',
  '\uf0be': '—',
};

const UNUSUAL =
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ud800-\uf8ff\ufb00-\ufdff\ufe70-\ufeff\ufff0-\uffff]/;
const LIGATURES = /[\ufb00-\ufdff\ufe70-\ufefc]+/g;
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff0-\uffff]|\u{e0000}|[\u{e0001}-\u{e007f}]/gu;
const PRIVATE_USE = /[\ue000-\uf8ff]|[\u{f0000}-\u{10ffff}]/gu;

/** Converts the Unicode of a glyph to readable text, without control, direction or private-use characters. */
export function plainText(unicode: string): string {
  if (!UNUSUAL.test(unicode)) return unicode;
  return unicode
    .replace(/[\s\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ')
    .replace(/\u00ad/g, '-')
    .replace(LIGATURES, (signs) => signs.normalize('NFKC'))
    .replace(PRIVATE_USE, (sign) => ownValue(PRIVATE, sign) ?? basic(sign))
    .replace(UNSEEN, '')
    .replace(/\p{Surrogate}/gu, '');
}

/** Symbol fonts that keep Latin letters at 0xF000 and up. */
const basic = (sign: string): string => {
  const code = sign.codePointAt(0)! - 0xf000;
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : '';
};

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

export const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(text);

const WIDE =
  /[\u1100-\u11ff\u2e80-\u30ff\u3130-\u318f\u31a0-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]|[\u{20000}-\u{3ffff}]/u;

/** Scripts whose lines are joined without a space. Korean is not included, since it is written with spaces. */
export const isUnspaced = (sign: string): boolean => WIDE.test(sign);

/** Signs of the standard font ZapfDingbats (ISO 32000-1, annex D.6) that are used as marks and bullets, by their codes. */
const DINGBATS: Readonly<Record<string, string>> = {
  ...{ '3': '✓', '4': '✔', '5': '✕', '6': '✖', '7': '✗', '8': '✘', H: '★', l: '●', m: '❍', n: '■' },
  ...{ o: '❏', p: '❐', q: '❑', r: '❒', s: '▲', t: '▼', u: '◆', v: '❖', '\u00d4': '➔', '\u00d5': '→' },
};

/** The sign for a character of ZapfDingbats, if the file gives only its code. */
export const dingbatOf = (unicode: string): string => ownValue(DINGBATS, unicode) ?? unicode;
