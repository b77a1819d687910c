/**
 * Engine `auto`: a fetch first, and the browser when scripts would change what there is to read (contract, section 11).
 * Whether they would is told by the page itself, and by what earlier reads have shown of pages of the same template.
 */
import { Problem } from '#errors.ts';
import { traceStep } from '#telemetry/trace.ts';
import type { Abuse } from '../abuse.ts';
import type { OptionName } from '../options/options.ts';
import type { Options } from '../options/resolve.ts';
import type { Renderer } from '../renderer.ts';
import type { Sites, SiteView } from '../sites.ts';
import { answerFacts, fromFetched, isHtml, type Snapshot } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';
import type { Learn } from './learn.ts';
import type { Template } from './template.ts';
import { withPictures } from './text-picture.ts';

export interface AutoParts {
  readonly direct: Engine;
  readonly browser?: Engine | undefined;
  readonly renderer: Renderer;
  readonly sites?: Sites | undefined;
  readonly learn?: Learn | undefined;
  readonly abuse?: Pick<Abuse, 'check'> | undefined;
}

/** A visit by each engine: their standard time limits differ. */
export interface Visits {
  readonly direct: () => Visit;
  readonly browser: () => Visit;
}

export const withReason = (snapshot: Snapshot, engineReason: string): Snapshot => ({
  ...snapshot,
  engineReason: snapshot.engineReason ?? engineReason,
});

export async function* reasoned(snapshots: AsyncIterable<Snapshot>, reason: string): AsyncGenerator<Snapshot> {
  for await (const snapshot of snapshots) yield withReason(snapshot, reason);
}

export const reasonOf = (required: OptionName): string =>
  required === 'respondWith' ? 'a picture was asked for' : `${required} needs a browser`;

/** Options that a first fetch would go past: what they load comes before the page, or the browser has it of any target. */
const COME_FIRST: readonly OptionName[] = ['preloadUrl', 'storageState', 'exportStorageState'];

export async function* readAuto(
  visits: Visits,
  required: readonly OptionName[],
  parts: AutoParts,
): AsyncGenerator<Snapshot> {
  const { direct, browser, abuse } = parts;
  const first = required.find((name) => COME_FIRST.includes(name));
  if (browser && first) return yield* reasoned(browser.visit(visits.browser()), reasonOf(first));

  const visit = visits.direct();
  let fetched: Snapshot | undefined;
  try {
    for await (const snapshot of direct.visit(visit)) fetched = snapshot;
  } catch (error) {
    // What the browser may do better is worth a second try; what is refused or no page at all is not.
    if (!browser || !(error instanceof Problem) || !mayRetry(error)) throw error;
  }
  if (!fetched) return yield* reasoned(browser!.visit(visits.browser()), 'a plain fetch failed');
  if (fetched.file) return yield withReason(fetched, 'the target is a file');
  if (!isHtml(fetched)) {
    const drawn = browser ? await withPictures(fetched, visits.browser(), browser) : fetched;
    return yield withReason(drawn, 'the target is text');
  }
  if (!browser) return yield await unrendered(fetched, visit, parts);
  abuse?.check(fetched.url, visit.keyed);
  const plan = await planFor(fetched, visit, required, parts);
  if (plan.enough) return yield withReason(fetched, plan.reason);
  yield* rendered(fetched, plan, visits.browser(), required, { ...parts, browser });
}

/** Without a browser a page is its source; the file that it shows and nothing else is read in its stead. */
async function unrendered(fetched: Snapshot, visit: Visit, { direct, renderer }: AutoParts): Promise<Snapshot> {
  const page = withReason(fetched, 'there is no browser here');
  if (fetched.status !== 200 || !/<(?:embed|object|iframe)\b/i.test(fetched.text)) return page;
  const { file } = await renderer.probe(fetched.text, fetched.url, visit.signal);
  if (!file?.alone) return page;
  let shown: Snapshot | undefined;
  try {
    for await (const seen of direct.visit({ ...visit, url: file.address, cameFrom: fetched.url })) shown = seen;
  } catch (error) {
    visit.signal.throwIfAborted();
    if (!(error instanceof Problem)) throw error;
  }
  return shown?.file && shown.status === 200 ? withReason(shown, 'the page shows a file') : page;
}

async function* rendered(
  fetched: Snapshot,
  plan: Plan,
  visit: Visit,
  required: readonly OptionName[],
  { browser, learn }: AutoParts & { readonly browser: Engine },
): AsyncGenerator<Snapshot> {
  const { status, url, text } = fetched;
  yield withReason({ ...fetched, settled: false }, plan.reason);
  let last: Snapshot | undefined;
  try {
    const isAskedAgain = REFUSALS.has(status);
    const from = isAskedAgain ? {} : { url, html: text, answer: answerFacts(fetched) };
    for await (const seen of browser.visit({ ...visit, ...from })) {
      last = isAskedAgain ? seen : fromFetched(fetched, seen);
      yield withReason(last, plan.reason);
    }
  } catch (error) {
    visit.signal.throwIfAborted();
    // The fetched copy is the answer when the browser has none, unless only the browser can give what was asked for.
    if (required.length || isRefusal(error)) throw error;
    yield withReason({ ...fetched, notes: [...fetched.notes, NOT_RENDERED] }, 'the browser gave nothing');
  }
  if (plan.template && last) learn?.(fetched, last, plan.template);
}

/** How a fetched page is read on. */
interface Plan {
  /** The fetched page is the answer. */
  readonly enough: boolean;
  readonly reason: string;
  /** Set when what the browser makes of it is to be held against it. */
  readonly template?: Template | undefined;
}

const enough = (reason: string): Plan => ({ enough: true, reason });
const render = (reason: string, template?: Template): Plan => ({ enough: false, reason, template });

async function planFor(
  fetched: Snapshot,
  { options, signal, trace }: Visit,
  required: readonly OptionName[],
  { renderer, sites }: AutoParts,
): Promise<Plan> {
  const wanted = required[0] ?? options.prefersBrowser[0];
  if (wanted) return render(reasonOf(wanted));
  if (WAITING.has(options.respondTiming)) return render('the caller waits for the page to come to rest');
  if (options.respondTiming === 'html') return enough(EARLY);
  if (REFUSALS.has(fetched.status)) return render(`a plain fetch was answered with ${fetched.status}`);
  const probed = () => renderer.probe(fetched.text, fetched.url, signal);
  const { scripts, styles, sign, template } = await traceStep('probe', trace, probed);
  if (sign !== undefined) return render(sign);
  if (options.respondTiming === 'visible-content') return enough(EARLY);
  if (!scripts && !styles) return enough('no scripts');
  const view = template && siteOf(fetched, template, options, sites);
  const compared = view?.compare ? template : undefined;
  if (view?.scripts === 'add') return render('scripts add to pages like this one of the site', compared);
  // A limit of the caller's is the time in which the best is wanted.
  if (view?.scripts === 'add nothing' && options.timeoutMs === undefined) return enough(LIKE_OTHERS);
  return render(scripts ? 'scripts may add to it' : 'style sheets may hide some of it', compared);
}

function siteOf(
  fetched: Snapshot,
  template: Template,
  options: Options,
  sites: Sites | undefined,
): SiteView | undefined {
  if (!sites || fetched.status !== 200) return undefined;
  const keep = mayLearn(options);
  const view = sites.look(fetched.url, template, keep);
  return { ...view, compare: view.compare && keep };
}

/** Whether anything may be kept of the read, and it is one that anybody would have. */
const mayLearn = (options: Options): boolean =>
  !options.zeroDataRetention &&
  !options.doNotTrack &&
  !options.setCookies.length &&
  options.customHeader === undefined &&
  options.proxyUrl === undefined;

const EARLY = 'an early answer was asked for';
const LIKE_OTHERS = 'its scripts were not run: they changed nothing on other pages of the same template';
const WAITING: ReadonlySet<string> = new Set(['media-idle', 'network-idle']);
/** What servers answer to those whom they take for no browser. Who says 429 wants to be asked less, not again. */
const REFUSALS: ReadonlySet<number> = new Set([403, 503]);

/** A type that cannot be read, and success without content, are the same in a browser; so are redirects to nowhere. */
const mayRetry = ({ name, facts: { mediaType, targetStatus } }: Problem) =>
  name === 'AssertionFailureError' && mediaType === undefined && !(Number(targetStatus) < 400);

export const isRefusal = (error: unknown): boolean =>
  error instanceof Problem && (error.name === 'SecurityCompromiseError' || error.name === 'ParamValidationError');

/** What style sheets hide is known to the browser only. */
const NOT_RENDERED = 'This page could not be rendered, this is its source: what it hides may be in the text.';
