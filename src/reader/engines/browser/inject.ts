/** Scripts of the caller, run in the page's own world (contract, section 10). */
import { Script } from 'node:vm';
import type { CDPSession, Page } from 'playwright-core';

export interface Injected {
  readonly page: readonly string[];
  readonly frame: readonly string[];
}

/** Entries that are an address become what is found there; failing to fetch one is a problem of the caller's. */
export async function gatherScripts(
  entries: readonly string[],
  fetchScript: (url: string, signal: AbortSignal) => Promise<string>,
  signal: AbortSignal,
): Promise<string[]> {
  return Promise.all(entries.map((entry) => (isAddress(entry) ? fetchScript(entry.trim(), signal) : entry)));
}

const isAddress = (entry: string) => /^\s*https?:\/\/\S+\s*$/i.test(entry) && URL.canParse(entry.trim());

/**
 * Has the scripts run whenever a navigation commits, before the scripts of the document. The page is offered
 * `waitForSelector(css)`. Each script is sent on its own, as source: one that fails leaves the others alone, and a page
 * that forbids `eval` forbids nothing here.
 */
export async function installScripts(target: Page, { page, frame }: Injected): Promise<void> {
  if (!page.length && !frame.length) return;
  const sources = [
    HELPER,
    ...page.map((code) => `if (window.parent === window) {\n${registered(code)}\n}`),
    ...frame.map(registered),
  ];
  for (const content of sources) await target.addInitScript({ content });
}

/** Resolves when the scripts' promises have settled; the caller bounds the wait. */
export async function scriptsSettled(session: CDPSession): Promise<void> {
  const expression = 'Promise.allSettled(globalThis.__lecternInjected ?? []).then(() => true)';
  await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
}

/** The script so written that its promise is known where it has one: as an expression, as it is, or as a function's body. */
function registered(code: string): string {
  const expression = code.replace(/;\s*$/, '');
  if (compiles(`(${expression}\n)`)) return `__lecternInjected.push(${expression}\n);`;
  return compiles(code) ? code : `__lecternInjected.push((async () => {\n${code}\n})());`;
}

/** Parses only; nothing of the caller's runs here. */
function compiles(code: string): boolean {
  try {
    new Script(code);
    return true;
  } catch {
    return false;
  }
}

const HELPER = `Object.defineProperty(globalThis, '__lecternInjected', { value: [], configurable: true });
globalThis.waitForSelector ??= (css) => new Promise((resolve, reject) => {
  let found;
  try { found = document.querySelector(css); } catch (error) { reject(error); return; }
  if (found) { resolve(found); return; }
  new MutationObserver((_, observer) => {
    const element = document.querySelector(css);
    if (element) { observer.disconnect(); resolve(element); }
  }).observe(document, { childList: true, subtree: true, attributes: true });
});`;
