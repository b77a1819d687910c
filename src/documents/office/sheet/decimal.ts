/** Decimal rounding: half up, on the fifteen significant digits that spreadsheets store. */

/** Significant digits that spreadsheets store. */
const SIGNIFICANT_DIGITS = 15;

/** The integer part and exactly `places` decimals of a non-negative number. */
export function round(size: number, places: number): [whole: string, decimals: string] {
  if (!Number.isFinite(size)) return ['0', '0'.repeat(places)];
  const simple = Number((size * 10 ** places).toPrecision(SIGNIFICANT_DIGITS));
  // Fast path for most numbers: ten times as fast.
  if (simple < 1e15 && places < 15) return split(String(Math.round(simple)), places);
  const [mantissa, power] = size.toExponential(SIGNIFICANT_DIGITS - 1).split('e') as [string, string];
  const kept = Number(power) + 1 + places;
  if (kept < 0) return ['0', '0'.repeat(places)];
  const all = BigInt(mantissa.replace('.', ''));
  const unit = 10n ** BigInt(Math.abs(SIGNIFICANT_DIGITS - kept));
  return split((kept >= SIGNIFICANT_DIGITS ? all * unit : (all + unit / 2n) / unit).toString(), places);
}

function split(digits: string, places: number): [whole: string, decimals: string] {
  const padded = digits.padStart(places + 1, '0');
  return [padded.slice(0, padded.length - places), padded.slice(padded.length - places)];
}

/** The exponent is a multiple of `places`; the mantissa is rounded to `decimals`. */
export function scientific(size: number, places: number, decimals: number): { mantissa: number; exponent: number } {
  if (size === 0 || !Number.isFinite(size)) return { mantissa: 0, exponent: 0 };
  const power = Number(size.toExponential(SIGNIFICANT_DIGITS - 1).split('e')[1]);
  const exponent = Math.floor(power / places) * places;
  const [whole, rest] = round(scale(size, -exponent), decimals);
  const mantissa = Number(`${whole}.${rest || '0'}`);
  return mantissa >= 10 ** places
    ? { mantissa: scale(mantissa, -places), exponent: exponent + places }
    : { mantissa, exponent };
}

/** Shifts decimal digits in the text, because a division could give 1.2300000000000002. */
const scale = (size: number, power: number): number => {
  const [mantissa, own] = size.toExponential().split('e') as [string, string];
  return Number(`${mantissa}e${Number(own) + power}`);
};
