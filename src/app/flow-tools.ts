/** The tools that the flow's built-in executors use, implemented with the modules of this server. */
import { orUnavailable } from '#api/unavailable.ts';
import { asProblem, problem } from '#errors.ts';
import type { BuiltInTools, Collection } from '#flow/index.ts';
import { gather } from '#http/gather.ts';
import type { ModelHost } from '#models/index.ts';
import type { Ocr } from '#ocr/index.ts';
import {
  blobUrl,
  cleanUrl,
  type GivenOptions,
  OPTIONS,
  type Reader,
  readUpload,
  resolve,
  type Target,
} from '#reader/index.ts';
import { cutPassages } from '#search/index.ts';
import type { Log } from '#telemetry/log.ts';
import type { Collections } from './collections/collections.ts';
import { embedTexts, scoreTexts } from './model-tools.ts';

export interface FlowModules {
  readonly reader: Reader;
  readonly modelHost: ModelHost;
  readonly ocr: Ocr | undefined;
  readonly collections: Collections;
  /** The User-Agent of reads that do not set one. */
  readonly userAgent: string | undefined;
  readonly log: Log;
}

/** All requests of flows count as one caller in a model's queue. */
const CALLER = 'flow';
const MAX_PASSAGES = 100_000;

export function createFlowTools(modules: FlowModules): BuiltInTools {
  const { reader, modelHost, ocr, collections, userAgent, log } = modules;

  /** Converts errors to problems. The cause of an InternalError is logged, but not shown to the caller. */
  async function asProblems<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      const known = asProblem(error);
      if (known.name === 'InternalError') log.error({ err: known.cause ?? error }, 'an executor failed');
      throw known;
    }
  }

  return {
    reading(given) {
      const own = readingOptions(given);
      const options = resolve({ ...(userAgent && { userAgent }), ...FOR_MODELS, ...own }, own);
      return (source, signal) =>
        asProblems(async () => {
          const target = 'url' in source ? { url: cleanUrl(source.url) } : await fileTarget(source);
          const { page } = await reader.last({ target, options, signal, keyed: true });
          const { title, description, publishedTime, warning } = page;
          const text = page.content ?? page.text ?? '';
          return {
            text,
            title,
            description,
            published: publishedTime,
            warning,
            ...('url' in source && { url: page.url }),
          };
        }, signal);
    },
    cut: (text) => cutPassages(text, MAX_PASSAGES),
    embed: (texts, ask) => asProblems(() => embedTexts(modelHost, texts, { ...ask, caller: CALLER }), ask.signal),
    rerank: (query, texts, ask) =>
      asProblems(() => scoreTexts(modelHost, query, texts, { ...ask, caller: CALLER }), ask.signal),
    openCollection: async (name) => wrapCollection(collections.open(name), asProblems),
    ocr:
      ocr && ((picture, { languages, signal }) => asProblems(() => ocr.read(picture, { languages, signal }), signal)),
  };
}

const wrapCollection = (
  collection: Collection,
  asProblems: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>,
): Collection => ({
  add: (entries) => asProblems(() => orUnavailable(collection.add(entries))),
  remove: (entry) => asProblems(() => orUnavailable(collection.remove(entry))),
  search: (question, ask) => asProblems(() => orUnavailable(collection.search(question, ask)), ask.signal),
  close: () => collection.close(),
});

/** Omits the URLs of links and images, which would only add noise to embeddings and passages. */
const FOR_MODELS: GivenOptions = { retainLinks: 'text', retainImages: 'alt' };
/** Options that name the content to read. They cannot be set, because each document supplies its own content. */
const NOT_OPTIONS = ['url', 'html', 'file', 'pdf'];

function readingOptions(given: Readonly<Record<string, unknown>>): GivenOptions {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(OPTIONS, name) && !NOT_OPTIONS.includes(name)) continue;
    throw problem('ParamValidationError', {
      path: name,
      message: `The reader has no option ${name}`,
    });
  }
  return gather(OPTIONS, { headers: {}, body: given }) as GivenOptions;
}

async function fileTarget({
  bytes,
  mediaType,
  name,
}: {
  bytes: Uint8Array;
  mediaType: string;
  name?: string | undefined;
}): Promise<Target> {
  const contentType = mediaType || undefined;
  return { url: blobUrl(bytes), ...(await readUpload({ bytes, contentType, name, option: 'file' })) };
}
