/**
 * The inference thread of a model's process: opens the graph and runs batches, one after the other. The runtime holds up
 * its thread for as long as a run takes, so nothing else happens here.
 */
import { createReadStream } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import {
  type LoadedModel,
  type ModelSpec,
  type RawOutput,
  type Reply,
  RUN_TOKENS,
  type RunAsk,
  type RunKind,
  type Sequence,
} from './messages.ts';
import { type GraphOutput, outputsOf } from './pooling.ts';
import { openRuntime } from './runtime.ts';
import { type GraphInput, inputsOf } from './tensors.ts';

export interface OpenAsk {
  readonly do: 'open';
  readonly spec: ModelSpec;
  readonly padId: number;
}

interface Model {
  readonly spec: ModelSpec;
  readonly session: InferenceSession;
  readonly tensor: (data: BigInt64Array, dims: readonly number[]) => Tensor;
  readonly inputs: readonly GraphInput[];
  readonly padId: number;
  /** Each sequence is run by itself. */
  readonly alone: boolean;
}

/** Names of outputs in the exports of the hub, the best first. */
const STATES = ['last_hidden_state', 'token_embeddings', 'hidden_states'];
const POOLED = ['sentence_embedding', 'embeddings', 'dense_vecs'];
const LOGITS = ['logits', 'scores', 'score'];

/** Products that take one scale for all of a batch: a neighbour would change the vector of a text by its hundredths. */
const SCALED_BY_BATCH = ['DynamicQuantizeLinear', 'DynamicQuantizeMatMul', 'QAttention', 'DynamicQuantizeLSTM'];

if (!parentPort) throw new Error('This is started by the process of a model alone');
const port = parentPort;
let model: Model | undefined;

port.on('message', ({ id, ask }: { id: number; ask: OpenAsk | RunAsk }) => {
  const work: Promise<unknown> = ask.do === 'open' ? open(ask) : run(model, ask);
  work.then(
    (result) => port.postMessage({ id, result } satisfies Reply),
    (error: unknown) => port.postMessage({ id, failure: (error as Error).message } satisfies Reply),
  );
});

async function open({ spec, padId }: OpenAsk): Promise<LoadedModel> {
  const { InferenceSession, Tensor } = await openRuntime();
  const session = await InferenceSession.create(spec.graph, {
    executionProviders: ['cpu'],
    intraOpNumThreads: spec.threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    // Batches have all shapes: what is kept for one shape is seldom used again, and never given back.
    enableMemPattern: false,
    enableCpuMemArena: false,
    // Threads that wait by spinning take the processor from everybody else on a busy machine.
    extra: { session: { 'intra_op.allow_spinning': '0' } },
    logSeverityLevel: 4,
  });
  const inputs = session.inputMetadata.map(({ name, ...rest }) => ({
    name,
    rank: 'shape' in rest ? rest.shape.length : undefined,
  }));
  const tensor = (data: BigInt64Array, dims: readonly number[]) => new Tensor('int64', data, dims);
  model = { spec, session, tensor, inputs, padId, alone: await mentions(spec.graph, SCALED_BY_BATCH) };
  // What the graph cannot do shows now, not at the first request.
  const [output] = await run(model, { do: 'run', batch: [{ ids: Int32Array.of(padId) }], output: spec.output });
  const dimensions = output!.values.length;
  if (dimensions !== (spec.dimensions ?? dimensions))
    throw new Error(`the graph gives vectors of ${dimensions} numbers, its row says ${spec.dimensions}`);
  return { dimensions };
}

async function run(opened: Model | undefined, { batch, output }: RunAsk): Promise<RawOutput[]> {
  if (!opened) throw new Error('no model is open');
  const outputs: RawOutput[] = new Array(batch.length);
  for (const group of groupsOf(batch, opened.alone)) {
    const found = await runGroup(
      opened,
      group.map((at) => batch[at]!),
      output,
    );
    for (const [at, position] of group.entries()) outputs[position] = found[at]!;
  }
  return outputs;
}

/** Positions of what is run together: of one task, alike in length, and not more than a run should have. */
function groupsOf(batch: readonly Sequence[], alone: boolean): number[][] {
  if (alone) return batch.map((_, at) => [at]);
  const length = (at: number) => batch[at]!.ids.length;
  const groups: number[][] = [];
  for (const [, positions] of byTask(batch)) {
    let group: number[] | undefined;
    for (const at of positions.sort((one, other) => length(other) - length(one))) {
      // The first of a group is its longest.
      if (!group || length(group[0]!) * (group.length + 1) > RUN_TOKENS) {
        group = [];
        groups.push(group);
      }
      group.push(at);
    }
  }
  return groups;
}

function byTask(batch: readonly Sequence[]): Map<number | undefined, number[]> {
  const tasks = new Map<number | undefined, number[]>();
  for (const [at, { task }] of batch.entries()) {
    const positions = tasks.get(task);
    if (positions) positions.push(at);
    else tasks.set(task, [at]);
  }
  return tasks;
}

async function runGroup(
  { spec, session, tensor, inputs, padId }: Model,
  batch: readonly Sequence[],
  kind: RunKind,
): Promise<RawOutput[]> {
  const given = Object.entries(inputsOf(inputs, batch, padId)).map(
    ([name, { data, dims }]) => [name, tensor(data, dims)] as const,
  );
  const wanted = outputName(session, spec, kind, batch[0]!.spans !== undefined);
  const answer = await session.run(Object.fromEntries(given), [wanted]);
  const found = answer[wanted]!;
  try {
    return outputsOf(floatsOf(found), batch, kind, spec);
  } finally {
    found.dispose();
    for (const [, one] of given) one.dispose();
  }
}

function floatsOf({ data, dims, type }: Tensor): GraphOutput {
  if (!(data instanceof Float32Array)) throw new Error(`the graph answers with ${type}`);
  return { data, dims };
}

/** The output that has what is asked for. */
function outputName(session: InferenceSession, spec: ModelSpec, kind: RunKind, isSpans: boolean): string {
  const names = session.outputNames;
  const ranked = (rank: number) =>
    session.outputMetadata.flatMap((output) =>
      output.isTensor && output.shape.length === rank && output.type === 'float32' ? [output.name] : [],
    );
  const isPooled = kind === 'pooled' && spec.pooling === 'none' && !isSpans;
  const known = kind === 'score' || kind === 'sparse' ? LOGITS : isPooled ? POOLED : STATES;
  const named = known.find((name) => names.includes(name));
  const found = named ?? ranked(kind === 'score' || isPooled ? 2 : 3)[0] ?? names[0];
  if (found === undefined) throw new Error('the graph has no output');
  return found;
}

/** Whether one of the words stands in the file. */
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
