/** One graph in the runtime: opens its file, and runs it on named arrays. */
import { createReadStream } from 'node:fs';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { openAnyRuntime } from '#onnx-runtime.ts';
import { fromHalf, toHalf } from './half.ts';
import type { GraphOutput } from './pooling.ts';
import type { GraphInput, Input } from './tensors.ts';

export interface Graph {
  readonly inputs: readonly GraphInput[];
  readonly outputs: readonly OutputInfo[];
  /** Whether each input must run in its own batch. */
  readonly alone: boolean;
  /** Runs the graph and returns one of its outputs. */
  run(inputs: ReadonlyMap<string, Input>, output: string): Promise<GraphOutput>;
}

export interface OutputInfo {
  readonly name: string;
  /** Number of dimensions; undefined if it is not a tensor of floating-point numbers. */
  readonly rank: number | undefined;
}

/**
 * Quantized operators that use one scale for the whole batch. With them, the other inputs in a batch would change a
 * vector by a few hundredths.
 */
const SCALED_BY_BATCH = ['DynamicQuantizeLinear', 'DynamicQuantizeMatMul', 'QAttention', 'DynamicQuantizeLSTM'];

export interface GraphOptions {
  /** Number of threads for one run. */
  readonly threads: number;
  readonly batching: 'exact' | 'fast';
}

export async function openGraph(file: string, { threads, batching }: GraphOptions): Promise<Graph> {
  const runtime = await openAnyRuntime();
  const session = await runtime.openGraph(file, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    // Batches have many shapes. Memory cached per shape would rarely be reused and never freed.
    enableMemPattern: false,
    enableCpuMemArena: false,
    // Threads that wait by spinning make short texts faster on an idle machine. Beside other programs, they make batches
    // slower, and take processor time from the others.
    extra: { session: { 'intra_op.allow_spinning': '0' } },
    logSeverityLevel: 4,
  });
  const inputs = session.inputMetadata.map((info): GraphInput => {
    const tensor = info.isTensor ? info : undefined;
    return { name: info.name, type: tensor?.type ?? 'int64', shape: tensor?.shape };
  });
  const types = new Map(inputs.map(({ name, type }) => [name, type]));
  return {
    inputs,
    outputs: session.outputMetadata.map((info) => ({
      name: info.name,
      rank: info.isTensor && /^float(?:16|32)$/.test(info.type) ? info.shape.length : undefined,
    })),
    alone: batching === 'exact' && (await mentions(file, SCALED_BY_BATCH)),
    async run(given, output) {
      const feeds = Object.fromEntries(
        [...given].map(([name, input]) => [name, tensorOf(runtime.Tensor, input, types.get(name))]),
      );
      let found: Tensor | undefined;
      try {
        found = (await session.run(feeds as InferenceSession.FeedsType, [output]))[output]!;
        return floatsOf(found);
      } finally {
        found?.dispose();
        for (const feed of Object.values(feeds)) feed.dispose();
      }
    },
  };
}

/** Converts the numbers to the type of the graph's input. */
function tensorOf(Constructor: typeof Tensor, { data, dims }: Input, type = 'int64'): Tensor {
  if (type === 'int64' && data instanceof BigInt64Array) return new Constructor('int64', data, dims);
  const numbers = data instanceof Float32Array ? data : Float64Array.from(data, Number);
  if (type === 'int64') return new Constructor('int64', BigInt64Array.from(numbers, BigInt), dims);
  if (type === 'int32') return new Constructor('int32', Int32Array.from(numbers), dims);
  if (type === 'bool') return new Constructor('bool', Uint8Array.from(numbers), dims);
  if (type === 'float16') return new Constructor('float16', Uint16Array.from(numbers, toHalf), dims);
  return new Constructor('float32', numbers instanceof Float32Array ? numbers : Float32Array.from(numbers), dims);
}

function floatsOf({ data, dims, type }: Tensor): GraphOutput {
  if (data instanceof Float32Array) return { data, dims };
  // Newer versions of Node have an array type for 16 bits, whose elements are numbers.
  if (type === 'float16')
    return {
      data: data instanceof Uint16Array ? Float32Array.from(data, fromHalf) : Float32Array.from(data as never),
      dims,
    };
  throw new Error(`the graph returned the unsupported type ${type}`);
}

/** Whether the file contains at least one of the words. */
async function mentions(file: string, words: readonly string[]): Promise<boolean> {
  const needles = words.map((word) => Buffer.from(word));
  const overlap = Math.max(...needles.map(({ length }) => length)) - 1;
  let tail = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: 4 * 1024 * 1024 })) {
    const bytes = Buffer.concat([tail, chunk as Buffer]);
    if (needles.some((needle) => bytes.includes(needle))) return true;
    tail = bytes.subarray(Math.max(0, bytes.length - overlap));
  }
  return false;
}
