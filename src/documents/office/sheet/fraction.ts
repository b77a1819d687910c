/** Formats numbers as fractions: `# ?/?`, `?/8`. */
import { round } from './decimal.ts';
import type { Section } from './format-code.ts';

export function asFraction(section: Section, size: number): string {
  const slash = section.tokens.findIndex((token) => token.kind === 'slash');
  const before = section.tokens.slice(0, slash);
  const after = section.tokens.slice(slash + 1);
  const groups = before.map((token) => (token.kind === 'digit' ? 'd' : ' ')).join('');
  const hasWhole = /d [ d]*d *$/.test(groups);
  const fixed = Number(
    after
      .map(({ text }) => text)
      .join('')
      .match(/[1-9]\d*/)?.[0] ?? 0,
  );
  const widest = 10 ** Math.min(4, after.filter((token) => token.kind === 'digit').length) - 1;
  const whole = hasWhole ? Math.floor(size) : 0;
  const part = size - whole;
  const [top, bottom] = fixed > 0 ? [Number(round(part * fixed, 0)[0]), fixed] : nearest(part, Math.max(1, widest));
  if (hasWhole && top === bottom) return String(whole + 1);
  if (top === 0) return String(whole);
  return hasWhole && whole > 0 ? `${whole} ${top}/${bottom}` : `${top}/${bottom}`;
}

/** The nearest fraction with a denominator up to `max`, by continued fractions. */
function nearest(size: number, max: number): [top: number, bottom: number] {
  let [top, bottom, lastTop, lastBottom] = [Math.floor(size), 1, 1, 0];
  let rest = size - Math.floor(size);
  while (rest > 1e-9) {
    const next = Math.floor(1 / rest);
    const maxMultiplier = Math.floor((max - lastBottom) / bottom);
    const step = Math.min(next, maxMultiplier);
    const [newTop, newBottom] = [top * step + lastTop, bottom * step + lastBottom];
    if (step < next) {
      const isNearer = Math.abs(newTop / newBottom - size) < Math.abs(top / bottom - size);
      return step > 0 && isNearer ? [newTop, newBottom] : [top, bottom];
    }
    [top, bottom, lastTop, lastBottom] = [newTop, newBottom, top, bottom];
    rest = 1 / rest - next;
  }
  return [top, bottom];
}
