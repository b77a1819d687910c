/**
 * Compares log-mel features with their definition: a direct Fourier transform and dense filter matrices, in float64.
 */
import { describe, expect, it } from 'vitest';
import { CLAP_RULE, framesOf, logMel } from './sound.ts';

const { samplesPerSecond: RATE, window: SIZE, hop: HOP, bands: BANDS } = CLAP_RULE;
const WHOLE = RATE * CLAP_RULE.seconds;

const melOf = (hz: number) => (hz >= 1_000 ? 15 + (27 / Math.log(6.4)) * Math.log(hz / 1_000) : (3 * hz) / 200);
const hzOf = (mel: number) => (mel >= 15 ? 1_000 * Math.exp((Math.log(6.4) / 27) * (mel - 15)) : (200 * mel) / 3);

function frameOf(whole: ArrayLike<number>, frame: number): number[] {
  const samples = Array.from({ length: SIZE }, (_, at) => {
    let place = frame * HOP + at - SIZE / 2;
    if (place < 0) place = -place;
    if (place >= WHOLE) place = 2 * WHOLE - 2 - place;
    return whole[place]! * Math.sin((Math.PI * at) / SIZE) ** 2;
  });
  const power = Array.from({ length: SIZE / 2 + 1 }, (_, bin) => {
    let [real, imaginary] = [0, 0];
    for (let at = 0; at < SIZE; at++) {
      const angle = (-2 * Math.PI * ((bin * at) % SIZE)) / SIZE;
      real += samples[at]! * Math.cos(angle);
      imaginary += samples[at]! * Math.sin(angle);
    }
    return real * real + imaginary * imaginary;
  });
  const [low, high] = [melOf(50), melOf(14_000)];
  const points = Array.from({ length: BANDS + 2 }, (_, at) => hzOf(low + (at * (high - low)) / (BANDS + 1)));
  return Array.from({ length: BANDS }, (_, band) => {
    const [a, b, c] = [points[band]!, points[band + 1]!, points[band + 2]!];
    const sum = power.reduce((all, value, bin) => {
      const hz = (bin * RATE) / SIZE;
      const height = hz <= a || hz >= c ? 0 : hz <= b ? (hz - a) / (b - a) : (c - hz) / (c - b);
      return all + value * height * (2 / (c - a));
    }, 0);
    return 10 * Math.log10(Math.max(1e-10, sum));
  });
}

const noise = (length: number) => {
  let state = 1;
  return Float32Array.from({ length }, (_, at) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0.3 * Math.sin((2 * Math.PI * 440 * at) / RATE) + 0.1 * (state / 2 ** 32 - 0.5);
  });
};

function expectFrames(features: Float32Array, whole: ArrayLike<number>, frames: readonly number[]) {
  for (const frame of frames) {
    const expected = frameOf(whole, frame);
    for (let band = 0; band < BANDS; band++)
      expect(features[frame * BANDS + band], `frame ${frame}, band ${band}`).toBeCloseTo(expected[band]!, 3);
  }
}

describe('log-mel features', { timeout: 60_000 }, () => {
  it('of ten seconds equal the definition', () => {
    const samples = noise(WHOLE);
    const features = logMel(samples, CLAP_RULE);
    expect(framesOf(CLAP_RULE)).toBe(1_001);
    expect(features).toHaveLength(1_001 * 64);
    expectFrames(features, samples, [0, 1, 500, 999, 1_000]);
  });

  it('of a short sound repeat it, and pad with silence', () => {
    const samples = noise(RATE * 3 + 7);
    const whole = new Float64Array(WHOLE);
    for (let at = 0; at < samples.length * 3; at++) whole[at] = samples[at % samples.length]!;
    const features = logMel(samples, CLAP_RULE);
    expectFrames(features, whole, [0, 301, 899]);
    expect([...features.subarray(1_000 * BANDS)]).toEqual(new Array(BANDS).fill(-100));
  });

  it('of a single sample are finite', () => {
    expect(logMel(Float32Array.of(0.5), CLAP_RULE).every(Number.isFinite)).toBe(true);
  });
});
