/** Reads one page or file for a dialect, as the reader's endpoint does for a JSON response. */
import { accountOf } from '#accounts/index.ts';
import * as documentPictures from '#api/reader/document-pictures.ts';
import { addScreenshotUrls, prepareRead } from '#api/reader/reader.ts';
import { problem } from '#errors.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { gather } from '#http/gather.ts';
import { type DetailLevel, OPTIONS, type Page, type Rendition } from '#reader/index.ts';
import { addCost } from './cost.ts';
import type { GivenFields, NativeCall, NativeParts } from './native.ts';

export interface ReadExtras {
  /** Facts about the response, and with `html` the HTML of the content too. */
  readonly details?: DetailLevel | undefined;
  /** Whether to return the elements of the content. */
  readonly elements?: boolean;
  /** Ends the read. Default: when the client disconnects. */
  readonly signal?: AbortSignal;
}

export interface ReadAnswer {
  /** The page object of the native JSON response. */
  readonly page: Page;
  readonly rendition: Rendition;
}

export async function readPage(
  call: NativeCall,
  fields: GivenFields,
  parts: NativeParts,
  extras: ReadExtras = {},
): Promise<ReadAnswer> {
  const { request, reply, admission } = call;
  const given = gather(OPTIONS, { headers: {}, body: fields });
  const prepared = await prepareRead(request, parts, { given, kind: 'json' });
  if (!prepared) throw problem('ParamValidationError', { path: 'url', message: 'There is nothing to read' });
  const { target, options } = prepared;
  const rendition = await parts.reader.last({
    target,
    options,
    signal: extras.signal ?? disconnectSignal(reply),
    keyed: admission.caller.kind !== 'keyless',
    account: accountOf(admission.caller),
    trace: parts.tracing.start(request, reply, options.trace),
    pictureUrls: documentPictures.urlsFor(request, options, parts),
    details: extras.details,
    ...(extras.elements && { elements: true }),
  });
  await documentPictures.store(rendition, parts);
  addCost(call, rendition.tokens, options.modelFormat);
  return { page: await addScreenshotUrls(rendition, options, request, parts), rendition };
}
