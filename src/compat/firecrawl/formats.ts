/** The `formats` of a scrape: what the document has (docs/reference/wire/compat.md, Firecrawl). */
import * as z from 'zod';
import { problem } from '#errors.ts';
import { compileSelectors } from '#html/select.ts';
import { ownValue } from '#own-value.ts';

export interface JsonFormat {
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly prompt?: string | undefined;
}

export interface ScreenshotFormat {
  readonly fullPage: boolean;
  readonly viewport?: { readonly width: number; readonly height: number } | undefined;
}

export interface AttributeSelection {
  readonly selector: string;
  readonly attribute: string;
}

/** The fields that a document has. */
export interface Formats {
  readonly markdown: boolean;
  readonly html: boolean;
  readonly rawHtml: boolean;
  readonly links: boolean;
  readonly images: boolean;
  readonly screenshot?: ScreenshotFormat | undefined;
  readonly attributes?: readonly AttributeSelection[] | undefined;
  readonly summary: boolean;
  readonly json?: JsonFormat | undefined;
  /** The field of the document that has the structured data. */
  readonly jsonField: 'json' | 'extract';
}

const SIMPLE = ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary'] as const;
type Simple = (typeof SIMPLE)[number];
const isSimple = (type: string): type is Simple => SIMPLE.some((name) => name === type);

/** Formats that this server does not have, and what to say about them. */
const ABSENT: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['changeTracking', 'branding', 'product', 'menu', 'audio', 'video'],
    ...['question', 'query', 'highlights', 'deterministicJson'],
  ].map((name) => [name, `Lectern does not have the format ${name}`]),
);

const FORMAT_OBJECT = z.looseObject({ type: z.string() });
export const FORMATS_FIELD = z.array(z.union([z.string(), FORMAT_OBJECT]));

const MAX_SELECTIONS = 20;
const selector = () =>
  z.string().refine((text) => {
    try {
      compileSelectors(text);
      return true;
    } catch {
      return false;
    }
  }, 'is not a valid selector');

const JSON_FIELDS = z.object({
  schema: z.record(z.string(), z.unknown()).nullish(),
  prompt: z.string().nullish(),
  systemPrompt: z.string().nullish(),
});
const SCREENSHOT_FIELDS = z.object({
  fullPage: z.boolean().nullish(),
  viewport: z.object({ width: z.int().min(1).max(4096), height: z.int().min(1).max(4096) }).nullish(),
});
const ATTRIBUTE_FIELDS = z.object({
  selectors: z
    .array(z.object({ selector: selector(), attribute: z.string() }))
    .min(1)
    .max(MAX_SELECTIONS),
});

export interface FormatRequest {
  readonly formats?: readonly (string | ({ readonly type: string } & Readonly<Record<string, unknown>>))[] | undefined;
  /** The options of `json` and of `extract` in version 1. */
  readonly jsonOptions?: unknown;
  readonly extract?: unknown;
  /** The path of `formats` in errors. */
  readonly path: string;
}

/** Throws ParamValidationError for a format that is unknown, malformed, or that this server does not have. */
export function readFormats({ formats = ['markdown'], jsonOptions, extract, path }: FormatRequest): Formats {
  const flags: Record<Simple, boolean> = {
    ...{ markdown: false, html: false, rawHtml: false, links: false, images: false, summary: false },
  };
  let screenshot: ScreenshotFormat | undefined;
  let attributes: readonly AttributeSelection[] | undefined;
  let json: JsonFormat | undefined;
  let jsonField: Formats['jsonField'] = 'json';
  for (const [at, format] of formats.entries()) {
    const [type, options] = typeof format === 'string' ? [format, {}] : [format.type, format];
    const here = `${path}.${at}`;
    if (isSimple(type)) flags[type] = true;
    else if (type === 'screenshot' || type === 'screenshot@fullPage') {
      const { fullPage, viewport } = parse(SCREENSHOT_FIELDS, options, here);
      screenshot = { fullPage: type !== 'screenshot' || fullPage === true, viewport: viewport ?? undefined };
    } else if (type === 'json' || type === 'extract') {
      if (json) throw invalid(here, 'can be sent only once, as json or as extract');
      const given = typeof format === 'string' ? ((type === 'extract' ? extract : jsonOptions) ?? {}) : options;
      json = jsonFormat(parse(JSON_FIELDS, given, here), here);
      jsonField = type;
    } else if (type === 'attributes') attributes = parse(ATTRIBUTE_FIELDS, options, here).selectors;
    else throw invalid(here, ownValue(ABSENT, type) ?? `${here} is not a format: ${type.slice(0, 50)}`);
  }
  return { ...flags, screenshot, attributes, json, jsonField };
}

function jsonFormat({ schema, prompt, systemPrompt }: z.output<typeof JSON_FIELDS>, path: string): JsonFormat {
  const instruction = [systemPrompt, prompt].filter(Boolean).join('\n\n');
  if (!schema && !instruction) throw invalid(path, `${path} needs a schema or a prompt`);
  return { schema: schema ?? undefined, prompt: instruction || undefined };
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, path: string): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const field = [path, ...(issue?.path ?? [])].join('.');
  throw problem('ParamValidationError', { path: field, message: `${field}: ${issue?.message ?? 'is not valid'}` });
}

const invalid = (path: string, message: string) =>
  problem('ParamValidationError', { path, message: message.includes(path) ? message : `${path}: ${message}` });

/** Whether a model writes the single format. */
export const isWrittenWhole = ({ json, summary, jsonField: _, ...others }: Formats): boolean =>
  Boolean(json) !== summary && !Object.values(others).some(Boolean);

/** Whether a model writes one of the formats. */
export const needsModel = ({ json, summary }: Formats): boolean => json !== undefined || summary;
