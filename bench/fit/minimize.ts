/** L-BFGS (J. Nocedal, Updating quasi-Newton matrices with limited storage, 1980), for smooth convex functions. */

/** Returns the value at `x` and writes the gradient. */
export type Objective = (x: Float64Array, gradient: Float64Array) => number;

/** Number of remembered steps. */
const MEMORY = 8;
/** Armijo's condition: the required share of the decrease that the gradient predicts. */
const SUFFICIENT_DECREASE = 1e-4;
const MAX_HALVINGS = 20;

interface Step {
  move: Float64Array;
  change: Float64Array;
  rho: number;
}

/** Minimizes from zero with at most `iterations` steps. */
export function minimize(objective: Objective, size: number, iterations: number): Float64Array {
  let x = new Float64Array(size);
  let gradient = new Float64Array(size);
  let value = objective(x, gradient);
  const steps: Step[] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    const direction = directionOf(gradient, steps);
    const slope = dot(direction, gradient);
    if (slope > -1e-10) break;
    let length = iteration === 0 ? 1 / Math.max(1, Math.sqrt(dot(gradient, gradient))) : 1;
    const next = new Float64Array(size);
    const nextGradient = new Float64Array(size);
    let nextValue = Number.POSITIVE_INFINITY;
    for (let halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
      for (let at = 0; at < size; at++) next[at] = x[at]! + length * direction[at]!;
      nextValue = objective(next, nextGradient);
      if (nextValue <= value + SUFFICIENT_DECREASE * length * slope) break;
    }
    if (nextValue >= value) break;
    const move = next.map((one, at) => one - x[at]!);
    const change = nextGradient.map((one, at) => one - gradient[at]!);
    const curvature = dot(move, change);
    if (curvature > 1e-12) {
      steps.push({ move, change, rho: 1 / curvature });
      if (steps.length > MEMORY) steps.shift();
    }
    [x, gradient, value] = [next, nextGradient, nextValue];
  }
  return x;
}

/** The two-loop recursion: minus the approximate inverse Hessian times the gradient. */
function directionOf(gradient: Float64Array, steps: readonly Step[]): Float64Array {
  const direction = gradient.map((one) => -one);
  const shares: number[] = [];
  for (const { move, change, rho } of steps.toReversed()) {
    const share = rho * dot(move, direction);
    shares.push(share);
    addScaled(direction, change, -share);
  }
  const last = steps.at(-1);
  if (last) {
    const scale = dot(last.move, last.change) / dot(last.change, last.change);
    for (let at = 0; at < direction.length; at++) direction[at]! *= scale;
  }
  for (const { move, change, rho } of steps) {
    addScaled(direction, move, shares.pop()! - rho * dot(change, direction));
  }
  return direction;
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!;
  return sum;
}

function addScaled(target: Float64Array, other: Float64Array, scale: number): void {
  for (let at = 0; at < target.length; at++) target[at]! += scale * other[at]!;
}
