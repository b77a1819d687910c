import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';
import { METRICS } from './metrics-table.ts';

const linesOf = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(name));

describe('the table of metrics', () => {
  it('follows the naming rules of Prometheus', () => {
    for (const [name, { type, meaning }] of Object.entries(METRICS)) {
      expect(name).toMatch(/^lectern_[a-z_]+$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(meaning).toMatch(/[.)]$/);
    }
  });
});

describe('metrics', () => {
  it('sum counters by their labels', async () => {
    const metrics = createMetrics();
    metrics.add('lectern_tokens_total', ['reader'], 5);
    metrics.add('lectern_tokens_total', ['reader'], 6);
    metrics.add('lectern_tokens_total', ['search']);
    expect(await linesOf(metrics, 'lectern_tokens_total')).toEqual([
      'lectern_tokens_total{endpoint="reader"} 11',
      'lectern_tokens_total{endpoint="search"} 1',
    ]);
  });

  it('put values into buckets with inclusive upper bounds', async () => {
    const metrics = createMetrics();
    for (const value of [0.001, 0.005, 0.3, 500]) metrics.observe('lectern_model_wait_seconds', ['m'], value);
    const lines = await linesOf(metrics, 'lectern_model_wait_seconds');
    expect(lines).toContain('lectern_model_wait_seconds_bucket{model="m",le="0.005"} 2');
    expect(lines).toContain('lectern_model_wait_seconds_bucket{model="m",le="0.25"} 2');
    expect(lines).toContain('lectern_model_wait_seconds_bucket{model="m",le="0.5"} 3');
    expect(lines).toContain('lectern_model_wait_seconds_bucket{model="m",le="120"} 3');
    expect(lines).toContain('lectern_model_wait_seconds_bucket{model="m",le="+Inf"} 4');
    expect(lines).toContain('lectern_model_wait_seconds_count{model="m"} 4');
    expect(lines).toContain('lectern_model_wait_seconds_sum{model="m"} 500.306');
  });

  it('read gauges on request, and skip a gauge that fails', async () => {
    const metrics = createMetrics();
    let pages = 1;
    metrics.read('lectern_browser_pages', () => [[[], pages]]);
    metrics.read('lectern_batch_jobs', async () => {
      throw new Error('the database is away');
    });
    expect(await linesOf(metrics, 'lectern_browser_pages ')).toEqual(['lectern_browser_pages 1']);
    pages = 2;
    expect(await linesOf(metrics, 'lectern_browser_pages ')).toEqual(['lectern_browser_pages 2']);
    expect(await linesOf(metrics, 'lectern_batch_jobs')).toEqual([]);
  });

  it('escape label values', async () => {
    const metrics = createMetrics();
    metrics.add('lectern_search_asked_total', ['a "b"\\c\nd', 'failed']);
    expect(await linesOf(metrics, 'lectern_search_asked_total')).toEqual([
      'lectern_search_asked_total{provider="a \\"b\\"\\\\c\\nd",outcome="failed"} 1',
    ]);
  });
});
