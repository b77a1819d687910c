/** How far the document of the main frame has come, as it tells itself through tracker.ts. */
import type { Tidings } from './tracker.ts';

export interface Life {
  /** Whether there is a document at all. */
  readonly started: boolean;
  readonly interactiveAt: number | undefined;
  readonly loadedAt: number | undefined;
  readonly idle: boolean;
  readonly idleSeen: boolean;
  elements: number;
  /** Counts the moments at which a capture is worth while: interactive, load, each mutation-idle. */
  readonly moments: number;
  /** Takes a message of the document in; returns its kind. */
  hear(message: string): Tidings[0];
  /**
   * The document wanted to go elsewhere and stays. Chromium tells one that it had not read to its end no more of
   * itself: it is as far as it gets.
   */
  stay(): void;
}

export function watchLife(): Life {
  const life = {
    started: false,
    interactiveAt: undefined as number | undefined,
    loadedAt: undefined as number | undefined,
    idle: false,
    idleSeen: false,
    elements: 0,
    moments: 0,
    hear(message: string): Tidings[0] {
      const [kind, elements] = JSON.parse(message) as Tidings;
      life.elements = elements;
      switch (kind) {
        case 'start':
          Object.assign(life, { started: true, interactiveAt: undefined, loadedAt: undefined });
          life.idle = life.idleSeen = false;
          break;
        case 'interactive':
          life.interactiveAt = performance.now();
          break;
        case 'load':
          life.loadedAt = performance.now();
          break;
        case 'idle':
          life.idle = life.idleSeen = true;
          break;
        case 'busy':
          life.idle = false;
      }
      if (kind === 'interactive' || kind === 'load' || kind === 'idle') life.moments++;
      return kind;
    },
    stay() {
      if (!life.started || life.interactiveAt !== undefined) return;
      life.interactiveAt = performance.now();
      life.loadedAt = life.interactiveAt;
      life.idle = life.idleSeen = true;
      life.moments++;
    },
  };
  return life;
}
