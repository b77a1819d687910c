/** The one file that loads onnxruntime-node, which is an optional package. It is imported by the inference thread alone. */
import type * as Runtime from 'onnxruntime-node';

/** What a process answers with when the package is not there; the server makes a message of it. */
export const RUNTIME_MISSING = 'onnxruntime-node is not installed';

export async function openRuntime(): Promise<typeof Runtime> {
  try {
    return await import('onnxruntime-node');
  } catch (error) {
    throw new Error(RUNTIME_MISSING, { cause: error });
  }
}
