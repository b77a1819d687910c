// Converts files through published clients in the way that their users do. Arguments: the URL of the compat host, an
// API key, a PDF and an Office file. Prints the results as JSON. This is a separate program because the clients are not
// dependencies of Lectern.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { UnstructuredLoader } from '@langchain/community/document_loaders/fs/unstructured';
import { Mistral } from '@mistralai/mistralai';
import { UnstructuredClient } from 'unstructured-client';

const [, , baseUrl, key, pdf, office] = process.argv;

const failure = async (work) => {
  try {
    await work();
  } catch (error) {
    return { name: error.name, message: error.message, status: error.statusCode };
  }
  return undefined;
};

async function mistral() {
  const client = new Mistral({ serverURL: baseUrl, apiKey: key });
  const file = await client.files.upload({
    file: { fileName: path.basename(pdf), content: await readFile(pdf) },
    purpose: 'ocr',
  });
  const { url } = await client.files.getSignedUrl({ fileId: file.id, expiry: 1 });
  const model = 'mistral-ocr-latest';
  const read = await client.ocr.process({ model, document: { type: 'document_url', documentUrl: url } });
  const byId = await client.ocr.process({ model, document: { type: 'file', fileId: file.id }, pages: [1] });
  const data = `data:application/vnd.openxmlformats-officedocument.wordprocessingml.document;base64,${(await readFile(office)).toString('base64')}`;
  const pictures = await client.ocr.process({
    model,
    document: { type: 'document_url', documentUrl: data },
    includeImageBase64: true,
    tableFormat: 'html',
  });
  const listed = await client.files.list({});
  const retrieved = await client.files.retrieve({ fileId: file.id });
  const deleted = await client.files.delete({ fileId: file.id });
  const stranger = new Mistral({ serverURL: baseUrl, apiKey: 'not-a-key' });
  return {
    file,
    read,
    byId,
    pictures,
    listed: listed.data.map(({ id }) => id),
    retrieved,
    deleted,
    badKey: await failure(() => stranger.files.list({})),
    badFile: await failure(() => client.ocr.process({ model, document: { type: 'file', fileId: 'none' } })),
    badPages: await failure(() =>
      client.ocr.process({ model, document: { type: 'document_url', documentUrl: data }, pages: [70] }),
    ),
  };
}

async function unstructured() {
  const client = new UnstructuredClient({ serverURL: baseUrl, security: { apiKeyAuth: key } });
  const partition = async (file, parameters = {}) =>
    client.general.partition({
      partitionParameters: { files: { content: await readFile(file), fileName: path.basename(file) }, ...parameters },
    });
  const stranger = new UnstructuredClient({ serverURL: baseUrl, security: { apiKeyAuth: 'not-a-key' } });
  return {
    elements: await partition(office, { strategy: 'hi_res' }),
    // This client cuts PDFs into parts and sends the parts at the same time.
    parts: await partition(pdf, { splitPdfPage: true, splitPdfConcurrencyLevel: 2 }),
    chunks: await partition(pdf, { chunkingStrategy: 'by_title', maxCharacters: 100, splitPdfPage: false }),
    badKey: await failure(async () =>
      stranger.general.partition({
        partitionParameters: { files: { content: await readFile(office), fileName: 'a.docx' } },
      }),
    ),
  };
}

async function langchain() {
  const apiUrl = `${baseUrl}/general/v0/general`;
  const load = (file, options) => new UnstructuredLoader(file, { apiUrl, apiKey: key, ...options }).load();
  return {
    documents: await load(office),
    chunks: await load(pdf, { chunkingStrategy: 'basic', maxCharacters: 2_000 }),
  };
}

process.stdout.write(
  `\n${JSON.stringify({ mistral: await mistral(), unstructured: await unstructured(), langchain: await langchain() })}`,
);
