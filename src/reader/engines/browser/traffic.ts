/** Counts the open requests of a page by resource type, for the timing of snapshots. */
import type { Request } from 'playwright-core';
import { STREAMS } from './routing.ts';
import type { Traffic } from './timing.ts';

/** Resource types that affect only the appearance of the page. */
const MEDIA = new Set(['stylesheet', 'image', 'font', 'media']);

export interface TrafficCounters {
  readonly counts: { readonly resources: Traffic; readonly media: Traffic; readonly all: Traffic };
  /** Whether the page has opened an event stream or a socket. */
  hasStream(): boolean;
  begin(request: Request): void;
  end(request: Request): void;
  /** Records activity that is not tied to an open request, such as data on a stream. */
  touch(): void;
}

/** `now`: the clock of the page. */
export function createTrafficCounters(now: () => number): TrafficCounters {
  const resources = createCounter(now);
  const media = createCounter(now);
  const all = createCounter(now);
  let hasStream = false;
  const open = new Map<Request, Counter[]>();
  return {
    counts: { resources, media, all },
    hasStream: () => hasStream,
    begin(request) {
      const type = request.resourceType();
      if (STREAMS.has(type)) {
        hasStream ||= type !== 'ping';
        for (const counter of [all, resources]) counter.touch();
        return;
      }
      const counters = [all, MEDIA.has(type) ? media : resources];
      for (const counter of counters) counter.begin();
      open.set(request, counters);
    },
    end(request) {
      for (const counter of open.get(request) ?? []) counter.end();
      open.delete(request);
    },
    touch() {
      hasStream = true;
      resources.touch();
    },
  };
}

interface Counter extends Traffic {
  begin(): void;
  end(): void;
  /** Records activity of this kind that is not tied to an open request, such as data on a stream. */
  touch(): void;
}

function createCounter(now: () => number): Counter {
  const state = { open: 0, lastEndAt: now() };
  return {
    get open() {
      return state.open;
    },
    get lastEndAt() {
      return state.lastEndAt;
    },
    begin() {
      state.open++;
    },
    end() {
      state.open--;
      state.lastEndAt = now();
    },
    touch() {
      state.lastEndAt = now();
    },
  };
}
