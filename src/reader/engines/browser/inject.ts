/**
 * Scripts from the caller, which run in the page's own world (docs/reference/wire/reader.md, Selectors and page
 * changes).
 */
import { Script } from 'node:vm';
import type { CDPSession, Page } from 'playwright-core';

export interface InjectedScripts {
  readonly page: readonly string[];
  readonly frame: readonly string[];
}

/** Replaces each entry that is a URL with the script fetched from that URL; a failed fetch fails the read. */
export async function fetchScripts(
  entries: readonly string[],
  fetchScript: (url: string, signal: AbortSignal) => Promise<string>,
  signal: AbortSignal,
): Promise<string[]> {
  return Promise.all(entries.map((entry) => (isUrl(entry) ? fetchScript(entry.trim(), signal) : entry)));
}

const isUrl = (entry: string) => /^\s*https?:\/\/\S+\s*$/i.test(entry) && URL.canParse(entry.trim());

/**
 * Runs the scripts after each navigation commits, before the scripts of the document. Adds `waitForSelector(css)` to
 * the page. Each script is installed separately as source: one that fails does not affect the others, and a page's ban
 * on `eval` does not apply.
 */
export async function installScripts(target: Page, { page, frame }: InjectedScripts): Promise<void> {
  if (!page.length && !frame.length) return;
  const sources = [
    HELPER,
    ...page.map((code) => `if (window.parent === window) {\n${wrapScript(code)}\n}`),
    ...frame.map(wrapScript),
  ];
  for (const content of sources) await target.addInitScript({ content });
}

/** Resolves when the promises of the scripts have settled. The caller must limit the waiting time. */
export async function injectedScriptsSettled(session: CDPSession): Promise<void> {
  const expression = 'Promise.allSettled(globalThis.__lecternInjected ?? []).then(() => true)';
  await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
}

/**
 * Wraps a script so that its promise, if any, is registered. The script is used as an expression; if that does not
 * compile, unchanged; if that does not compile either, as the body of an async function.
 */
function wrapScript(code: string): string {
  const expression = code.replace(/;\s*$/, '');
  if (compiles(`(${expression}\n)`)) return `__lecternInjected.push(${expression}\n);`;
  return compiles(code) ? code : `__lecternInjected.push((async () => {\n${code}\n})());`;
}

/** Only parses the caller's code; does not run it. */
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
