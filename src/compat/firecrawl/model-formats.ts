/** The formats that a model writes: `json`, `extract` and `summary`. Each is a read of its own. */
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { type Formats, type JsonFormat, needsModel } from './formats.ts';

const MODEL_SETTINGS = 'LECTERN_CHAT_URL and LECTERN_CHAT_MODEL';
const SUMMARY = 'Summarize this page in a few sentences. Write only the summary.';

/** Throws ParamValidationError if a model is needed and none is configured. */
export function requireModel({ native }: CompatCall, formats: Formats, path: string): void {
  if (!needsModel(formats) || native.parts.hasLanguageModel) return;
  const name = formats.json ? formats.jsonField : 'summary';
  throw problem('ParamValidationError', {
    path,
    message: `${path}: ${name} needs a language model, and this server has none: set ${MODEL_SETTINGS}`,
  });
}

/** The options of the reader with which a model writes structured data. */
export const jsonOptions = ({ schema = { type: 'object' }, prompt }: JsonFormat) => ({
  respondWith: 'readerlm-v2',
  jsonSchema: schema,
  ...(prompt && { instruction: prompt }),
});

export const SUMMARY_OPTIONS = { respondWith: 'readerlm-v2', instruction: SUMMARY };

/** Options of the reader that have no meaning if a model writes the answer. */
const NOT_FOR_MODELS = ['withLinksSummary', 'withImagesSummary', 'keepImgDataUrl'];

/** Reads the page again for each of the formats. `given` are the options of the first read. */
export async function writeByModel(
  call: CompatCall,
  given: Readonly<Record<string, unknown>>,
  { json, jsonField, summary }: Formats,
): Promise<Record<string, unknown>> {
  const shared = Object.fromEntries(Object.entries(given).filter(([name]) => !NOT_FOR_MODELS.includes(name)));
  const contentOf = async (options: object) =>
    (await call.native.read(call, { ...shared, ...options })).page.content ?? '';
  return {
    ...(json && { [jsonField]: parseWritten(await contentOf(jsonOptions(json))) }),
    ...(summary && { summary: await contentOf(SUMMARY_OPTIONS) }),
  };
}

/** The reader has validated the text; only a page that was sent in place of the content has other text. */
export function parseWritten(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
