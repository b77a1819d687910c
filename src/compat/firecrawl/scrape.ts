/** `POST /scrape`: reads one page. */
import { randomUUID } from 'node:crypto';
import { startUrlOf } from '#crawl/index.ts';
import { Problem, problem } from '#errors.ts';
import type { DetailLevel } from '#reader/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import type { ReadAnswer } from '../native/read.ts';
import { type FirecrawlDocument, writeDocument } from './document.ts';
import { targetFailure } from './errors.ts';
import { SCRAPE_FIELDS, type Version } from './fields.ts';
import { isWrittenWhole } from './formats.ts';
import { forModels, optionsOfModel, requireModel, writeByModel, writtenBy } from './model-formats.ts';
import { renameProblem } from './names.ts';
import { type ReadPlan, toRead } from './to-read.ts';

export const scrape = (version: Version) => async (call: CompatCall) => {
  const { url, ...options } = readFields(SCRAPE_FIELDS, call.body);
  requireUrl(url, 'url');
  const plan = toRead(options, version);
  requireModel(call, plan.formats, 'formats');
  const document = await readDocument(call, { plan, target: { url }, sourceUrl: url });
  return sendDocument(call, document, version);
};

export function sendDocument(call: CompatCall, document: FirecrawlDocument, version: Version) {
  const { warning, metadata } = document as { readonly warning?: string; readonly metadata: { scrapeId: string } };
  return sendJson(call.reply, {
    success: true,
    ...(warning !== undefined && { warning }),
    data: document,
    ...(version === 'v1' && { scrape_id: metadata.scrapeId }),
  });
}

export interface DocumentRequest {
  readonly plan: ReadPlan;
  /** The options of the reader that name the target. */
  readonly target: Readonly<Record<string, unknown>>;
  /** The URL or file name as the caller sent it. */
  readonly sourceUrl: string;
}

/** Reads a target whose URL is valid. Throws its failures with the codes that clients know. */
export async function readDocument(
  call: CompatCall,
  { plan, target, sourceUrl }: DocumentRequest,
): Promise<FirecrawlDocument> {
  const given = { ...plan.given, ...target };
  try {
    const { formats, documents, warnings } = plan;
    const isWhole = isWrittenWhole(formats);
    const first = isWhole ? forModels(given, optionsOfModel(formats)) : given;
    const { page, rendition } = await readSelection(call, first, formats.html ? 'html' : 'facts');
    const written = isWhole ? writtenBy(formats, page) : await writeByModel(call, given, formats);
    const { details } = rendition;
    const scrapeId = randomUUID();
    return writeDocument({ page, details, formats, documents, sourceUrl, scrapeId, warnings, written });
  } catch (error) {
    throw renameProblem(error instanceof Problem ? targetFailure(error) : error);
  }
}

/** Reads a page, or without content if nothing on it matches `includeTags`, as the original does. */
async function readSelection(
  { native, ...call }: CompatCall,
  given: Readonly<Record<string, unknown>>,
  details: DetailLevel,
): Promise<ReadAnswer> {
  try {
    return await native.read(call, given, { details });
  } catch (error) {
    const isUnmatched = error instanceof Problem && error.facts.path === 'targetSelector' && error.code !== 400;
    if (!isUnmatched) throw error;
    const { page, rendition } = await native.read(call, { ...given, targetSelector: [] }, { details: 'facts' });
    const warning = [page.warning, `targetSelector: ${error.message}.`].filter(Boolean).join('\n');
    return { page: { ...page, content: '', warning }, rendition };
  }
}

/** Throws ParamValidationError for text that is not a URL. */
export function requireUrl(url: string, path: string): void {
  if (startUrlOf(url) !== undefined) return;
  const message = `${path} is not a valid http or https URL`;
  throw problem('ParamValidationError', { path, message, value: url.slice(0, 200) });
}
