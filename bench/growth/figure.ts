/** Draws time and memory against size as an SVG with logarithmic axes. */
import type { Point } from './fit.ts';

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly memory: string;
  readonly points: readonly Point[];
  readonly verdict: string;
}

const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = { left: 64, right: 64, top: 40, bottom: 44 };

export function growthFigure({ name, unit, memory, points, verdict }: Figure): string {
  const x = scale(
    points.map(({ size }) => size),
    MARGIN.left,
    WIDTH - MARGIN.right,
  );
  const time = scale(
    points.map(({ ms }) => ms),
    HEIGHT - MARGIN.bottom,
    MARGIN.top,
  );
  const space = scale(
    points.map(({ memoryMb }) => memoryMb),
    HEIGHT - MARGIN.bottom,
    MARGIN.top,
  );
  const line = (values: readonly (readonly [number, number])[], color: string, dashes = '') =>
    `<polyline fill="none" stroke="${color}" stroke-width="2"${dashes} points="${values.map((pair) => pair.map(shown).join(',')).join(' ')}"/>` +
    values.map(([cx, cy]) => `<circle cx="${shown(cx)}" cy="${shown(cy)}" r="3" fill="${color}"/>`).join('');
  const grid = [
    ...x.ticks.map(
      ({ at, value }) =>
        `<line x1="${shown(at)}" x2="${shown(at)}" y1="${MARGIN.top}" y2="${HEIGHT - MARGIN.bottom}" stroke="#ddd"/>${label(at, HEIGHT - MARGIN.bottom + 16, count(value), 'middle')}`,
    ),
    ...time.ticks.map(
      ({ at, value }) =>
        `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${shown(at)}" y2="${shown(at)}" stroke="#ddd"/>${label(MARGIN.left - 6, at + 4, count(value), 'end', TIME)}`,
    ),
    ...space.ticks.map(({ at, value }) => label(WIDTH - MARGIN.right + 6, at + 4, count(value), 'start', SPACE)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<title>${name}: time and memory by ${unit}; ${verdict}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${label(MARGIN.left, 20, `${name}: ${verdict}`, 'start', '#000')}
${grid.join('\n')}
${line(
  points.map((point) => [x.at(point.size), time.at(point.ms)]),
  TIME,
)}
${line(
  points.map((point) => [x.at(point.size), space.at(point.memoryMb)]),
  SPACE,
  ' stroke-dasharray="5 4"',
)}
${label(MARGIN.left, MARGIN.top - 6, 'ms', 'end', TIME)}
${label(WIDTH - MARGIN.right, MARGIN.top - 6, memory, 'middle', SPACE)}
${label(WIDTH / 2, HEIGHT - 8, unit, 'middle', '#000')}
</svg>
`;
}

const TIME = '#1f5fbf';
const SPACE = '#b3541e';

const shown = (value: number): string => value.toFixed(1);
const count = (value: number): string => value.toLocaleString('en-US');
const label = (x: number, y: number, text: string, anchor: string, color = '#444'): string =>
  `<text x="${shown(x)}" y="${shown(y)}" text-anchor="${anchor}" fill="${color}">${text}</text>`;

/** A logarithmic axis that ends at powers of ten. */
function scale(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const at = (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  const ticks = Array.from({ length: high - low + 1 }, (_, power) => 10 ** (low + power));
  return { at, ticks: ticks.map((value) => ({ value, at: at(value) })) };
}
