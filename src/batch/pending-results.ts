/** Results of a run that have not been written yet. */
import type { Outcome } from './run-line.ts';

/** A write is due after this number of results or bytes, or this long after the first result. */
const WRITTEN_LINES = 64;
const WRITTEN_BYTES = 1024 * 1024;
const WRITTEN_MS = 1_000;

/** Collects results that have not been written yet. */
export function createResults(from: number, now: () => number) {
  let doneBytes = from;
  let texts: Record<Outcome['kind'], string[]> = { output: [], errors: [] };
  let length = 0;
  let tokens = 0;
  let since: number | undefined;
  return {
    add(outcome: Outcome, end: number) {
      texts[outcome.kind].push(outcome.text);
      length += outcome.text.length;
      tokens += outcome.tokens;
      doneBytes = end;
      since ??= now();
    },
    get empty() {
      return since === undefined;
    },
    get full() {
      const lines = texts.output.length + texts.errors.length;
      return lines >= WRITTEN_LINES || length >= WRITTEN_BYTES || (since !== undefined && now() - since >= WRITTEN_MS);
    },
    take() {
      const taken = {
        doneBytes,
        output: Buffer.from(texts.output.join('')),
        errors: Buffer.from(texts.errors.join('')),
        completed: texts.output.length,
        failed: texts.errors.length,
        tokens,
      };
      texts = { output: [], errors: [] };
      length = 0;
      tokens = 0;
      since = undefined;
      return taken;
    },
  };
}
