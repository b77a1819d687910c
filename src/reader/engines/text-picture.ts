/** Pictures of targets that are text: a browser draws the text as a page of its own. */
import { escapeText } from '#html/serialize.ts';
import { picturesWanted } from '../formats/pictures.ts';
import { isHtml, type Snapshot } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';

/** More than this is below the end of any picture. */
const MOST_CHARACTERS = 1_000_000;

/** The same snapshot with the pictures that were asked for. Throws what the browser throws. */
export async function withPictures(snapshot: Snapshot, visit: Visit, browser: Engine): Promise<Snapshot> {
  const wanted = picturesWanted(visit.options);
  if (snapshot.file || isHtml(snapshot) || !(wanted.screenshot || wanted.pageshot)) return snapshot;
  let drawn: Snapshot = snapshot;
  for await (const seen of browser.visit(drawing(snapshot.text, visit))) drawn = seen;
  const { screenshot, pageshot } = drawn;
  return { ...snapshot, ...(screenshot && { screenshot }), ...(pageshot && { pageshot }) };
}

/** What the caller asked of the page is not done to ours. */
const drawing = (text: string, { options, deadline, signal, keyed, folder }: Visit): Visit => ({
  url: 'about:blank',
  html: `<!DOCTYPE html><meta charset="utf-8"><title>Text</title><style>pre { white-space: pre-wrap; overflow-wrap: anywhere }</style><pre>\n${escapeText(text.slice(0, MOST_CHARACTERS))}</pre>`,
  options: {
    ...options,
    respondTiming: 'resource-idle',
    waitForSelector: [],
    targetSelector: [],
    injectPageScript: [],
    injectFrameScript: [],
    setCookies: [],
    removeOverlay: false,
    exportStorageState: false,
    storageState: undefined,
    preloadUrl: undefined,
    customHeader: undefined,
    proxyUrl: undefined,
  },
  deadline,
  signal,
  keyed,
  folder,
});
