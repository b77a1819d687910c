/** The formats that a model writes: `json`, `extract` and `summary`. Each is a read of its own. */
import { problem } from '#errors.ts';
import type { Page } from '#reader/index.ts';
import type { CompatCall } from '../dialect.ts';
import type { GivenFields } from '../native/native.ts';
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
const jsonOptions = ({ schema = { type: 'object' }, prompt }: JsonFormat) => ({
  respondWith: 'readerlm-v2',
  jsonSchema: schema,
  ...(prompt && { instruction: prompt }),
});

const SUMMARY_OPTIONS = { respondWith: 'readerlm-v2', instruction: SUMMARY };

/** Options of the reader that have no meaning if a model writes the answer. */
const NOT_FOR_MODELS = ['withLinksSummary', 'withImagesSummary', 'keepImgDataUrl'];

/** The options of the reader for the single format that a model writes. */
export function optionsOfModel({ json, summary }: Formats): Readonly<Record<string, unknown>> {
  if (json) return jsonOptions(json);
  return summary ? SUMMARY_OPTIONS : {};
}

/** `given` for a read whose answer a model writes. */
export const forModels = (given: GivenFields, options: GivenFields): GivenFields => ({
  ...Object.fromEntries(Object.entries(given).filter(([name]) => !NOT_FOR_MODELS.includes(name))),
  ...options,
});

/** The single format that a model wrote as the content of the page. */
export const writtenBy = ({ json, jsonField, summary }: Formats, page: Page): Record<string, unknown> => ({
  ...(json && { [jsonField]: parseWritten(textOf(page)) }),
  ...(summary && { summary: textOf(page) }),
});

/** Reads the page again for each of the formats. `given` are the options of the first read. */
export async function writeByModel(
  call: CompatCall,
  given: GivenFields,
  { json, jsonField, summary }: Formats,
): Promise<Record<string, unknown>> {
  const textBy = async (options: GivenFields) => textOf((await call.native.read(call, forModels(given, options))).page);
  return {
    ...(json && { [jsonField]: parseWritten(await textBy(jsonOptions(json))) }),
    ...(summary && { summary: await textBy(SUMMARY_OPTIONS) }),
  };
}

/** Models are not asked about a page that was sent in place of the content. */
const textOf = ({ blocked, content = '' }: Page): string => (blocked ? '' : content);

/** The reader has validated the text. It is empty for a page that was sent in place of the content. */
function parseWritten(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
