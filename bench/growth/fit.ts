/** How a cost grows with the size of the work. */

export interface Point {
  readonly size: number;
  readonly ms: number;
  /** Processor time of all threads and processes; `NaN` if it was not measured. */
  readonly processorMs: number;
  readonly memoryMb: number;
}

export interface Fit {
  /** Slope of the line through the logarithms: 1 is proportional, 2 quadratic. */
  readonly exponent: number;
  readonly shape: string;
}

/** Below this share of the largest size, the fixed cost of a request hides the rest. */
const FITTED_SHARE = 0.01;
/** A point that is farther from the line than this factor makes it bent. */
const STRAIGHT_FACTOR = 1.25;

/** Processor time depends less on other load; where it was not measured, elapsed time counts. */
const costOf = ({ ms, processorMs }: Point): number => (Number.isNaN(processorMs) ? ms : Math.max(processorMs, 0.1));

export function fitOf(points: readonly Point[]): Fit {
  const largest = Math.max(...points.map(({ size }) => size));
  const fitted = points
    .filter(({ size }) => size >= largest * FITTED_SHARE)
    .map((point) => ({ size: point.size, x: Math.log(point.size), y: Math.log(costOf(point)) }));
  const [meanX, meanY] = [mean(fitted.map(({ x }) => x)), mean(fitted.map(({ y }) => y))];
  const above = fitted.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const exponent = fitted.length < 2 ? 0 : above / fitted.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const offsets = fitted.map(({ size, x, y }) => ({ size, away: Math.abs(y - meanY - exponent * (x - meanX)) }));
  const worst = offsets.reduce((one, other) => (other.away > one.away ? other : one));
  if (worst.away <= Math.log(STRAIGHT_FACTOR)) return { exponent, shape: 'straight' };
  return { exponent, shape: `bent, most at ${worst.size.toLocaleString('en-US')}` };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
