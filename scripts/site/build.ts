/** Builds the documentation site into dist/docs: pages as HTML and Markdown, a search index and llms.txt. */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { collectLicenses } from '../bundle.mjs';
import { buildIndex, type Index } from './find.ts';
import { markdownUrl, pageHtml } from './layout.ts';
import { llmsFull, llmsIndex } from './llms.ts';
import { BASE, type SitePage, sitePages } from './pages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the text of each file, keyed by its path below dist/docs. */
export async function siteFiles(pages: readonly SitePage[] = sitePages(root)): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  /** The modules that are part of the files. */
  const inputs: string[] = [];
  /** Adds a file with a content hash in its name and returns its URL path. */
  const asset = async (entry: string, ending: string) => {
    const { outputFiles, metafile } = await build({
      entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
      bundle: true,
      write: false,
      metafile: true,
      absWorkingDir: root,
      minify: true,
      format: 'esm',
      target: 'es2022',
      charset: 'utf8',
      // package.json says that modules do nothing when they are imported. Those of the site do.
      ignoreAnnotations: true,
      logLevel: 'warning',
    });
    inputs.push(...Object.keys(metafile.inputs));
    const { text } = outputFiles[0]!;
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const name = `${path.parse(entry).name}.${digest}.${ending}`;
    files.set(name, text);
    return BASE + name;
  };
  const style = await asset('style.css', 'css');
  const script = await asset('page.ts', 'js');
  for (const page of pages) {
    files.set(`${page.slug || 'index'}.html`, pageHtml(page, pages, { style, script }));
    files.set(markdownUrl(page).slice(BASE.length), page.markdown);
  }
  files.set('search.json', JSON.stringify(searchIndex(pages)));
  files.set('licences.txt', await collectLicenses(inputs));
  files.set('llms.txt', llmsIndex(pages));
  files.set('llms-full.txt', llmsFull(pages));
  return files;
}

/** Builds the search index. Entries refer to pages by index, to store each title once. */
export const searchIndex = (pages: readonly SitePage[]): Index =>
  buildIndex(
    pages.map(({ slug, title }) => [BASE + slug, title] as const),
    pages.flatMap(({ entries }, page) => entries.map((entry) => ({ page, ...entry }))),
  );

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = path.join(root, 'dist/docs');
  rmSync(target, { recursive: true, force: true });
  for (const [name, text] of await siteFiles()) {
    const file = path.join(target, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
