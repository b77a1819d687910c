/**
 * Inference thread of a model process: opens the graphs and runs batches one after another. The runtime blocks the
 * thread during a run, so this thread does nothing else.
 */
import { parentPort } from 'node:worker_threads';
import { framesOf } from '../media/sound.ts';
import { type Graph, openGraph } from './graph.ts';
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
  type TokenIds,
} from './messages.ts';
import { outputsOf, vectorsOf } from './pooling.ts';
import {
  AUDIO_INPUTS,
  AUDIO_VECTORS,
  IMAGE_INPUTS,
  IMAGE_VECTORS,
  type Input,
  inputsOf,
  LOGITS_KEPT,
  noPictures,
  pictureInput,
  soundInput,
} from './tensors.ts';

export interface OpenRequest {
  readonly do: 'open';
  readonly spec: ModelSpec;
  readonly ids: TokenIds;
}

interface Model {
  readonly spec: ModelSpec;
  readonly ids: TokenIds;
  readonly text: Graph;
  readonly image: Graph | undefined;
  readonly audio: Graph | undefined;
}

/** Output names in the hub's exports, in order of preference. */
const STATES = ['colbert_vecs', 'last_hidden_state', 'token_embeddings', 'hidden_states'];
const POOLED = ['sentence_embedding', 'text_embeds', 'text_embeddings', 'embeddings', 'dense_vecs', 'pooler_output'];
const LOGITS = ['logits', 'scores', 'score'];
const WEIGHTS = ['sparse_vecs', ...LOGITS];

/**
 * Maximum number of logits in one run, 256 MB, if the graph returns those of each token. A single sequence may exceed
 * it.
 */
const MAX_LOGITS = 64 * 1024 * 1024;
/** An upper bound of the size of vocabularies, in words. */
const LARGEST_VOCABULARY = 262_144;

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

async function open({ spec, ids }: OpenRequest): Promise<LoadedModel> {
  const text = await openGraph(spec.graph, spec);
  const tower = async (graph: string | undefined) =>
    graph === undefined || graph === spec.graph ? graph && text : openGraph(graph, spec);
  const image = (await tower(spec.image?.graph)) || undefined;
  const audio = (await tower(spec.audio?.graph)) || undefined;
  model = { spec, ids, text, image, audio };
  // A test run, so that an unsuitable graph fails now instead of at the first request.
  const blank = Int32Array.of(ids.pad, ids.pad);
  const [output] = await run(model, { do: 'run', batch: [{ ids: blank }], output: spec.output });
  const dimensions = output!.values.length / output!.rows;
  if (dimensions !== (spec.dimensions ?? dimensions))
    throw new Error(`the graph returns vectors of ${dimensions} numbers instead of ${spec.dimensions}`);
  for (const [other] of await blanks(model)) {
    const size = other!.values.length / other!.rows;
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
  readonly input: Input;
  /** Possible names of the input. */
  readonly names: readonly string[];
  readonly vectors: readonly string[];
}

async function runTower({ spec, ids }: Model, graph: Graph, { input, names, vectors }: TowerRun) {
  const count = input.dims[0]!;
  const name =
    names.find((one) => graph.inputs.some((given) => given.name === one)) ??
    (graph.inputs.length === 1 ? graph.inputs[0]!.name : undefined);
  if (name === undefined) throw new Error(`the graph has no input ${names[0]}`);
  const others = graph.inputs.filter((one) => one.name !== name);
  // A graph that reads text and images together gets the model's prompt; in other combined graphs, the text is ignored.
  const text = ids.imagePrompt ?? Int32Array.of(1);
  const batch = Array.from({ length: count }, (): Sequence => ({ ids: text }));
  const given = new Map([...inputsOf(others, batch, ids.pad), [name, input]]);
  if (ids.imagePrompt) {
    const wanted = outputName(graph, spec, 'tokens', false);
    return outputsOf(await graph.run(given, wanted), batch, 'tokens', spec);
  }
  const wanted =
    vectors.find((one) => graph.outputs.some((output) => output.name === one)) ??
    graph.outputs.find(({ rank }) => rank === 2)?.name;
  if (wanted === undefined) throw new Error('the graph has no vector output');
  return vectorsOf(await graph.run(given, wanted), count, spec.normalizes);
}

async function run(opened: Model, { batch, output }: RunRequest): Promise<RawOutput[]> {
  const outputs: RawOutput[] = new Array(batch.length);
  for (const group of groupsOf(batch, opened)) {
    const found = await runGroup(
      opened,
      group.map((at) => batch[at]!),
      output,
    );
    for (const [at, position] of group.entries()) outputs[position] = found[at]!;
  }
  return outputs;
}

/** Groups the positions of sequences into runs: same task, similar length, limited number of padded tokens. */
function groupsOf(batch: readonly Sequence[], { text, spec }: Model): number[][] {
  // The last positions of padded sequences are padding.
  if (text.alone || text.inputs.some(({ name }) => name === LOGITS_KEPT)) return batch.map((_, at) => [at]);
  const returnsLogits = spec.judge !== undefined;
  const most = returnsLogits ? Math.min(RUN_TOKENS, MAX_LOGITS / LARGEST_VOCABULARY) : RUN_TOKENS;
  const length = (at: number) => batch[at]!.ids.length;
  const groups: number[][] = [];
  for (const [, positions] of byTask(batch)) {
    let group: number[] | undefined;
    for (const at of positions.sort((one, other) => length(other) - length(one))) {
      // The first sequence of a group is the longest.
      if (!group || length(group[0]!) * (group.length + 1) > most) {
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

async function runGroup({ spec, text, ids }: Model, batch: readonly Sequence[], kind: RunKind): Promise<RawOutput[]> {
  const read = text.inputs.filter(({ name }) => !IMAGE_INPUTS.includes(name));
  const given = inputsOf(read, batch, ids.pad);
  if (read.length < text.inputs.length && spec.image) given.set(IMAGE_INPUTS[0]!, noPictures(batch.length, spec.image));
  const wanted = outputName(text, spec, kind, batch[0]!.spans !== undefined);
  return outputsOf(await text.run(given, wanted), batch, kind, { ...spec, verdict: ids.verdict });
}

/** Name of the graph output that contains the requested kind of result. */
function outputName({ outputs }: Graph, spec: ModelSpec, kind: RunKind, isSpans: boolean): string {
  const ranked = (rank: number) => outputs.find((output) => output.rank === rank)?.name;
  const isPooled = kind === 'pooled' && spec.pooling === 'none' && !isSpans;
  const known = kind === 'score' ? LOGITS : kind === 'sparse' ? WEIGHTS : isPooled ? POOLED : STATES;
  const named = known.find((name) => outputs.some((output) => output.name === name));
  const found = named ?? ranked(kind === 'score' || isPooled ? 2 : 3) ?? outputs[0]?.name;
  if (found === undefined) throw new Error('the graph has no output');
  return found;
}
