/** Fonts that affect the meaning of text: code fonts and symbol fonts. */

/** Monospaced fonts: text in them is code, unless the whole document uses one. */
export const isCodeFont = (name: string | undefined): boolean =>
  name !== undefined &&
  /\b(?:courier|consolas|menlo|monaco|inconsolata|fixedsys|terminal)\b|\bmono\b|monospace|lucida console|source code|cascadia|sf mono|code new/i.test(
    name,
  );

/** Letters of the Symbol font at 0x41 to 0x5a and 0x61 to 0x7a. */
const SYMBOL_UPPER = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const SYMBOL_LOWER = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';
const SYMBOL: Readonly<Record<number, string>> = {
  34: '∀',
  36: '∃',
  39: '∋',
  45: '−',
  64: '≅',
  92: '∴',
  94: '⊥',
  163: '≤',
  164: '⁄',
  165: '∞',
  171: '↔',
  172: '←',
  173: '↑',
  174: '→',
  175: '↓',
  176: '°',
  177: '±',
  179: '≥',
  180: '×',
  181: '∝',
  182: '∂',
  183: '•',
  184: '÷',
  185: '≠',
  186: '≡',
  187: '≈',
  188: '…',
  196: '⊗',
  197: '⊕',
  198: '∅',
  199: '∩',
  200: '∪',
  201: '⊃',
  202: '⊇',
  204: '⊂',
  205: '⊆',
  206: '∈',
  207: '∉',
  208: '∠',
  209: '∇',
  213: '∏',
  214: '√',
  215: '⋅',
  216: '¬',
  217: '∧',
  218: '∨',
  219: '⇔',
  220: '⇐',
  222: '⇒',
  229: '∑',
  242: '∫',
};
const WINGDINGS: Readonly<Record<number, string>> = {
  40: '☎',
  42: '✉',
  65: '✌',
  70: '☞',
  74: '☺',
  76: '☹',
  108: '●',
  110: '■',
  111: '□',
  113: '❑',
  114: '❒',
  118: '❖',
  159: '•',
  167: '▪',
  168: '☐',
  216: '➢',
  223: '←',
  224: '→',
  225: '↑',
  226: '↓',
  232: '➔',
  240: '⇨',
  251: '✗',
  252: '✓',
  253: '☒',
  254: '☑',
};

/** The character at a code of a symbol font; '' if unknown. Codes from 0xf000 on are in the font's private range. */
export function symbolOf(font: string, code: number): string {
  const place = code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code;
  if (/^wingdings$/i.test(font)) return WINGDINGS[place] ?? '';
  if (!/^symbol$/i.test(font)) return code >= 0xe000 && code <= 0xf8ff ? '' : String.fromCodePoint(code);
  if (place >= 0x41 && place <= 0x5a) return SYMBOL_UPPER[place - 0x41]!;
  if (place >= 0x61 && place <= 0x7a) return SYMBOL_LOWER[place - 0x61]!;
  return SYMBOL[place] ?? (place >= 0x20 && place < 0x7f ? String.fromCharCode(place) : '');
}
