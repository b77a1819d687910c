/**
 * Captures a target that came with the request: HTML that needs a browser is rendered, everything else is returned
 * unchanged.
 */
import { findOmittedContent, isHtml, type Snapshot } from '../snapshot.ts';
import { type AutoParts, browserReason, isRefusal, withEngineReason } from './auto.ts';
import { ASKED_FOR, BROWSER_MS, type CaptureRequest, visitOf } from './capture-request.ts';
import { FRAMESET_SIGN, MIN_WORDS } from './evidence-values.ts';

type GivenParts = Pick<AutoParts, 'browser' | 'renderer'>;

export async function* captureGiven(request: CaptureRequest, parts: GivenParts): AsyncGenerator<Snapshot> {
  const { browser } = parts;
  const { target, options, signal, required } = request;
  const snapshot: Snapshot = {
    url: target.url,
    status: 200,
    statusText: 'OK',
    mediaType: target.given!.mediaType,
    text: target.given!.text,
    settled: true,
    ...findOmittedContent(target.given!.text),
    notes: [],
    engine: 'given',
    engineReason: 'it came with the request',
  };
  if (!isHtml(snapshot)) return yield snapshot;
  const reason = await reasonToRender(snapshot, request, parts);
  if (!reason || !browser) return yield snapshot;
  try {
    for await (const seen of browser.visit({ ...visitOf(request, BROWSER_MS), html: snapshot.text })) {
      yield withEngineReason({ ...seen, url: target.url }, reason);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (required.length > 0 || options.engine === 'browser' || isRefusal(error)) throw error;
    yield snapshot;
  }
}

/** Decides why submitted HTML must be rendered: options require it, or it has almost no content without scripts. */
async function reasonToRender(
  { text, url }: Snapshot,
  { options, signal, required }: CaptureRequest,
  { browser, renderer }: GivenParts,
) {
  if (options.engine === 'browser') return ASKED_FOR;
  if (required.length) return browserReason(required[0]!);
  if (options.prefersBrowser.length) return browserReason(options.prefersBrowser[0]!);
  if (!browser || options.engine === 'direct') return undefined;
  const { words, scripts, sign } = await renderer.probe(text, url, signal);
  if (sign === FRAMESET_SIGN) return sign;
  return scripts && words < MIN_WORDS ? 'too little content without scripts' : undefined;
}
