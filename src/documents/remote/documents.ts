/** Documents that workers on other machines read and render. The content of a file is sent once for all requests. */
import { readFile, stat } from 'node:fs/promises';
import { createIdleCache } from '#concurrency/idle-cache.ts';
import { attachmentTooLarge, type RemoteWork } from '#concurrency/remote-work.ts';
import { DocumentError, type DocumentFile, type PictureOptions, type PicturesOptions } from '../document.ts';
import type { Documents } from '../documents.ts';
import type { DocumentAnswer, DocumentRequest, RemoteFile } from './messages.ts';

/** How long the content of a file stays with the queue after the last request for it. */
const IDLE_MS = 20_000;
/** Number of pages in one request, so that an answer is bounded and workers take turns. */
const PAGES_AT_ONCE = 8;

/** Throws DocumentError, the problems of the queue, or the signal's reason. */
export function createRemoteDocuments(work: RemoteWork<DocumentRequest, DocumentAnswer>): Documents {
  const { attachments } = work;
  const sent = createIdleCache<string>({ idleMs: IDLE_MS, discard: (name) => attachments.remove(name) });

  async function upload({ path, size }: DocumentFile): Promise<string> {
    if (size > attachments.maxBytes) throw attachmentTooLarge(attachments.maxBytes);
    await work.check();
    return attachments.put(await readFile(path));
  }

  async function run(
    file: DocumentFile,
    request: (file: RemoteFile) => DocumentRequest,
    signal: AbortSignal,
  ): Promise<Exclude<DocumentAnswer, { kind: 'fault' }>> {
    signal.throwIfAborted();
    const { path, ...described } = file;
    const { ino, mtimeMs } = await stat(path);
    const key = `${path} ${ino} ${mtimeMs}`;
    const answer = await sent.use(
      key,
      () => upload(file),
      async (attachment) => {
        if (await attachments.keep(attachment)) return work.run(request({ ...described, attachment }), signal);
        sent.drop(key);
        const again = await upload(file);
        try {
          return await work.run(request({ ...described, attachment: again }), signal);
        } finally {
          await attachments.remove(again).catch(() => {});
        }
      },
    );
    if (answer.kind === 'fault') throw new DocumentError(answer.fault, answer.message);
    return answer;
  }

  return {
    async read(file, options, signal) {
      const answer = await run(file, (remote) => ({ do: 'read', file: remote, options }), signal);
      if (answer.kind !== 'document') throw unexpected();
      return answer.document;
    },
    async picture(file, options: PictureOptions, signal) {
      const answer = await run(file, (remote) => ({ do: 'picture', file: remote, options }), signal);
      if (answer.kind !== 'picture') throw unexpected();
      return answer.png;
    },
    async *pictures(file, { pages, ...how }: PicturesOptions, signal) {
      for (let drawn = 0; drawn < pages.length; drawn += PAGES_AT_ONCE) {
        const options = { ...how, pages: pages.slice(drawn, drawn + PAGES_AT_ONCE) };
        const answer = await run(file, (remote) => ({ do: 'pictures', file: remote, options }), signal);
        if (answer.kind !== 'pictures') throw unexpected();
        yield* answer.pictures;
      }
    },
    pids: () => [],
    load: () => ({ busy: 0, waiting: 0 }),
    close: () => sent.close(),
  };
}

const unexpected = () => new Error('a worker answered another request than was sent');
