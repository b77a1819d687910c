import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTrace, readTraceParent, serverTiming, traceIteration, traceStep } from './trace.ts';

describe('a trace', () => {
  it('lists its spans in order of their start, with their facts', async () => {
    const trace = createTrace({ startedAt: performance.now() - 100 });
    const end = trace.span('dns');
    trace.note('key_check', trace.startedAt + 1, trace.startedAt + 3);
    end({ status: 1 });
    trace.within({ result: 2 }).span('parse', { more: true });
    trace.count('bytes', 5);
    trace.count('bytes', 6);
    const { spans, counts, duration_ms: whole } = trace.shown();
    expect(spans.map(({ name }) => name)).toEqual(['key_check', 'dns', 'parse']);
    expect(spans[0]).toEqual({ name: 'key_check', start_ms: 1, duration_ms: 2 });
    expect(spans[1]).toMatchObject({ status: 1 });
    expect(spans[2]).toMatchObject({ result: 2, more: true });
    expect(counts).toEqual({ bytes: 11 });
    expect(whole).toBeGreaterThanOrEqual(100);
  });

  it('keeps the least favorable cache outcome, and each engine once', () => {
    const trace = createTrace();
    for (const word of ['hit', 'miss', 'stale']) trace.fact('cache', word);
    for (const engine of ['direct', 'browser', 'direct']) trace.fact('engine', engine);
    expect(trace.shown()).toMatchObject({ cache: 'miss', engine: 'direct, browser' });
  });

  it('is limited in length', () => {
    const trace = createTrace();
    for (let at = 0; at < 10_000; at++) trace.span('dns')();
    expect(trace.shown().spans).toHaveLength(300);
  });

  it('records work that succeeds or fails', async () => {
    const trace = createTrace();
    await expect(traceStep('dns', trace, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    async function* values() {
      yield 1;
      throw new Error('no more');
    }
    const seen: number[] = [];
    await expect(
      (async () => {
        for await (const value of traceIteration('model', trace, values())) seen.push(value);
      })(),
    ).rejects.toThrow('no more');
    expect(seen).toEqual([1]);
    expect(trace.shown().spans.map(({ name }) => name)).toEqual(['dns', 'model']);
    expect(await traceStep('dns', undefined, async () => 7)).toBe(7);
  });
});

describe('traceparent', () => {
  it('is read if valid, and ignored otherwise', () => {
    const id = '0af7651916cd43dd8448eb211c80319c';
    const span = 'b7ad6b7169203331';
    expect(readTraceParent(`00-${id}-${span}-01`)).toEqual({ traceId: id, spanId: span, sampled: true });
    expect(readTraceParent(`00-${id}-${span}-00`)?.sampled).toBe(false);
    // For later versions, the known fields are parsed.
    expect(readTraceParent(`cc-${id}-${span}-03-more`)?.sampled).toBe(true);
    for (const wrong of [
      `ff-${id}-${span}-01`,
      `00-${'0'.repeat(32)}-${span}-01`,
      `00-${id}-${'0'.repeat(16)}-01`,
      `00-${id.toUpperCase()}-${span}-01`,
      '',
      undefined,
      [id],
    ]) {
      expect(readTraceParent(wrong as string)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = readTraceParent(text);
        return read === undefined || /^[\da-f]{32}$/.test(read.traceId);
      }),
      { seed: 10 },
    );
  });
});

it('becomes a Server-Timing header with the sum of each step', () => {
  const trace = createTrace({ startedAt: performance.now() });
  trace.note('dns', trace.startedAt, trace.startedAt + 2);
  trace.note('dns', trace.startedAt + 3, trace.startedAt + 4.5);
  trace.fact('cache', 'hit');
  expect(serverTiming(trace.shown())).toMatch(/^dns;dur=3\.5, cache_outcome;desc="hit", total;dur=[\d.]+$/);
});
