/**
 * Inference thread of a model process: opens the graph and runs batches one after another. The runtime blocks the
 * thread during a run, so this thread does nothing else.
 */
import { createReadStream } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { openAnyRuntime } from '#onnx-runtime.ts';
import { framesOf } from '../media/sound.ts';
import {
  AUDIO_INPUTS,
  AUDIO_VECTORS,
  type FloatInput,
  IMAGE_INPUTS,
  IMAGE_VECTORS,
  pictureInput,
  soundInput,
  vectorsOf,
} from './media.ts';
import {
  type ImageRequest,
  type LoadedModel,
  type ModelSpec,
  type RawOutput,
  type Reply,
  RUN_TOKENS,
  type RunKind,
  type RunRequest,
  type Sequence,
  type SoundRequest,
} from './messages.ts';
import { type GraphOutput, outputsOf } from './pooling.ts';
import { type GraphInput, inputsOf } from './tensors.ts';

export interface OpenRequest {
  readonly do: 'open';
  readonly spec: ModelSpec;
  readonly padId: number;
}

interface Graph {
  readonly session: InferenceSession;
  readonly inputs: readonly GraphInput[];
  /** Whether each input must run in its own batch. */
  readonly alone: boolean;
}

interface Model extends Graph {
  readonly spec: ModelSpec;
  readonly tensor: (data: BigInt64Array | Float32Array, dims: readonly number[]) => Tensor;
  readonly padId: number;
  readonly image: Graph | undefined;
  readonly audio: Graph | undefined;
}

/** Output names in the hub's exports, in order of preference. */
const STATES = ['last_hidden_state', 'token_embeddings', 'hidden_states'];
const POOLED = ['sentence_embedding', 'text_embeds', 'text_embeddings', 'embeddings', 'dense_vecs', 'pooler_output'];
const LOGITS = ['logits', 'scores', 'score'];

/**
 * Quantized operators that use one scale for the whole batch. With them, the other inputs in a batch would change a
 * vector by a few hundredths.
 */
const SCALED_BY_BATCH = ['DynamicQuantizeLinear', 'DynamicQuantizeMatMul', 'QAttention', 'DynamicQuantizeLSTM'];

if (!parentPort) throw new Error('This thread must be started by a model process');
const port = parentPort;
let model: Model | undefined;

port.on(
  'message',
  ({ id, request }: { id: number; request: OpenRequest | RunRequest | ImageRequest | SoundRequest }) => {
    const work: Promise<unknown> = request.do === 'open' ? open(request) : answer(request);
    work.then(
      (result) => port.postMessage({ id, result } satisfies Reply),
      (error: unknown) => port.postMessage({ id, failure: (error as Error).message } satisfies Reply),
    );
  },
);

async function answer(request: RunRequest | ImageRequest | SoundRequest): Promise<RawOutput[]> {
  if (!model) throw new Error('no model is open');
  if (request.do === 'run') return run(model, request);
  return request.do === 'images' ? runImages(model, request.pictures) : runSounds(model, request.sounds);
}

async function openGraph(file: string, threads: number): Promise<Graph> {
  const { openGraph: open } = await openAnyRuntime();
  const session = await open(file, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    // Batches have many shapes. Memory cached per shape would rarely be reused and never freed.
    enableMemPattern: false,
    enableCpuMemArena: false,
    // Threads that wait by spinning would take CPU time from other processes.
    extra: { session: { 'intra_op.allow_spinning': '0' } },
    logSeverityLevel: 4,
  });
  const inputs = session.inputMetadata.map(({ name, ...rest }) => ({
    name,
    rank: 'shape' in rest ? rest.shape.length : undefined,
  }));
  return { session, inputs, alone: await mentions(file, SCALED_BY_BATCH) };
}

async function open({ spec, padId }: OpenRequest): Promise<LoadedModel> {
  const { Tensor } = await openAnyRuntime();
  const tensor = (data: BigInt64Array | Float32Array, dims: readonly number[]) =>
    data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('int64', data, dims);
  const text = await openGraph(spec.graph, spec.threads);
  const tower = async (graph: string | undefined) =>
    graph === undefined || graph === spec.graph ? graph && text : openGraph(graph, spec.threads);
  const image = (await tower(spec.image?.graph)) || undefined;
  const audio = (await tower(spec.audio?.graph)) || undefined;
  model = { ...text, spec, tensor, padId, image, audio };
  // A test run, so that an unsuitable graph fails now instead of at the first request.
  const [output] = await run(model, { do: 'run', batch: [{ ids: Int32Array.of(padId) }], output: spec.output });
  const dimensions = output!.values.length;
  if (dimensions !== (spec.dimensions ?? dimensions))
    throw new Error(`the graph returns vectors of ${dimensions} numbers instead of ${spec.dimensions}`);
  for (const [other] of await blanks(model)) {
    const size = other!.values.length;
    if (size !== dimensions)
      throw new Error(`a media graph returns vectors of ${size} numbers, but the text graph ${dimensions}`);
  }
  return { dimensions };
}

/** Test inputs for the media graphs: a white image and silence. */
async function blanks(opened: Model): Promise<RawOutput[][]> {
  const { image, audio } = opened.spec;
  const found: RawOutput[][] = [];
  if (image) found.push(await runImages(opened, [new Uint8Array(3 * image.rule.width * image.rule.height).fill(255)]));
  if (audio)
    found.push(await runSounds(opened, [new Float32Array(framesOf(audio.rule) * audio.rule.bands).fill(-100)]));
  return found;
}

/** Splits items of equal size into runs of at most RUN_TOKENS tokens. */
function* runsOf<Item>(items: readonly Item[], tokens: number, alone: boolean): Generator<readonly Item[]> {
  const most = alone ? 1 : Math.max(1, Math.floor(RUN_TOKENS / tokens));
  for (let at = 0; at < items.length; at += most) yield items.slice(at, at + most);
}

async function runImages(opened: Model, pictures: readonly Uint8Array[]): Promise<RawOutput[]> {
  const { image, spec } = opened;
  if (!image || !spec.image) throw new Error('the model does not support images');
  const outputs: RawOutput[] = [];
  for (const some of runsOf(pictures, spec.image.tokens, image.alone)) {
    const input = pictureInput(some, spec.image);
    outputs.push(...(await runTower(opened, image, { input, names: IMAGE_INPUTS, vectors: IMAGE_VECTORS })));
  }
  return outputs;
}

async function runSounds(opened: Model, sounds: readonly Float32Array[]): Promise<RawOutput[]> {
  const { audio, spec } = opened;
  if (!audio || !spec.audio) throw new Error('the model does not support audio');
  const outputs: RawOutput[] = [];
  for (const some of runsOf(sounds, spec.audio.tokens, audio.alone)) {
    const input = soundInput(some, spec.audio);
    outputs.push(...(await runTower(opened, audio, { input, names: AUDIO_INPUTS, vectors: AUDIO_VECTORS })));
  }
  return outputs;
}

interface TowerRun {
  readonly input: FloatInput;
  /** Possible names of the input. */
  readonly names: readonly string[];
  readonly vectors: readonly string[];
}

async function runTower(opened: Model, { session, inputs }: Graph, { input, names, vectors }: TowerRun) {
  const count = input.dims[0]!;
  const name =
    names.find((one) => inputs.some((given) => given.name === one)) ??
    (inputs.length === 1 ? inputs[0]!.name : undefined);
  if (name === undefined) throw new Error(`the graph has no input ${names[0]}`);
  const own = new Map([[name, opened.tensor(input.data, input.dims)]]);
  // A combined graph needs a text per image; its text output is ignored.
  const word = () => opened.tensor(new BigInt64Array(count).fill(1n), [count, 1]);
  for (const other of inputs) if (!own.has(other.name)) own.set(other.name, word());
  const wanted =
    vectors.find((one) => session.outputNames.includes(one)) ??
    session.outputMetadata.find((output) => output.isTensor && output.shape.length === 2)?.name;
  if (wanted === undefined) throw new Error('the graph has no vector output');
  const answer = await session.run(Object.fromEntries(own), [wanted]);
  const found = answer[wanted]!;
  try {
    return vectorsOf(floatsOf(found), count, opened.spec.normalizes);
  } finally {
    found.dispose();
    for (const one of own.values()) one.dispose();
  }
}

async function run(opened: Model, { batch, output }: RunRequest): Promise<RawOutput[]> {
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

/** Groups the positions of sequences into runs: same task, similar length, at most RUN_TOKENS padded tokens. */
function groupsOf(batch: readonly Sequence[], alone: boolean): number[][] {
  if (alone) return batch.map((_, at) => [at]);
  const length = (at: number) => batch[at]!.ids.length;
  const groups: number[][] = [];
  for (const [, positions] of byTask(batch)) {
    let group: number[] | undefined;
    for (const at of positions.sort((one, other) => length(other) - length(one))) {
      // The first sequence of a group is the longest.
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
  const read = inputs.filter(({ name }) => !IMAGE_INPUTS.includes(name));
  const given = Object.entries(inputsOf(read, batch, padId)).map(
    ([name, { data, dims }]) => [name, tensor(data, dims)] as const,
  );
  // A combined graph gets an empty image input for texts.
  const { image } = spec;
  if (read.length < inputs.length && image)
    given.push([IMAGE_INPUTS[0]!, tensor(new Float32Array(), [0, 3, image.rule.height, image.rule.width])]);
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
  if (!(data instanceof Float32Array)) throw new Error(`the graph returned the unsupported type ${type}`);
  return { data, dims };
}

/** Name of the graph output that contains the requested kind of result. */
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
