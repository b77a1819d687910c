/** A program that renders some pages of a folder in reverse order, and prints a digest of each result. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { renderHtml } from '#reader/render.suite.ts';

const [, , folder = '', names = '[]', forms = '[]'] = process.argv;
const digests: Record<string, string> = {};
for (const name of JSON.parse(names).reverse()) {
  const html = readFileSync(path.join(folder, name, 'source.html'), 'utf8');
  const answers = JSON.parse(forms).map((form: object) => {
    const { page, body } = renderHtml(html, { ...form, explain: true });
    return [page, body];
  });
  digests[name] = createHash('sha256').update(JSON.stringify(answers)).digest('hex');
}
process.stdout.write(JSON.stringify(digests));
