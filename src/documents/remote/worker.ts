/** Reads and renders files for other servers. The content of a file is fetched once for all requests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createIdleCache } from '#concurrency/idle-cache.ts';
import type { Attachments } from '#concurrency/remote-work.ts';
import { QueueFullError } from '#concurrency/task-queue.ts';
import { problem } from '#errors.ts';
import { DocumentError, type DocumentFile } from '../document.ts';
import type { Documents } from '../documents.ts';
import type { DocumentAnswer, DocumentRequest, RemoteFile } from './messages.ts';

export interface RemoteDocumentsWorker {
  /** Throws problems or the signal's reason. */
  handle(request: DocumentRequest, signal: AbortSignal): Promise<DocumentAnswer>;
  /** Removes the files. */
  close(): Promise<void>;
}

export interface RemoteDocumentsWorkerOptions {
  readonly documents: Documents;
  readonly attachments: Pick<Attachments, 'get'>;
  readonly temporaryDir: string;
}

const IDLE_MS = 20_000;

export function createRemoteDocumentsWorker({
  documents,
  attachments,
  temporaryDir,
}: RemoteDocumentsWorkerOptions): RemoteDocumentsWorker {
  /** Folders of the files. LibreOffice writes its results into the folder of a file. */
  const fetched = createIdleCache<string>({
    idleMs: IDLE_MS,
    discard: (file) => rm(path.dirname(file), { recursive: true, force: true }),
  });

  async function fetch(attachment: string): Promise<string> {
    const bytes = await attachments.get(attachment);
    if (!bytes)
      throw problem('ServiceAwayError', { message: 'The file was removed before it was read', retryAfter: 1 });
    const file = path.join(await mkdtemp(path.join(temporaryDir, 'remote-')), 'file');
    await writeFile(file, bytes, { mode: 0o600 });
    return file;
  }

  const withFile = <T>({ attachment, ...described }: RemoteFile, work: (file: DocumentFile) => Promise<T>) =>
    fetched.use(
      attachment,
      () => fetch(attachment),
      (at) => work({ ...described, path: at }),
    );

  async function answer(request: DocumentRequest, file: DocumentFile, signal: AbortSignal): Promise<DocumentAnswer> {
    switch (request.do) {
      case 'read':
        return { kind: 'document', document: await documents.read(file, request.options, signal) };
      case 'picture':
        return { kind: 'picture', png: await documents.picture(file, request.options, signal) };
      case 'pictures': {
        const pictures: Uint8Array[] = [];
        for await (const picture of documents.pictures(file, request.options, signal)) pictures.push(picture);
        return { kind: 'pictures', pictures };
      }
    }
  }

  return {
    async handle(request, signal) {
      try {
        return await withFile(request.file, (file) => answer(request, file, signal));
      } catch (error) {
        if (error instanceof DocumentError) return { kind: 'fault', fault: error.kind, message: error.message };
        if (error instanceof QueueFullError) throw problem('ServiceNodeResourceDrainError', { retryAfter: 5 }, error);
        throw error;
      }
    },
    close: () => fetched.close(),
  };
}
