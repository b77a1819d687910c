/** Builds the documentation site into dist/docs: pages as HTML and as Markdown, a search index, llms.txt. */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Index } from './find.ts';
import { markdownAddress, pageHtml } from './layout.ts';
import { llmsFull, llmsIndex } from './llms.ts';
import { BASE, type SitePage, sitePages } from './pages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** File name below dist/docs to text. */
export async function siteFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  /** Adds a file whose name changes with its content, and gives its address. */
  const asset = async (entry: string, ending: string) => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      target: 'es2022',
      charset: 'utf8',
      logLevel: 'warning',
    });
    const { text } = outputFiles[0]!;
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const name = `${path.parse(entry).name}.${digest}.${ending}`;
    files.set(name, text);
    return BASE + name;
  };
  const style = await asset('style.css', 'css');
  const script = await asset('search.ts', 'js');
  const pages = sitePages(root);
  for (const page of pages) {
    files.set(`${page.address || 'index'}.html`, pageHtml(page, pages, { style, script }));
    files.set(markdownAddress(page).slice(BASE.length), page.markdown);
  }
  files.set('search.json', JSON.stringify(searchIndex(pages)));
  files.set('llms.txt', llmsIndex(pages));
  files.set('llms-full.txt', llmsFull(pages));
  return files;
}

/** Page titles once, entries by the number of their page. */
export const searchIndex = (pages: readonly SitePage[]): Index => ({
  pages: pages.map(({ address, title }) => [BASE + address, title] as const),
  entries: pages.flatMap(({ entries }, page) => entries.map(({ id, title, text }) => [page, id, title, text] as const)),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = path.join(root, 'dist/docs');
  rmSync(target, { recursive: true, force: true });
  for (const [name, text] of await siteFiles()) {
    const file = path.join(target, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
