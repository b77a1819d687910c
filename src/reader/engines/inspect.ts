/** Finds out whether a snapshot shows the content or what was sent in its place. */
import { hasMuchSource } from '../blocked/much-source.ts';
import type { Renderer } from '../renderer.ts';
import { isHtml, type Snapshot } from '../snapshot.ts';

/** Maximum characters of a page that is examined; larger ones are content. */
const MAX_EXAMINED_CHARACTERS = 2_000_000;

export type Inspect = (snapshot: Snapshot, signal: AbortSignal) => Promise<Snapshot>;

/** Returns the snapshot with `blocked` set. Pages with much text are not parsed for this. */
export const createInspect =
  (renderer: Pick<Renderer, 'examine'>): Inspect =>
  async (snapshot, signal) => {
    if (snapshot.blocked !== undefined || snapshot.file || snapshot.document) return snapshot;
    const { text, engine } = snapshot;
    const answer = { url: snapshot.url, status: snapshot.status, response: snapshot.responseMarks };
    if (!isHtml(snapshot)) {
      // The tables of phrases are needed only for errors, so they are not loaded for other texts.
      if (answer.status < 400) return { ...snapshot, blocked: null };
      const { examineText } = await import('../blocked/examine-text.ts');
      return { ...snapshot, blocked: examineText(text, answer) ?? null };
    }
    // Rendered pages may hide much text, so only their tree shows how much is visible.
    const isLong = text.length > MAX_EXAMINED_CHARACTERS || (engine !== 'browser' && hasMuchSource(text));
    if (isLong) return { ...snapshot, blocked: null };
    try {
      return { ...snapshot, blocked: (await renderer.examine(text, answer, signal)) ?? null };
    } catch {
      signal.throwIfAborted();
      // A page that cannot be processed fails when it is rendered, with a message that says why.
      return snapshot;
    }
  };
