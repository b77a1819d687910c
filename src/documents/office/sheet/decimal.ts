/** Rounding as it is done on paper: half up, on the fifteen digits that a spreadsheet keeps. */

const KEPT = 15;

/** The whole part and exactly `places` decimals of a number that is not negative. */
export function round(size: number, places: number): [whole: string, decimals: string] {
  if (!Number.isFinite(size)) return ['0', '0'.repeat(places)];
  const simple = Number((size * 10 ** places).toPrecision(KEPT));
  // Most numbers take this way: it is ten times as fast.
  if (simple < 1e15 && places < 15) return split(String(Math.round(simple)), places);
  const [mantissa, power] = size.toExponential(KEPT - 1).split('e') as [string, string];
  const kept = Number(power) + 1 + places;
  if (kept < 0) return ['0', '0'.repeat(places)];
  const all = BigInt(mantissa.replace('.', ''));
  const unit = 10n ** BigInt(Math.abs(KEPT - kept));
  return split((kept >= KEPT ? all * unit : (all + unit / 2n) / unit).toString(), places);
}

function split(digits: string, places: number): [whole: string, decimals: string] {
  const padded = digits.padStart(places + 1, '0');
  return [padded.slice(0, padded.length - places), padded.slice(padded.length - places)];
}

/** With an exponent that is a multiple of `places`, the mantissa rounded to `decimals`. */
export function scientific(size: number, places: number, decimals: number): { mantissa: number; exponent: number } {
  if (size === 0 || !Number.isFinite(size)) return { mantissa: 0, exponent: 0 };
  const power = Number(size.toExponential(KEPT - 1).split('e')[1]);
  const exponent = Math.floor(power / places) * places;
  const [whole, rest] = round(scale(size, -exponent), decimals);
  const mantissa = Number(`${whole}.${rest || '0'}`);
  return mantissa >= 10 ** places
    ? { mantissa: scale(mantissa, -places), exponent: exponent + places }
    : { mantissa, exponent };
}

/** By its decimal digits, since a division would leave 1.2300000000000002. */
const scale = (size: number, power: number): number => {
  const [mantissa, own] = size.toExponential().split('e') as [string, string];
  return Number(`${mantissa}e${Number(own) + power}`);
};
