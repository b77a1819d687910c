/** `lectern read --site`: a whole site through the client's crawl. */
import type { ReadOptions } from '#client/index.ts';
import type { CliContext } from './context.ts';
import type { ReadFlags } from './read.ts';

export interface SiteFlags {
  readonly limit?: number;
  readonly depth?: number;
  readonly scope?: 'path' | 'host' | 'domain';
  readonly include?: string[];
  readonly exclude?: string[];
  readonly noSitemap?: string;
  readonly noRobots?: string;
  readonly delay?: number;
  readonly resume?: string;
}

interface SiteReading {
  readonly options: ReadOptions;
  readonly flags: ReadFlags;
  readonly context: CliContext;
}

export async function readSite(_what: readonly string[], _reading: SiteReading): Promise<void> {
  throw new Error('not yet');
}
