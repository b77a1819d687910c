/**
 * Compares pages that were both fetched and rendered, to learn whether scripts add content to pages of the same
 * template.
 */
import type { Renderer } from '../renderer.ts';
import type { SiteRecords } from '../site-records.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Template } from './template.ts';

/** Compares a fetched page with its rendering, in the background; it may fail. */
export type CompareRendered = (fetched: Snapshot, rendered: Snapshot, template: Template) => void;

/** A comparison costs as much as a read, so comparisons are skipped while the server is busy. */
const MAX_CONCURRENT = 2;

export function createRenderComparison(renderer: Pick<Renderer, 'isUnchanged'>, sites: SiteRecords): CompareRendered {
  let comparing = 0;

  const compare = async ({ text, url }: Snapshot, rendered: Snapshot, template: Template): Promise<void> => {
    comparing++;
    try {
      await sites.recordComparison(url, template, await renderer.isUnchanged(text, rendered.text, url));
    } finally {
      comparing--;
    }
  };

  return (fetched, rendered, template) => {
    if (fetched.status !== 200 || rendered.status !== 200 || !rendered.settled) return;
    // A page that redirected is a different page from the fetched one; a page that loads data may show different data
    // next time.
    const isOther = withoutFragment(rendered.url) !== withoutFragment(fetched.url);
    if (isOther || rendered.loadsData) void sites.recordComparison(fetched.url, template, false);
    else if (comparing < MAX_CONCURRENT) compare(fetched, rendered, template).catch(() => {});
  };
}

const withoutFragment = (url: string) => url.split('#', 1)[0];
