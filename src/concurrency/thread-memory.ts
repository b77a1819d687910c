import v8 from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/**
 * Size of a thread's young generation in MB, of which V8 uses two thirds. With Node's default of 48, each busy thread
 * keeps 32 MB of it for good, and reads no more pages in a second than with 12.
 */
const YOUNG_GENERATION_MB = 12;

/**
 * The limits of a thread's heap, for the option `resourceLimits` of a worker.
 *
 * A process that was started with `--max-old-space-size`, `--max-heap-size` or `--max-semi-space-size` (often by
 * NODE_OPTIONS) would give every thread that size instead: V8 lets the flags win over the limits of a single heap. They
 * have had their effect on the heap of the main thread, which keeps its size, so they are set back to 0 (no limit by
 * flag) before a thread starts.
 */
export function threadMemory(memoryMb: number): ResourceLimits {
  for (const flag of ['max-old-space-size', 'max-heap-size', 'max-semi-space-size'])
    v8.setFlagsFromString(`--${flag}=0`);
  return { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
}
