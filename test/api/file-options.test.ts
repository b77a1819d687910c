/** Options about files: `filePassword` and `annotations`, through the whole server. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/office/${name}`, import.meta.url)).toString('base64');

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
async function read(body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<any> {
  const answer = await fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return answer.json();
}

const LOCKED = ['locked-agile.docx', 'locked-standard.docx'];

it.each(LOCKED)('filePassword opens %s, and nothing is cached for callers without it', async (name) => {
  const file = fixture(name);
  const opened = await read({ file, filePassword: 'clay' });
  expect(opened.data.content).toContain('The kiln is fired on Monday at dawn.');
  expect((await read({ file }, { 'x-file-password': 'clay' })).data.content).toContain('Glaze follows.');
  const missing = await read({ file });
  expect(missing).toMatchObject({ code: 422, path: 'filePassword', reason: 'encrypted' });
  const wrong = await read({ file, filePassword: 'tea-leaves' });
  expect(wrong).toMatchObject({ path: 'filePassword', reason: 'wrong password' });
  expect(JSON.stringify(wrong)).not.toContain('tea-leaves');
});

it('filePassword opens a PDF', async () => {
  const file = fixture('asks-for-password.pdf');
  expect(await read({ file })).toMatchObject({ path: 'filePassword', reason: 'encrypted' });
  expect(await read({ file, filePassword: 'no' })).toMatchObject({ path: 'filePassword', reason: 'wrong password' });
});

it('annotations shows comments in the Markdown, in the text or as footnotes', async () => {
  const asked = { file: fixture('locked-agile.docx'), filePassword: 'clay' };
  const inline = await read({ ...asked, annotations: 'inline' });
  expect(inline.data.content).toContain('on Monday{>>Not on Sunday? (Ada)<<} at dawn.');
  const notes = await read(asked, { 'x-annotations': 'footnotes' });
  expect(notes.data.content).toContain('on Monday[^1] at dawn.');
  expect(notes.data.content).toContain('[^1]: Ada: Not on Sunday?');
});

it('both say that they have no effect on a web page', async () => {
  const { data } = await read({ html: '<p>tea</p>', filePassword: 'clay', annotations: 'inline' });
  expect(data.warning).toContain('filePassword and annotations have no effect: the target is not a document.');
});

it('an uploaded message is read with its attachments', async () => {
  const lines = [
    'Subject: Kilns',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'See the list.',
    '--b',
    'Content-Type: text/csv; name=list.csv',
    '',
    'Clay,Price\r\nRed,3',
    '--b--',
  ];
  const data = Buffer.from(lines.join('\r\n')).toString('base64');
  const found = await read({ file: { data, name: 'kilns.eml' } });
  expect(found.data.title).toBe('Kilns');
  expect(found.data.content).toMatch(/See the list\.[\s\S]*## list\.csv[\s\S]*\| Red \| 3 \|/);
});
