/** Which engine serves a read, and what it falls back on (contract, section 11). */
import { Problem, problem } from '#errors.ts';
import type { Options } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import { ENOUGH_WORDS, type Renderer } from '../renderer.ts';
import { isHtml, type Snapshot, unwritten } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';

/** How long a read may take when the caller sets no limit (contract, section 9). */
const BROWSER_MS = 15_000;
const DIRECT_MS = 30_000;

export interface Engines {
  readonly direct: Engine;
  /** Absent when this machine has no browser. */
  readonly browser?: Engine | undefined;
  readonly renderer: Renderer;
}

/** A request with the moment at which its time began to run. */
interface Started extends ReadRequest {
  readonly startedAt: number;
  readonly folder: Visit['folder'];
}

/** Which engine serves a read, and what it falls back on (contract, section 11). */
export function createChooser({ direct, browser, renderer }: Engines) {
  return async function* snapshots(asked: ReadRequest, folder: Visit['folder']): AsyncGenerator<Snapshot> {
    const request = { ...asked, startedAt: performance.now(), folder };
    const { target, options } = request;
    const required = options.needsBrowser;
    if (required.length && options.engine === 'direct') {
      throw problem('ParamValidationError', {
        path: required[0]!,
        message: `${required[0]} needs the browser, which engine direct leaves out`,
      });
    }
    if ((required.length || options.engine === 'browser') && !browser) throw noBrowser(required[0] ?? 'engine');
    if (target.given) yield* given(request, required);
    else if (options.engine === 'direct') yield* direct.visit(visitOf(request, DIRECT_MS));
    else if (options.engine === 'browser') yield* browser!.visit(visitOf(request, BROWSER_MS));
    else yield* auto(request, required);
  };

  async function* given(request: Started, required: readonly string[]): AsyncGenerator<Snapshot> {
    const { target, options, signal } = request;
    const snapshot: Snapshot = {
      url: target.url,
      status: 200,
      statusText: 'OK',
      mediaType: target.given!.mediaType,
      text: target.given!.text,
      settled: true,
      ...unwritten(target.given!.text),
      notes: [],
      engine: 'given',
    };
    if (!isHtml(snapshot)) return yield snapshot;
    const rendered =
      options.engine === 'browser' || required.length > 0 || (await needsScripts(snapshot, signal, options));
    if (!rendered || !browser) return yield snapshot;
    try {
      for await (const seen of browser.visit({ ...visitOf(request, BROWSER_MS), html: snapshot.text })) {
        yield { ...seen, url: target.url };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (required.length > 0 || options.engine === 'browser' || isRefusal(error)) throw error;
      yield snapshot;
    }
  }

  /** Whether given HTML says next to nothing until its scripts have run. */
  async function needsScripts(snapshot: Snapshot, signal: AbortSignal, { engine }: Options): Promise<boolean> {
    if (!browser || engine === 'direct') return false;
    const { words, scripts } = await renderer.probe(snapshot.text, snapshot.url, signal);
    return scripts && words < ENOUGH_WORDS;
  }

  async function* auto(request: Started, required: readonly string[]): AsyncGenerator<Snapshot> {
    const { options, signal } = request;
    let fetched: Snapshot | undefined;
    try {
      for await (const snapshot of direct.visit(visitOf(request, DIRECT_MS))) fetched = snapshot;
    } catch (error) {
      // What the browser may do better is worth a second try; what is refused or no page at all is not.
      if (!browser || !(error instanceof Problem) || !mayRetry(error)) throw error;
    }
    const enough = fetched && (!isHtml(fetched) || !browser || (!required.length && fetchedIsEnough(options)));
    if (fetched && enough) return yield fetched;
    if (fetched) yield { ...fetched, settled: false };
    try {
      const from = fetched ? { url: fetched.url, html: fetched.text } : {};
      for await (const seen of browser!.visit({ ...visitOf(request, BROWSER_MS), ...from }))
        yield merged(seen, fetched);
    } catch (error) {
      signal.throwIfAborted();
      // The fetched copy is the answer when the browser has none, unless only the browser can give what was asked for.
      if (!fetched || required.length || isRefusal(error)) throw error;
      yield { ...fetched, notes: [...fetched.notes, NOT_RENDERED] };
    }
  }
}

/** The caller's own limit is for the whole read; without one each engine has its own. */
function visitOf({ target, options, signal, startedAt, keyed, folder }: Started, standardMs: number): Visit {
  const { timeoutMs } = options;
  const deadline = timeoutMs === undefined ? performance.now() + standardMs : startedAt + timeoutMs;
  return { url: target.url, options, signal, deadline, keyed, folder };
}

/** The browser rendered what was fetched before, so the status and headers are those of that fetch. */
function merged(seen: Snapshot, fetched: Snapshot | undefined): Snapshot {
  if (!fetched || seen.url !== fetched.url) return seen;
  const { status, statusText, lastModified } = fetched;
  return { ...seen, status, statusText, lastModified };
}

/** A type that cannot be read, and success without content, are the same in a browser. */
const mayRetry = ({ name, facts }: Problem) =>
  name === 'AssertionFailureError' && facts.mediaType === undefined && facts.targetStatus !== 200;

const isRefusal = (error: unknown) =>
  error instanceof Problem && (error.name === 'SecurityCompromiseError' || error.name === 'ParamValidationError');

const fetchedIsEnough = ({ respondTiming }: Options) => respondTiming === 'html' || respondTiming === 'visible-content';

/** What style sheets hide is known to the browser only. */
const NOT_RENDERED = 'This page could not be rendered, this is its source: what it hides may be in the text.';

const noBrowser = (path: string) =>
  problem('ParamValidationError', {
    path,
    message: `${path} needs a browser, and this server has none: install Chromium, or set LECTERN_BROWSER to one`,
  });
