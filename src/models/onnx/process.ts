/**
 * Main program of a model process. It tokenizes and passes batches to an inference thread, so that the next texts are
 * prepared while the model runs. It exits with its parent even during a run, because a separate thread watches the
 * parent.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { endWithParent } from '#concurrency/end-with-parent.ts';
import type { Token } from '../backend.ts';
import type { ImagePrompt } from '../registry/catalogue.ts';
import { openTokenizer } from '../tokenizers/hugging-face.ts';
import { NO_FRAME, type ReversibleTokenizer, type Tokenizer, wellFormed } from '../tokenizers/tokenizer.ts';
import type {
  ImageRequest,
  LoadedModel,
  ModelRequest,
  ModelSpec,
  RawOutput,
  Reply,
  RequestMessage,
  RunRequest,
  SequenceOutput,
  SoundRequest,
  TokenIds,
} from './messages.ts';
import type { OpenRequest } from './thread.ts';
import { createPreparer, type Preparer, piecesOf } from './tokenize.ts';

if (!process.send) throw new Error('This program must be started as a model process');

endWithParent();
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const thread = startThread();
const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
let count = 0;

thread.on('message', (reply: Reply) => {
  const waiter = waiting.get(reply.id);
  waiting.delete(reply.id);
  if ('failure' in reply) waiter?.reject(new Error(reply.failure));
  else waiter?.resolve(reply.result);
});
// The process cannot work without its thread, so it ends, and pending requests fail.
thread.on('error', () => process.kill(process.pid, 'SIGKILL'));
thread.on('exit', () => process.kill(process.pid, 'SIGKILL'));

function startThread(): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./thread.js', import.meta.url));
  // When run from source (tests, development), a thread does not inherit the TypeScript loader.
  const [loader, module] = [import.meta.resolve('tsx/esm/api'), new URL('./thread.ts', import.meta.url).href];
  return new Worker(`import('${loader}').then(({ register }) => { register(); return import('${module}'); });`, {
    eval: true,
  });
}

const sendToThread = (request: OpenRequest | RunRequest | ImageRequest | SoundRequest): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const id = ++count;
    waiting.set(id, { resolve, reject });
    thread.postMessage({ id, request });
  });

let loaded: { readonly tokenizer: ReversibleTokenizer; readonly preparer: Preparer } | undefined;

async function load(spec: ModelSpec): Promise<LoadedModel> {
  const json = await jsonOf(spec.tokenizer);
  const config = await jsonOf(spec.tokenizerConfig).catch(absent);
  const tokenizer = await openTokenizer(json, config);
  const padId = padOf(tokenizer, config);
  loaded = { tokenizer, preparer: createPreparer(tokenizer, { ...spec, padId }) };
  const { judge, image } = spec;
  const ids: TokenIds = {
    pad: padId,
    verdict: judge && { yes: idOfWord(tokenizer, judge.yes), no: idOfWord(tokenizer, judge.no) },
    imagePrompt: image?.prompt && imagePromptIds(tokenizer, image.prompt),
  };
  return (await sendToThread({ do: 'open', spec, ids })) as LoadedModel;
}

function idOfWord(tokenizer: Tokenizer, word: string): number {
  const [id, ...others] = tokenizer.encode(word);
  if (id === undefined || others.length > 0) throw new Error(`the tokenizer has no token for ${word}`);
  return id;
}

function imagePromptIds(tokenizer: Tokenizer, { patch, patches, text }: ImagePrompt): Int32Array {
  const id = tokenizer.idOf(patch);
  if (id === undefined) throw new Error(`the tokenizer has no ${patch}`);
  return Int32Array.from([...Array<number>(patches).fill(id), ...tokenizer.encode(text)]);
}

async function jsonOf(file: string): Promise<object> {
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (typeof value !== 'object' || value === null) throw new Error('a tokenizer file is not a JSON object');
  return value;
}

/** Returns an empty object, because some repositories have no tokenizer configuration. */
function absent(error: NodeJS.ErrnoException): object {
  if (error.code === 'ENOENT') return {};
  throw error;
}

/** A special token is a string, or an object that contains the string. Padding is masked, so 0 is a safe default. */
function padOf(tokenizer: ReversibleTokenizer, config: object): number {
  const { pad_token: pad } = config as { pad_token?: unknown };
  const piece = typeof pad === 'object' && pad !== null ? (pad as { content?: unknown }).content : pad;
  return typeof piece === 'string' ? (tokenizer.idOf(piece) ?? 0) : 0;
}

async function answer(request: ModelRequest): Promise<unknown> {
  if (request.do === 'load') return load(request.spec);
  if (!loaded) throw new Error('no model is loaded');
  const { preparer, tokenizer } = loaded;
  switch (request.do) {
    case 'prepare':
      return preparer.prepare(request.texts, request);
    case 'chunks':
      return preparer.chunks(request.prefix, request.items, request);
    case 'pairs':
      return preparer.pairs(request.query, request.documents, request.maxTokens);
    case 'tokenize':
      return request.texts.map((text) => tokensOf(tokenizer, text, request.special));
    case 'detokenize':
      return request.lists.map((ids) => tokenizer.decode(ids, request));
    case 'ids':
      return request.pieces.map((piece) => tokenizer.idOf(piece));
    case 'images':
    case 'sounds':
      return sendToThread(request);
    case 'run':
      return withPieces(tokenizer, request, (await sendToThread(request)) as RawOutput[]);
  }
}

function tokensOf(tokenizer: ReversibleTokenizer, text: string, special: boolean): Token[] {
  const { before, after } = special ? tokenizer.frame : NO_FRAME;
  const ids = [...before];
  for (const piece of piecesOf(wellFormed(text))) for (const id of tokenizer.encode(piece)) ids.push(id);
  ids.push(...after);
  const pieces = tokenizer.pieces(ids);
  return ids.map((id, at) => ({ id, text: pieces[at]!, isSpecial: tokenizer.isSpecial(id) }));
}

/** Special pieces such as `[CLS]` and `<s>` carry no meaning. */
const isSpecial = (piece: string) => /^(?:\[[A-Z]+\]|<[^<>]+>)$/.test(piece);

function withPieces(
  tokenizer: ReversibleTokenizer,
  { batch, output }: RunRequest,
  raw: readonly RawOutput[],
): readonly SequenceOutput[] {
  if (output === 'tokens')
    return raw.map(({ positions, ...one }, at) => {
      const { ids } = batch[at]!;
      return {
        ...one,
        pieces: tokenizer.pieces(positions ? Array.from(positions, (position) => ids[position]!) : ids),
      };
    });
  if (output !== 'sparse') return raw;
  return raw.map(({ values, ids = new Int32Array() }) => {
    const pieces = tokenizer.pieces(Array.from(ids));
    const weights = pieces.flatMap((piece, at) => (isSpecial(piece) ? [] : [[piece, values[at]!] as const]));
    return { values: new Float32Array(), rows: 1, weights: Object.fromEntries(weights) };
  });
}

process.on('message', ({ id, request }: RequestMessage) => {
  answer(request).then(
    (result) => process.send!({ id, result } satisfies Reply),
    (error: unknown) => process.send!({ id, failure: (error as Error).message } satisfies Reply),
  );
});
