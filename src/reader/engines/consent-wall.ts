/** Reads a page again without its overlays if a consent wall stands in place of the content. */
import { Problem } from '#errors.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';
import type { Inspect } from './inspect.ts';

const REMOVED = 'A consent wall covered this page and was removed.';

/**
 * The last snapshot of the page without its overlays; `undefined` if that is not the content either, for example
 * because the site sends the content only after consent.
 */
export async function readBehindConsentWall(
  visit: Visit,
  browser: Engine,
  inspect: Inspect,
): Promise<Snapshot | undefined> {
  let last: Snapshot | undefined;
  try {
    const options = { ...visit.options, removeOverlay: true };
    for await (const snapshot of browser.visit({ ...visit, options })) last = snapshot;
  } catch (error) {
    visit.signal.throwIfAborted();
    if (!(error instanceof Problem)) throw error;
  }
  const seen = last && (await inspect(last, visit.signal));
  return seen && !seen.blocked ? { ...seen, notes: [...seen.notes, REMOVED] } : undefined;
}
