/** Takes screenshots of targets that are plain text: a browser renders the text as a page. */
import { escapeText } from '#html/serialize.ts';
import { neededScreenshots } from '../formats/needed-screenshots.ts';
import { isHtml, type Snapshot } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';

/** Maximum number of characters, which is more than any picture can show. */
const MAX_CHARACTERS = 1_000_000;

/** Returns the snapshot with the requested pictures. Throws the browser's errors. */
export async function withPictures(snapshot: Snapshot, visit: Visit, browser: Engine): Promise<Snapshot> {
  const needed = neededScreenshots(visit.options);
  if (snapshot.file || isHtml(snapshot) || !(needed.screenshot || needed.pageshot)) return snapshot;
  let drawn: Snapshot = snapshot;
  for await (const seen of browser.visit(visitOf(snapshot.text, visit))) drawn = seen;
  const { screenshot, pageshot } = drawn;
  return { ...snapshot, ...(screenshot && { screenshot }), ...(pageshot && { pageshot }) };
}

/** Options for the target's page do not apply to the page that shows its text. */
const visitOf = (text: string, { options, deadline, signal, keyed, folder }: Visit): Visit => ({
  url: 'about:blank',
  html: `<!DOCTYPE html><meta charset="utf-8"><title>Text</title><style>pre { white-space: pre-wrap; overflow-wrap: anywhere }</style><pre>\n${escapeText(text.slice(0, MAX_CHARACTERS))}</pre>`,
  options: {
    ...options,
    respondTiming: 'resource-idle',
    scroll: undefined,
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
