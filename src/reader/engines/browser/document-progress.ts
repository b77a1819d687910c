/** The progress of the main frame's document, as reported by tracker.ts. */
import type { TrackerMessage } from './tracker.ts';

export interface DocumentProgress {
  /** Whether a document exists. */
  readonly started: boolean;
  readonly interactiveAt: number | undefined;
  readonly loadedAt: number | undefined;
  readonly idle: boolean;
  readonly idleSeen: boolean;
  /** Whether the document has loaded and nothing can change it any more. */
  readonly still: boolean;
  /** Whether the document is being scrolled through. */
  readonly scrolling: boolean;
  elements: number;
  /** Number of events so far that make a capture useful: interactive, load, each mutation-idle. */
  readonly moments: number;
  /** Processes a message of the document; returns its kind. */
  handle(message: string): TrackerMessage[0];
  /**
   * Call when the document tried to navigate but remains loaded. Chromium then stops parsing it, so it is considered
   * loaded.
   */
  markStayed(): void;
}

/** `now`: the clock of the page. */
export function trackProgress(now: () => number): DocumentProgress {
  const progress = {
    started: false,
    interactiveAt: undefined as number | undefined,
    loadedAt: undefined as number | undefined,
    idle: false,
    idleSeen: false,
    still: false,
    scrolling: false,
    elements: 0,
    moments: 0,
    handle(message: string): TrackerMessage[0] {
      const [kind, elements] = JSON.parse(message) as TrackerMessage;
      progress.elements = elements;
      switch (kind) {
        case 'start':
          Object.assign(progress, { started: true, interactiveAt: undefined, loadedAt: undefined });
          progress.idle = progress.idleSeen = progress.still = progress.scrolling = false;
          break;
        case 'interactive':
          progress.interactiveAt = now();
          break;
        case 'load':
        case 'still':
          progress.loadedAt = now();
          progress.still = kind === 'still';
          break;
        case 'idle':
          progress.idle = progress.idleSeen = true;
          break;
        case 'busy':
          progress.idle = false;
          break;
        case 'scroll':
        case 'scrolled':
          progress.scrolling = kind === 'scroll';
      }
      if (kind === 'interactive' || kind === 'load' || kind === 'idle') progress.moments++;
      return kind;
    },
    markStayed() {
      if (!progress.started || progress.interactiveAt !== undefined) return;
      progress.interactiveAt = now();
      progress.loadedAt = progress.interactiveAt;
      progress.idle = progress.idleSeen = true;
      progress.moments++;
    },
  };
  return progress;
}
