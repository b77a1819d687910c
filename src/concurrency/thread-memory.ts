import v8 from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/**
 * The limit of a thread's heap, for the option `resourceLimits` of a worker.
 *
 * A process that was started with `--max-old-space-size` or `--max-heap-size` (often by NODE_OPTIONS) would give every
 * thread that size instead: V8 lets the flags win over the limits of a single heap. They have had their effect on the
 * heap of the main thread, which keeps its size, so they are set back to 0 (no limit by flag) before a thread starts.
 */
export function threadMemory(memoryMb: number): ResourceLimits {
  v8.setFlagsFromString('--max-old-space-size=0');
  v8.setFlagsFromString('--max-heap-size=0');
  return { maxOldGenerationSizeMb: memoryMb };
}
