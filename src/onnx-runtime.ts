/** The one file that loads onnxruntime-node, which is an optional package. It is imported by the inference thread alone. */

import type * as Runtime from 'onnxruntime-node';
import { TELEMETRY_OFF } from '#concurrency/environment.ts';

/** What a process answers with when the package is not there; the server makes a message of it. */
export const RUNTIME_MISSING = 'onnxruntime-node is not installed';

export async function openRuntime(): Promise<typeof Runtime> {
  // The library reads it from the process when it is loaded: setting it in a thread would change a copy.
  if (process.env.ORT_DISABLE_TELEMETRY !== TELEMETRY_OFF.ORT_DISABLE_TELEMETRY)
    throw new Error('onnxruntime is not loaded where its telemetry is on: the process needs ORT_DISABLE_TELEMETRY=1');
  try {
    return await import('onnxruntime-node');
  } catch (error) {
    throw new Error(RUNTIME_MISSING, { cause: error });
  }
}
