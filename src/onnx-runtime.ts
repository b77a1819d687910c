/** Loads the optional package onnxruntime-node. No other file imports it; only the inference thread uses this one. */

import type * as Runtime from 'onnxruntime-node';
import { TELEMETRY_OFF } from '#concurrency/environment.ts';

/** Error message of a process without the package. The server recognizes it and tells the user what to install. */
export const RUNTIME_MISSING = 'onnxruntime-node is not installed';

export async function openRuntime(): Promise<typeof Runtime> {
  // The library reads this variable of the process when it is loaded. A thread could only set it in a copy.
  if (process.env.ORT_DISABLE_TELEMETRY !== TELEMETRY_OFF.ORT_DISABLE_TELEMETRY)
    throw new Error(
      'onnxruntime is not loaded while its telemetry is on: start the process with ORT_DISABLE_TELEMETRY=1',
    );
  try {
    return await import('onnxruntime-node');
  } catch (error) {
    throw new Error(RUNTIME_MISSING, { cause: error });
  }
}
