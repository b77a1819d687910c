/** Programs that call servers for documents. */
import assert from 'node:assert/strict';
import { ORIGIN, type RequestRow } from './row.ts';

const CSV = 'name,age\nAda,36\n';
const hasAda = (text: string) => assert.match(text, /Ada/);

function form(field: string, name: string, fields: Readonly<Record<string, string>> = {}): FormData {
  const made = new FormData();
  made.append(field, new File([CSV], name, { type: 'text/csv' }));
  for (const [key, value] of Object.entries(fields)) made.append(key, value);
  return made;
}

/** Tika's clients send no key. */
export const DOCUMENT_ROWS: readonly RequestRow[] = [
  {
    ...{ program: 'Open WebUI', setting: 'TIKA_SERVER_URL', value: ORIGIN, call: 'text of a file' },
    request: () => ({
      ...{ method: 'PUT', path: '/tika/text', body: CSV },
      headers: { 'content-type': 'text/csv', accept: '*/*', 'x-tika-pdfextractinlineimages': 'true' },
    }),
    check: (answer) => hasAda(answer['X-TIKA:content']),
  },
  {
    ...{ program: 'Open WebUI', setting: 'DOCLING_SERVER_URL', value: ORIGIN, call: 'text of a file' },
    request: ({ key }) => ({
      ...{ method: 'POST', path: '/v1/convert/file', headers: { 'x-api-key': key } },
      body: form('files', 'people.csv', { image_export_mode: 'placeholder' }),
    }),
    check: ({ status, document }) => {
      assert.equal(status, 'success');
      hasAda(document.md_content);
    },
  },
  {
    ...{ program: 'paperless-ngx', setting: 'PAPERLESS_TIKA_ENDPOINT', value: ORIGIN, call: 'text of a file' },
    request: () => ({
      ...{ method: 'POST', path: '/tika/form/text', headers: { accept: 'application/json' } },
      body: form('upload-file', 'people.csv'),
    }),
    check: (answer) => hasAda(answer['X-TIKA:content']),
  },
  {
    ...{ program: 'paperless-ngx', setting: 'PAPERLESS_TIKA_ENDPOINT', value: ORIGIN, call: 'metadata of a file' },
    request: () => ({
      ...{ method: 'PUT', path: '/meta', body: CSV },
      headers: { accept: 'application/json', 'content-type': 'text/csv' },
    }),
    check: (answer) => assert.match(answer['Content-Type'], /^text\/csv/),
  },
  {
    ...{
      program: 'Nextcloud full text search',
      setting: 'URL of the Tika server',
      value: ORIGIN,
      call: 'text of a file',
    },
    request: () => ({
      ...{ method: 'PUT', path: '/tika', body: CSV, isText: true },
      headers: { 'content-type': 'text/csv', accept: 'text/plain' },
    }),
    check: hasAda,
  },
  {
    ...{ program: 'RAGFlow', setting: 'DOCLING_SERVER_URL', value: ORIGIN, call: 'text of a file' },
    request: ({ key }) => ({
      ...{ method: 'POST', path: '/v1/convert/source' },
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        options: { to_formats: ['json', 'md', 'text'] },
        sources: [{ kind: 'file', base64_string: Buffer.from(CSV).toString('base64'), filename: 'people.csv' }],
      }),
    }),
    check: ({ document }) => hasAda(document.text_content),
  },
  {
    ...{ program: 'Dify', setting: 'UNSTRUCTURED_API_URL', value: `${ORIGIN}/general/v0/general` },
    call: 'elements of a file',
    request: ({ key }) => ({
      ...{ method: 'POST', path: '/general/v0/general', headers: { 'unstructured-api-key': key } },
      body: form('files', 'people.csv'),
    }),
    check: ([first]) => hasAda(first.text),
  },
  {
    ...{ program: 'LibreChat', setting: 'OCR_BASEURL', value: `${ORIGIN}/v1`, call: 'upload' },
    request: ({ key }) => ({
      ...{ method: 'POST', path: '/v1/files', headers: { authorization: `Bearer ${key}` } },
      body: form('file', 'people.csv', { purpose: 'ocr' }),
    }),
    check: ({ id, purpose }) => assert.deepEqual([typeof id, purpose], ['string', 'ocr']),
  },
];
