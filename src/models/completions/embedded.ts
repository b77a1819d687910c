/** Text recognition of this machine as an engine: pages in, their text in any form out. */
import { problem } from '#errors.ts';
import { InvalidImageError, type Ocr } from '#ocr/index.ts';
import type { Engine, Piece } from './engine.ts';
import { FORMS } from './fields.ts';
import { mediaFault, type Page } from './media.ts';
import { WRITERS } from './write.ts';

/** The prompt is looked at for one word only, but nobody needs an endless one. */
const CONTEXT_TOKENS = 32_768;
/** Pages that are worked on at a time: one is drawn while the one before is read. */
const PAGES_AHEAD = 2;

export function createEmbeddedEngine(id: string, ocr: Ocr): Engine {
  return {
    id,
    description: 'Text recognition of this machine: headings, paragraphs, lists and tables in reading order',
    forms: FORMS,
    chats: false,
    generates: false,
    contextTokens: CONTEXT_TOKENS,
    async *read(pages, { request, onDrawn, signal }): AsyncGenerator<Piece> {
      const writer = WRITERS[request.form];
      const stop = new AbortController();
      const either = AbortSignal.any([signal, stop.signal]);
      const results = ahead(pages, async (page) => {
        const { bytes, ...size } = await page.toRead(either);
        onDrawn(size);
        return ocr.read(bytes, { signal: either, whole: true }).catch((error: unknown) => {
          throw error instanceof InvalidImageError ? mediaFault(page.at, 'cannot be read: it is damaged') : error;
        });
      });
      try {
        yield { text: writer.before };
        let number = 0;
        for await (const result of results) {
          number++;
          if (number > 1) yield { text: writer.between };
          for (const text of inParagraphs(writer.page({ number, result }))) yield { text };
        }
        yield { text: writer.after };
        yield { text: '', end: { complete: true } };
      } finally {
        stop.abort(problem('DataStreamBrokenError'));
      }
    },
    // biome-ignore lint/correctness/useYield: it has nothing to say
    async *chat() {
      throw problem('FaceNotReadyError', { message: 'Text recognition reads pictures and answers no questions' });
    },
  };
}

/** The results of work in order, a little of it done ahead. */
async function* ahead<Result>(pages: readonly Page[], work: (page: Page) => Promise<Result>): AsyncGenerator<Result> {
  const running: Promise<Result>[] = [];
  let next = 0;
  while (next < pages.length || running.length > 0) {
    while (running.length < PAGES_AHEAD && next < pages.length) {
      const started = work(pages[next++]!);
      // Whoever stops listening is not to be told.
      started.catch(() => {});
      running.push(started);
    }
    yield await running.shift()!;
  }
}

/** Cut behind empty lines, so that a stream has pieces. */
const inParagraphs = (text: string): string[] => text.split(/(?<=\n\n)(?=[^\n])/).filter((piece) => piece !== '');
