/** Starts the threads that render pages. */
import type { Config } from '#config.ts';
import { createRenderer, type Renderer } from '#reader/index.ts';

/** The first thread starts at once, beside whatever this thread does next. */
export const startRenderer = ({ workers, workerMemoryMb, renderTimeoutMs }: Config): Renderer =>
  createRenderer({ threads: workers, memoryMb: workerMemoryMb, timeoutMs: renderTimeoutMs });
