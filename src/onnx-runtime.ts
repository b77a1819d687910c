/**
 * Loads the optional package onnxruntime-node. No other file imports that package, and only the inference thread
 * imports this file.
 */

import type * as Runtime from 'onnxruntime-node';
import { TELEMETRY_OFF } from '#concurrency/environment.ts';

/**
 * The error message of a process in which the package is missing. The server recognizes it and tells the user what to
 * install.
 */
export const RUNTIME_MISSING = 'onnxruntime-node is not installed';

export async function openRuntime(): Promise<typeof Runtime> {
  // The library reads this variable from the environment of the process when it is loaded. A thread could set it only
  // in its own copy.
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
