/** Shows progress on the last line of the terminal, or nothing if there is no terminal. */
import type { CliContext } from './context.ts';

export interface Progress {
  /** Shows a line; limits how often it changes. */
  show(line: string): void;
  /** Prints a permanent line above the progress. */
  note(line: string): void;
  /** Clears the progress line. */
  end(): void;
}

const MIN_INTERVAL_MS = 80;

export function createProgress({ rewrite, note, width }: Pick<CliContext, 'rewrite' | 'note' | 'width'>): Progress {
  let shownAt = 0;
  let shown = '';
  return {
    show(line) {
      if (!rewrite || (shown !== '' && performance.now() - shownAt < MIN_INTERVAL_MS)) return;
      shownAt = performance.now();
      // A wrapped line could not be overwritten.
      shown = line.slice(0, Math.max(width() - 1, 1));
      rewrite(shown);
    },
    note(line) {
      if (shown) rewrite?.('');
      note(line);
      if (shown) rewrite?.(shown);
    },
    end() {
      if (shown) rewrite?.('');
      shown = '';
    },
  };
}

const BAR_WIDTH = 30;

export const count = (value: number): string => value.toLocaleString('en-US');

/** `[######----]  61 %`. */
export function bar(share: number, width: number = BAR_WIDTH): string {
  const full = Math.floor(Math.min(share, 1) * width);
  return `[${'#'.repeat(full)}${'-'.repeat(width - full)}] ${`${Math.floor(share * 100)} %`.padStart(5)}`;
}
