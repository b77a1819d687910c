/** Formats numbers for lists and pages. */

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];
/** Larger numbers are written in digits. */
const LARGEST_ROMAN = 3_999;

function roman(value: number): string {
  if (value < 1 || value > LARGEST_ROMAN) return String(value);
  let left = value;
  let text = '';
  for (const [worth, sign] of ROMAN) {
    while (left >= worth) {
      text += sign;
      left -= worth;
    }
  }
  return text;
}

const LONGEST_LETTERS = 30;

/** a to z, then aa, bb, like Word. */
function letters(value: number): string {
  const times = Math.floor((value - 1) / 26) + 1;
  if (value < 1 || times > LONGEST_LETTERS) return String(value);
  return String.fromCharCode(97 + ((value - 1) % 26)).repeat(times);
}

/**
 * Formats a number in one of the ST_NumberFormat formats (ISO/IEC 29500-1, 17.18.59). Formats for other scripts use
 * plain digits.
 */
export function formatNumber(value: number, format: string): string {
  switch (format) {
    case 'lowerLetter':
      return letters(value);
    case 'upperLetter':
      return letters(value).toUpperCase();
    case 'lowerRoman':
      return roman(value);
    case 'upperRoman':
      return roman(value).toUpperCase();
    case 'decimalZero':
      return String(value).padStart(2, '0');
    default:
      return String(value);
  }
}
