/**
 * Checks that the types of the client match the responses of the APIs. The compiler does the checking
 * (`npm run types`).
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Health as ServerHealth } from '#api/health.ts';
import type { JobJson } from '#batch/index.ts';
import type { CrawlView } from '#crawl/index.ts';
import type { GivenOptions, Page as ServerPage } from '#reader/index.ts';
import type { Answer } from '#search/index.ts';
import { clientOptions } from '../../scripts/client-options.ts';
import type { BatchJob, CrawlJob, FoundPage, Health, Page, ReadOptions } from './index.ts';

/** Details are only for callers inside the server. */
type ServerResult = Omit<Answer['results'][number], 'details'>;

describe('types of answers', () => {
  it('a page', () => {
    expectTypeOf<ServerPage>().toExtend<Page>();
    expectTypeOf<keyof Page>().toEqualTypeOf<keyof ServerPage>();
    expectTypeOf<keyof NonNullable<Page['explanation']>>().toEqualTypeOf<
      keyof NonNullable<ServerPage['explanation']>
    >();
  });

  it('a result', () => {
    expectTypeOf<ServerResult>().toExtend<FoundPage>();
    expectTypeOf<keyof FoundPage>().toEqualTypeOf<keyof ServerResult>();
  });

  it('a batch job', () => {
    expectTypeOf<JobJson>().toEqualTypeOf<BatchJob>();
  });

  it('a crawl', () => {
    expectTypeOf<CrawlView>().toEqualTypeOf<CrawlJob>();
  });

  it('health', () => {
    expectTypeOf<ReturnType<ServerHealth['stores']>>().toExtend<Health['stores']>();
    expectTypeOf<ReturnType<ServerHealth['browser']>>().toEqualTypeOf<Health['browser']>();
  });
});

it('options match the tables', () => {
  expect(readFileSync(path.join(import.meta.dirname, '../generated/client-options.ts'), 'utf8')).toBe(clientOptions());
  expectTypeOf<keyof ReadOptions>().toEqualTypeOf<Exclude<keyof GivenOptions, 'url' | 'html' | 'file' | 'pdf'>>();
});
