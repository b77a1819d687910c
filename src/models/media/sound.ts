/**
 * Audio features of CLAP models: log-mel spectrograms. They match the feature extractor of Hugging Face's transformers
 * for models without fusion (Slaney's mel scale and norm, power in decibels).
 */

export interface SoundRule {
  /** Sample rate that the model expects. */
  readonly samplesPerSecond: number;
  /** Length of the model's input; shorter audio is repeated, then padded with silence. */
  readonly seconds: number;
  readonly window: number;
  readonly hop: number;
  readonly bands: number;
  readonly lowestHz: number;
  readonly highestHz: number;
}

export const CLAP_RULE: SoundRule = {
  samplesPerSecond: 48_000,
  seconds: 10,
  window: 1_024,
  hop: 480,
  bands: 64,
  lowestHz: 50,
  highestHz: 14_000,
};

export const framesOf = ({ samplesPerSecond, seconds, hop }: SoundRule): number =>
  1 + Math.floor((samplesPerSecond * seconds) / hop);

const LEAST_POWER = 1e-10;

/** Returns frames x bands, row by row. `samples` has at least one sample and at most the model's input length. */
export function logMel(samples: Float32Array, rule: SoundRule): Float32Array {
  const { window, hop, bands, samplesPerSecond, seconds } = rule;
  const whole = repeated(samples, samplesPerSecond * seconds);
  const frames = framesOf(rule);
  const bins = window / 2 + 1;
  const hann = Float64Array.from({ length: window }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / window));
  const filters = melFilters(rule);
  const transform = createTransform(window);
  const real = new Float64Array(window);
  const imaginary = new Float64Array(window);
  const power = new Float64Array(bins);
  const features = new Float32Array(frames * bands);
  for (let frame = 0; frame < frames; frame++) {
    const start = frame * hop - window / 2;
    for (let at = 0; at < window; at++) real[at] = hann[at]! * whole[mirrored(start + at, whole.length)]!;
    imaginary.fill(0);
    transform(real, imaginary);
    for (let bin = 0; bin < bins; bin++) power[bin] = real[bin]! ** 2 + imaginary[bin]! ** 2;
    for (const [band, { first, weights }] of filters.entries()) {
      let sum = 0;
      for (let at = 0; at < weights.length; at++) sum += weights[at]! * power[first + at]!;
      features[frame * bands + band] = 10 * Math.log10(Math.max(LEAST_POWER, sum));
    }
  }
  return features;
}

function repeated(samples: Float32Array, length: number): Float32Array {
  const whole = new Float32Array(length);
  const times = Math.floor(length / samples.length);
  for (let time = 0; time < times; time++) whole.set(samples, time * samples.length);
  if (times === 0) whole.set(samples.subarray(0, length));
  return whole;
}

/** Mirrors positions beyond either end at the first or last sample. */
function mirrored(at: number, length: number): number {
  if (at < 0) return -at;
  return at < length ? at : 2 * (length - 1) - at;
}

interface Filter {
  readonly first: number;
  readonly weights: Float64Array;
}

/** Slaney's mel scale: linear below 1,000 Hz, logarithmic above. */
const BREAK_HZ = 1_000;
const BREAK_MEL = 15;
const LOG_STEP = Math.log(6.4) / 27;
const melOf = (hz: number) => (hz < BREAK_HZ ? (hz * 3) / 200 : BREAK_MEL + Math.log(hz / BREAK_HZ) / LOG_STEP);
const hzOf = (mel: number) => (mel < BREAK_MEL ? (mel * 200) / 3 : BREAK_HZ * Math.exp(LOG_STEP * (mel - BREAK_MEL)));

/** Triangular filters of equal area between neighboring points of the scale. */
function melFilters({ window, bands, samplesPerSecond, lowestHz, highestHz }: SoundRule): Filter[] {
  const bins = window / 2 + 1;
  const [low, high] = [melOf(lowestHz), melOf(highestHz)];
  const points = Array.from({ length: bands + 2 }, (_, at) => hzOf(low + ((high - low) * at) / (bands + 1)));
  return Array.from({ length: bands }, (_, band) => {
    const [from, peak, to] = [points[band]!, points[band + 1]!, points[band + 2]!];
    const weights = Float64Array.from({ length: bins }, (_, bin) => {
      const hz = (bin * samplesPerSecond) / 2 / (bins - 1);
      const rise = (hz - from) / (peak - from);
      const fall = (to - hz) / (to - peak);
      return (Math.max(0, Math.min(rise, fall)) * 2) / (to - from);
    });
    const first = weights.findIndex((weight) => weight > 0);
    const last = weights.findLastIndex((weight) => weight > 0);
    return { first: Math.max(0, first), weights: weights.slice(Math.max(0, first), last + 1) };
  });
}

/** In-place Cooley-Tukey FFT; `size` is a power of two. */
function createTransform(size: number): (real: Float64Array, imaginary: Float64Array) => void {
  const cosines = Float64Array.from({ length: size / 2 }, (_, at) => Math.cos((2 * Math.PI * at) / size));
  const sines = Float64Array.from({ length: size / 2 }, (_, at) => -Math.sin((2 * Math.PI * at) / size));
  const places = reversedBits(size);
  return (real, imaginary) => {
    for (let at = 0; at < size; at++) {
      const other = places[at]!;
      if (other <= at) continue;
      [real[at], real[other]] = [real[other]!, real[at]!];
      [imaginary[at], imaginary[other]] = [imaginary[other]!, imaginary[at]!];
    }
    for (let half = 1; half < size; half *= 2) {
      const step = size / (half * 2);
      for (let from = 0; from < size; from += half * 2) {
        for (let at = 0; at < half; at++) {
          const [cosine, sine] = [cosines[at * step]!, sines[at * step]!];
          const [upper, lower] = [from + at, from + at + half];
          const turnedReal = real[lower]! * cosine - imaginary[lower]! * sine;
          const turnedImaginary = real[lower]! * sine + imaginary[lower]! * cosine;
          real[lower] = real[upper]! - turnedReal;
          imaginary[lower] = imaginary[upper]! - turnedImaginary;
          real[upper] = real[upper]! + turnedReal;
          imaginary[upper] = imaginary[upper]! + turnedImaginary;
        }
      }
    }
  };
}

function reversedBits(size: number): Uint32Array {
  const places = new Uint32Array(size);
  const bits = Math.log2(size);
  for (let at = 0; at < size; at++) {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit++) if (at & (1 << bit)) reversed |= 1 << (bits - 1 - bit);
    places[at] = reversed;
  }
  return places;
}
