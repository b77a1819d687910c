import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RESPOND_TIMINGS } from '../../options/options.ts';
import {
  isCaptureDue,
  LOOK_AHEAD_MS,
  mayAdvance,
  NETWORK_IDLE_MS,
  nextLookAt,
  type PageState,
  readyAt,
} from './timing.ts';

const quiet = { open: 0, lastEndAt: 1_000 };
const done: PageState = {
  interactiveAt: 500,
  loadedAt: 900,
  mutationIdle: true,
  mutationIdleSeen: true,
  still: false,
  elements: 10,
  hasTitle: true,
  resources: quiet,
  media: { open: 0, lastEndAt: 2_000 },
  network: { open: 0, lastEndAt: 3_000 },
  canAdvance: false,
  advancedUntil: undefined,
};
const plain = { hasScripts: false, waitsForSelector: false };
const never = Number.POSITIVE_INFINITY;

describe('readyAt', () => {
  it('follows the table', () => {
    const at = (timing: (typeof RESPOND_TIMINGS)[number], state: Partial<PageState> = {}, demands = plain) =>
      readyAt({ ...done, ...state }, { timing, ...demands });
    expect(at('html')).toBe(500);
    expect(at('mutation-idle')).toBe(0);
    expect(at('resource-idle')).toBe(1_000 + NETWORK_IDLE_MS);
    expect(at('media-idle')).toBe(2_000 + NETWORK_IDLE_MS);
    expect(at('network-idle')).toBe(3_000 + NETWORK_IDLE_MS);
    expect(at('visible-content')).toBe(3_000 + NETWORK_IDLE_MS);

    const busy = { network: { open: 1, lastEndAt: 0 } };
    expect(at('network-idle', busy)).toBe(never);
    expect(at('resource-idle', busy)).toBe(1_500);
    expect(at('resource-idle', { ...busy, resources: { open: 1, lastEndAt: 0 } })).toBe(never);
    expect(at('media-idle', { ...busy, media: { open: 1, lastEndAt: 0 } })).toBe(never);
    expect(at('resource-idle', { ...busy, mutationIdleSeen: false })).toBe(never);
    expect(at('mutation-idle', { ...busy, mutationIdle: false })).toBe(never);
    expect(at('network-idle', { loadedAt: undefined })).toBe(never);
  });

  it('does not wait for a page that nothing can change, except for its media', () => {
    const still = { ...done, still: true, mutationIdle: false, mutationIdleSeen: false, hasTitle: false };
    for (const timing of ['html', 'visible-content', 'mutation-idle', 'resource-idle'] as const) {
      expect(readyAt(still, { timing, ...plain }), timing).toBe(0);
      expect(readyAt(still, { timing, ...plain, hasScripts: true }), timing).toBe(3_500);
      expect(readyAt(still, { timing, ...plain, waitsForSelector: true }), timing).toBe(never);
    }
    for (const timing of ['media-idle', 'network-idle'] as const)
      expect(readyAt(still, { timing, ...plain }), timing).toBe(3_500);
  });

  it('is late for a page without a title, with scripts, or before its selectors match', () => {
    for (const timing of RESPOND_TIMINGS) {
      expect(readyAt({ ...done, hasTitle: false }, { timing, ...plain }), timing).toBe(3_500);
      expect(readyAt(done, { timing, hasScripts: false, waitsForSelector: true }), timing).toBe(never);
    }
    for (const timing of ['html', 'visible-content', 'mutation-idle'] as const) {
      expect(readyAt(done, { timing, hasScripts: true, waitsForSelector: false }), timing).toBe(3_500);
    }
  });

  it('is never later than network idle, with any timing', () => {
    const traffic = fc.record({ open: fc.nat(2), lastEndAt: fc.nat(5_000) });
    const moment = fc.option(fc.nat(5_000), { nil: undefined });
    const state = fc.record({
      interactiveAt: moment,
      loadedAt: moment,
      mutationIdle: fc.boolean(),
      mutationIdleSeen: fc.boolean(),
      still: fc.boolean(),
      elements: fc.nat(),
      hasTitle: fc.boolean(),
      resources: traffic,
      media: traffic,
      network: traffic,
      canAdvance: fc.boolean(),
      advancedUntil: moment,
    });
    fc.assert(
      fc.property(state, fc.constantFrom(...RESPOND_TIMINGS), fc.boolean(), (page, timing, hasScripts) => {
        const demands = { timing, hasScripts, waitsForSelector: false };
        expect(readyAt(page, demands)).toBeLessThanOrEqual(readyAt(page, { ...demands, timing: 'network-idle' }));
      }),
      { seed: 9 },
    );
  });
});

describe('look-ahead', () => {
  const at = (timing: (typeof RESPOND_TIMINGS)[number], state: Partial<PageState>) =>
    readyAt({ ...done, ...state }, { timing, ...plain });

  it('is awaited after the load if the clock of the page can be advanced', () => {
    for (const timing of ['resource-idle', 'media-idle', 'network-idle'] as const)
      expect(at(timing, { canAdvance: true }), timing).toBe(Math.max(900 + LOOK_AHEAD_MS, at(timing, {})));
    for (const timing of ['html', 'mutation-idle'] as const)
      expect(at(timing, { canAdvance: true }), timing).toBe(at(timing, {}));
    expect(at('resource-idle', { canAdvance: true, loadedAt: undefined })).toBe(500 + LOOK_AHEAD_MS);
    expect(at('resource-idle', { canAdvance: true, still: true })).toBe(0);
  });

  it('leaves the usual time to what runs in real time, once the clock can be advanced no further', () => {
    expect(at('resource-idle', { advancedUntil: 5_000 })).toBe(5_000 + NETWORK_IDLE_MS);
  });
});

describe('mayAdvance', () => {
  const may = (
    timing: (typeof RESPOND_TIMINGS)[number],
    state: Partial<PageState> = {},
    more: Partial<typeof plain> = {},
  ) => mayAdvance(1_000, { ...done, canAdvance: true, ...state }, { timing, ...plain, ...more });
  const open = { open: 1, lastEndAt: 0 };

  it('is true while nothing that the timing awaits is on the network', () => {
    for (const timing of ['resource-idle', 'media-idle', 'network-idle'] as const) {
      expect(may(timing), timing).toBe(true);
      expect(may(timing, { resources: open, network: open }), timing).toBe(false);
    }
    expect(may('resource-idle', { media: open, network: open, loadedAt: undefined })).toBe(true);
    expect(may('media-idle', { media: open, network: open })).toBe(false);
    expect(may('network-idle', { network: open })).toBe(false);
    expect(may('network-idle', { loadedAt: undefined })).toBe(false);
    expect(may('resource-idle', { network: open, hasTitle: false })).toBe(false);
  });

  it('is false for a page that has not started, cannot change, waits for the caller, or is ready', () => {
    expect(may('resource-idle', { interactiveAt: undefined })).toBe(false);
    expect(may('resource-idle', { still: true })).toBe(false);
    expect(may('resource-idle', { canAdvance: false })).toBe(false);
    expect(may('resource-idle', {}, { hasScripts: true })).toBe(false);
    expect(may('resource-idle', {}, { waitsForSelector: true })).toBe(false);
    for (const timing of ['html', 'mutation-idle', 'visible-content'] as const) expect(may(timing), timing).toBe(false);
    expect(mayAdvance(10_000, { ...done, canAdvance: true }, { timing: 'resource-idle', ...plain })).toBe(false);
  });
});

describe('captureDue', () => {
  it('is true at most every 1.2 s, unless the size of the page changed by a twentieth', () => {
    expect(isCaptureDue(0, 10, undefined)).toBe(true);
    const last = { at: 1_000, elements: 100 };
    expect(isCaptureDue(2_199, 105, last)).toBe(false);
    expect(isCaptureDue(2_200, 100, last)).toBe(true);
    expect(isCaptureDue(1_001, 106, last)).toBe(true);
    expect(isCaptureDue(1_001, 94, last)).toBe(true);
  });
});

describe('nextLookAt', () => {
  const loading = { started: true, interactiveAt: undefined, hasChanged: false, lookedAt: 2_000 };
  const interactive = { ...loading, interactiveAt: 3_000, hasChanged: true };

  it('leaves a page that became interactive a moment to get ready, unless only a look shows whether it is', () => {
    for (const timing of ['mutation-idle', 'resource-idle', 'media-idle', 'network-idle'] as const)
      expect(nextLookAt(interactive, timing), timing).toBe(3_150);
    for (const timing of ['html', 'visible-content'] as const) expect(nextLookAt(interactive, timing), timing).toBe(0);
  });

  it('is regular until the page is interactive, and needs an event from then on', () => {
    for (const timing of RESPOND_TIMINGS) {
      expect(nextLookAt(loading, timing), timing).toBe(3_500);
      expect(nextLookAt({ ...interactive, hasChanged: false }, timing), timing).toBe(never);
      expect(nextLookAt({ ...loading, started: false }, timing), timing).toBe(never);
    }
  });
});
