/** Documents that are none: nothing was sent, or all that they show is a file. */
import { within } from '#concurrency/deadline.ts';
import { embeddedFile, soleEmbedded } from './embedded.ts';
import { FileTarget, withoutContent } from './failures.ts';
import type { Network } from './network.ts';
import type { TakenDocument } from './snapshot.ts';
import type { World } from './world.ts';

/** A page that shows nothing but a file has few elements of its own. */
const MOST_ELEMENTS = 60;
const LOOK_MS = 1_000;

/** What a browser makes of nothing. */
const BARE = /^<html><head><\/head><body><\/body><\/html>$/;

/** Throws AssertionFailureError when the target sent nothing, FileTarget when the page only shows a file. */
export async function refuseEmpty({ html, captured }: TakenDocument, network: Network, world: World): Promise<void> {
  const main = network.main();
  if (!main || captured.elements > MOST_ELEMENTS) return;
  if (BARE.test(html)) {
    // Scripts may have emptied it: that is a page.
    const bytes = await within(LOOK_MS, main.response!.body()).catch(() => undefined);
    if (bytes?.length === 0) throw withoutContent(main.status);
    return;
  }
  if (!/<(?:i?frame|embed|object)\b/i.test(html)) return;
  const embedded = await world.call(soleEmbedded, undefined, LOOK_MS).catch(() => undefined);
  const file = embedded && embeddedFile(embedded, (url) => network.framed(url));
  if (file) throw new FileTarget(file, embedded.type);
}
