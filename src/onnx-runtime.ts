/**
 * Loads a runtime for ONNX graphs: the package onnxruntime-node if it is installed, which runs machine code, otherwise
 * the WebAssembly build that comes with Lectern. No other file imports either of them, and only processes for inference
 * import this file.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as Runtime from 'onnxruntime-node';
import { TELEMETRY_OFF } from '#concurrency/environment.ts';
import { readPackagedBinary } from '#packaged-binary.ts';

/** The error message if the package is not installed. */
const RUNTIME_MISSING = 'onnxruntime-node is not installed';

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

type SessionOptions = Runtime.InferenceSession.SessionOptions;

/** What both runtimes share. */
export interface SharedRuntime {
  readonly Tensor: typeof Runtime.Tensor;
  /** Opens a graph, together with the files of weights beside it. */
  openGraph(file: string, options: SessionOptions): Promise<Runtime.InferenceSession>;
}

/** Like `openRuntime`, but loads the WebAssembly build if the package is not installed. */
export async function openAnyRuntime(): Promise<SharedRuntime> {
  try {
    const { Tensor, InferenceSession } = await openRuntime();
    return { Tensor, openGraph: (file, options) => InferenceSession.create(file, options) };
  } catch (error) {
    if ((error as Error).message !== RUNTIME_MISSING) throw error;
    return openWebAssembly();
  }
}

interface WebAssemblyRuntime extends Pick<typeof Runtime, 'InferenceSession' | 'Tensor'> {
  readonly env: { readonly wasm: { numThreads: number; wasmBinary: Uint8Array } };
}

export async function openWebAssembly(): Promise<SharedRuntime> {
  const folder = webAssemblyFolder();
  const program = pathToFileURL(path.join(folder, 'ort.wasm.bundle.min.mjs')).href;
  const runtime = (await import(program)) as WebAssemblyRuntime;
  runtime.env.wasm.numThreads = 1;
  runtime.env.wasm.wasmBinary = await readPackagedBinary(path.join(folder, 'ort-wasm-simd-threaded.wasm'));
  const { Tensor, InferenceSession } = runtime;
  return {
    Tensor,
    // It cannot open files itself.
    openGraph: async (file, options) =>
      InferenceSession.create(await readFile(file), { ...options, externalData: await weightsBeside(file) }),
  };
}

/** Weights that are not in the graph itself: in the hub's exports, `model.onnx_data` belongs to `model.onnx`. */
async function weightsBeside(graph: string): Promise<{ path: string; data: Uint8Array }[]> {
  const folder = path.dirname(graph);
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${path.basename(graph)}_data`));
  return Promise.all(names.map(async (name) => ({ path: name, data: await readFile(path.join(folder, name)) })));
}

/** In the built package the files are in `dist/onnx/`; in the sources, in the package onnxruntime-web. */
function webAssemblyFolder(): string {
  const built = fileURLToPath(new URL('./onnx', import.meta.url));
  return existsSync(built) ? built : path.dirname(createRequire(import.meta.url).resolve('onnxruntime-web'));
}
