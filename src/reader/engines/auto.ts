/**
 * Engine `auto`: fetches first, and renders if scripts would change the content (docs/reference/wire/reader.md,
 * Engines). The decision is based on the page itself, and on earlier reads of pages with the same template.
 */
import { Problem } from '#errors.ts';
import { isGuardRefusal } from '#net/guard/guard.ts';
import { traceStep } from '#telemetry/trace.ts';
import type { AbuseRefusals } from '../abuse-refusals.ts';
import type { Blocked, BlockedKind } from '../blocked/blocked.ts';
import type { OptionName } from '../options/options.ts';
import type { Options } from '../options/resolve.ts';
import type { Renderer } from '../renderer.ts';
import type { SiteRecords, SiteView } from '../site-records.ts';
import { isHtml, responseFacts, type Snapshot, withFetchedNotes } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';
import type { Evidence } from './evidence.ts';
import type { CompareRendered } from './render-comparison.ts';
import type { Template } from './template.ts';
import { withPictures } from './text-screenshot.ts';

export interface AutoParts {
  readonly direct: Engine;
  readonly browser?: Engine | undefined;
  readonly renderer: Renderer;
  readonly sites?: SiteRecords | undefined;
  readonly compareRendered?: CompareRendered | undefined;
  readonly abuse?: Pick<AbuseRefusals, 'check'> | undefined;
}

/** The visits of the two engines, which have different default timeouts. */
export interface EngineVisits {
  readonly direct: () => Visit;
  readonly browser: () => Visit;
}

export const withEngineReason = (snapshot: Snapshot, engineReason: string): Snapshot => ({
  ...snapshot,
  engineReason: snapshot.engineReason ?? engineReason,
});

export async function* withEngineReasons(snapshots: AsyncIterable<Snapshot>, reason: string): AsyncGenerator<Snapshot> {
  for await (const snapshot of snapshots) yield withEngineReason(snapshot, reason);
}

export const browserReason = (required: OptionName): string =>
  required === 'respondWith' ? 'a picture was requested' : `${required} needs a browser`;

/** Options that require the browser from the start: they take effect before the page loads, or need browser state. */
const BROWSER_FIRST: readonly OptionName[] = ['preloadUrl', 'storageState', 'exportStorageState'];

export async function* readAuto(
  visits: EngineVisits,
  required: readonly OptionName[],
  parts: AutoParts,
): AsyncGenerator<Snapshot> {
  const { direct, browser, abuse } = parts;
  const first = required.find((name) => BROWSER_FIRST.includes(name));
  if (browser && first) return yield* withEngineReasons(browser.visit(visits.browser()), browserReason(first));

  const visit = visits.direct();
  let fetched: Snapshot | undefined;
  try {
    for await (const snapshot of direct.visit(visit)) fetched = snapshot;
  } catch (error) {
    // The browser may succeed where a fetch failed, except for refusals and targets that are not pages.
    if (!browser || !(error instanceof Problem) || !mayRetry(error)) throw error;
  }
  if (!fetched) return yield* withEngineReasons(browser!.visit(visits.browser()), 'a plain fetch failed');
  if (fetched.file) return yield withEngineReason(fetched, 'the target is a file');
  if (!isHtml(fetched)) {
    const drawn = browser ? await withPictures(fetched, visits.browser(), browser) : fetched;
    return yield withEngineReason(drawn, 'the target is text');
  }
  if (!browser) return yield await withoutBrowser(fetched, visit, parts);
  await abuse?.check(fetched.url, visit.keyed);
  const plan = await planFor(fetched, visit, required, parts);
  if (plan.enough) return yield withEngineReason({ ...fetched, ...withBlocked(plan) }, plan.reason);
  yield* renderPage(fetched, plan, visits.browser(), required, { ...parts, browser });
}

/** The result without a browser: the HTML of the page, or an embedded file if the page has no other content. */
async function withoutBrowser(fetched: Snapshot, visit: Visit, { direct, renderer }: AutoParts): Promise<Snapshot> {
  const page = withEngineReason(fetched, 'no browser is available');
  if (fetched.status !== 200 || !/<(?:embed|object|iframe)\b/i.test(fetched.text)) return page;
  const { file } = await renderer.probe(fetched.text, fetched.url, visit.signal);
  if (!file?.alone) return page;
  let shown: Snapshot | undefined;
  try {
    for await (const seen of direct.visit({ ...visit, url: file.url, referringUrl: fetched.url })) shown = seen;
  } catch (error) {
    visit.signal.throwIfAborted();
    if (!(error instanceof Problem)) throw error;
  }
  return shown?.file && shown.status === 200 ? withEngineReason(shown, 'the page shows a file') : page;
}

async function* renderPage(
  fetched: Snapshot,
  plan: Plan,
  visit: Visit,
  required: readonly OptionName[],
  { browser, compareRendered }: AutoParts & { readonly browser: Engine },
): AsyncGenerator<Snapshot> {
  const { status, url, text } = fetched;
  const tried = ['direct', 'browser'];
  yield withEngineReason({ ...fetched, settled: false, ...withBlocked(plan) }, plan.reason);
  let last: Snapshot | undefined;
  try {
    const requestsAgain = REFUSALS.has(status) || isRefused(plan.blocked);
    const from = requestsAgain ? {} : { url, html: text, fetchedResponse: responseFacts(fetched) };
    for await (const seen of browser.visit({ ...visit, ...from })) {
      last = { ...(requestsAgain ? seen : withFetchedNotes(fetched, seen)), tried };
      yield withEngineReason(last, plan.reason);
    }
  } catch (error) {
    visit.signal.throwIfAborted();
    // Return the fetched page if the browser fails, unless an option needs the browser.
    if (required.length || isRefusal(error)) throw error;
    const notRendered = { ...fetched, ...withBlocked(plan), tried, notes: [...fetched.notes, NOT_RENDERED] };
    yield withEngineReason(notRendered, 'the browser returned nothing');
  }
  if (plan.template && last) compareRendered?.(fetched, last, plan.template);
}

/** The decision about how to proceed with a fetched page. */
interface Plan {
  /** Whether the fetched page is the final result. */
  readonly enough: boolean;
  readonly reason: string;
  /** Set if the rendered page is to be compared with the fetched one. */
  readonly template?: Template | undefined;
  /** What the fetched page is instead of the content; `null` for content; absent if it was not examined. */
  readonly blocked?: Blocked | null | undefined;
}

const withBlocked = ({ blocked }: Plan) => (blocked === undefined ? {} : { blocked });

const enoughBecause = (reason: string): Plan => ({ enough: true, reason });
const renderBecause = (reason: string, template?: Template): Plan => ({ enough: false, reason, template });

async function planFor(
  fetched: Snapshot,
  { options, signal, trace }: Visit,
  required: readonly OptionName[],
  { renderer, sites }: AutoParts,
): Promise<Plan> {
  const wanted = required[0] ?? options.prefersBrowser[0];
  if (wanted) return renderBecause(browserReason(wanted));
  if (WAITING.has(options.respondTiming)) return renderBecause('respondTiming waits for the page to become idle');
  if (options.respondTiming === 'html') return enoughBecause(EARLY);
  if (REFUSALS.has(fetched.status)) return renderBecause(`a plain fetch was answered with ${fetched.status}`);
  const answer = { status: fetched.status, response: fetched.responseMarks };
  const probed = () => renderer.probe(fetched.text, fetched.url, signal, answer);
  const evidence = await traceStep('probe', trace, probed);
  return { ...(await planByEvidence(fetched, options, evidence, sites)), blocked: evidence.blocked ?? null };
}

/** What the content of a fetched page says about whether to render it. */
async function planByEvidence(
  fetched: Snapshot,
  options: Options,
  { scripts, styles, sign, template, blocked }: Evidence,
  sites: SiteRecords | undefined,
): Promise<Plan> {
  if (sign !== undefined) return renderBecause(sign);
  if (blocked && RENDERED_KINDS.has(blocked.kind)) return renderBecause(`a plain fetch was blocked: ${blocked.kind}`);
  if (options.respondTiming === 'visible-content') return enoughBecause(EARLY);
  if (!scripts && !styles) return enoughBecause('no scripts');
  const view = template && (await siteOf(fetched, template, options, sites));
  const compared = view?.compare ? template : undefined;
  if (view?.scripts === 'add') return renderBecause('scripts change similar pages of this site', compared);
  // A caller who sets a timeout wants the best result within that time.
  if (view?.scripts === 'add nothing' && options.timeoutMs === undefined) return enoughBecause(LIKE_OTHERS);
  return renderBecause(scripts ? 'scripts may change its content' : 'style sheets may hide parts of it', compared);
}

async function siteOf(
  fetched: Snapshot,
  template: Template,
  options: Options,
  sites: SiteRecords | undefined,
): Promise<SiteView | undefined> {
  if (!sites || fetched.status !== 200) return undefined;
  const keep = mayLearn(options);
  const view = await sites.lookUp(fetched.url, template, keep);
  return { ...view, compare: view.compare && keep };
}

/** Whether the read may be recorded, and is representative for all callers. */
const mayLearn = (options: Options): boolean =>
  !options.zeroDataRetention &&
  !options.doNotTrack &&
  !options.setCookies.length &&
  options.customHeader === undefined &&
  options.proxyUrl === undefined;

/** Kinds that a browser may get past. */
const RENDERED_KINDS: ReadonlySet<BlockedKind> = new Set<BlockedKind>(['challenge', 'denied', 'consent', 'js-shell']);

/** Whether the server refused the plain fetch, so that the browser must send the request itself. */
const isRefused = (blocked: Plan['blocked']): boolean => blocked?.kind === 'challenge' || blocked?.kind === 'denied';

const EARLY = 'an early response was requested';
const LIKE_OTHERS = 'its scripts were not run: they changed nothing on other pages of the same template';
const WAITING: ReadonlySet<string> = new Set(['media-idle', 'network-idle']);
/**
 * Status codes that servers send to clients that they do not recognize as a browser. 429 is not included, because it
 * means too many requests.
 */
const REFUSALS: ReadonlySet<number> = new Set([403, 503]);

/** Unreadable media types, empty successful responses and bad redirects are the same in a browser. */
const mayRetry = ({ name, facts: { mediaType, targetStatus } }: Problem) =>
  name === 'AssertionFailureError' && mediaType === undefined && !(Number(targetStatus) < 400);

export const isRefusal = (error: unknown): boolean =>
  isGuardRefusal(error) || (error instanceof Problem && error.name === 'ParamValidationError');

/** Only a browser applies style sheets. */
const NOT_RENDERED = 'This page could not be rendered; this is its source, whose text may include hidden parts.';
