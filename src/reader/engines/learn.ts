/** Learns from pages that were both fetched and rendered whether scripts add anything to pages like them. */
import type { Renderer } from '../renderer.ts';
import type { Sites } from '../sites.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Template } from './template.ts';

/** Beside the read: nobody waits for it, and it may fail. */
export type Learn = (fetched: Snapshot, rendered: Snapshot, template: Template) => void;

/** Comparing two pages costs as much as reading them: when there is much to do, reading comes first. */
const MOST_AT_ONCE = 2;

export function createLearner(renderer: Pick<Renderer, 'isUnchanged'>, sites: Sites): Learn {
  let comparing = 0;

  const compare = async ({ text, url }: Snapshot, rendered: Snapshot, template: Template): Promise<void> => {
    comparing++;
    try {
      sites.note(url, template, await renderer.isUnchanged(text, rendered.text, url));
    } finally {
      comparing--;
    }
  };

  return (fetched, rendered, template) => {
    if (fetched.status !== 200 || rendered.status !== 200 || !rendered.settled) return;
    // A page that sent the reader elsewhere is not what was fetched, and what another is told of its data is not known.
    const isOther = withoutFragment(rendered.url) !== withoutFragment(fetched.url);
    if (isOther || rendered.loadsData) sites.note(fetched.url, template, false);
    else if (comparing < MOST_AT_ONCE) compare(fetched, rendered, template).catch(() => {});
  };
}

const withoutFragment = (url: string) => url.split('#', 1)[0];
