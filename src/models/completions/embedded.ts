/** Built-in text recognition as a chat completion engine: writes the text of pages in any output form. */
import { problem } from '#errors.ts';
import { InvalidImageError, type Ocr, type OcrResult, ocrWarnings } from '#ocr/index.ts';
import type { Engine, Piece } from './engine.ts';
import { FORMS } from './fields.ts';
import { mediaFault, type Page } from './media.ts';
import { WRITERS } from './write.ts';

/** Size of the context, in tokens. It limits the prompt, although only the words that select a format matter. */
const CONTEXT_TOKENS = 32_768;
/** Number of pages processed at the same time: one is rendered while the previous one is recognized. */
const PAGES_AHEAD = 2;

export function createEmbeddedEngine(id: string, ocr: Ocr): Engine {
  return {
    id,
    description: 'Built-in text recognition: headings, paragraphs, lists and tables in reading order',
    forms: FORMS,
    chats: false,
    generates: false,
    contextTokens: CONTEXT_TOKENS,
    async *read(pages, { request, onDrawn, signal }): AsyncGenerator<Piece> {
      const writer = WRITERS[request.form];
      const stop = new AbortController();
      const either = AbortSignal.any([signal, stop.signal]);
      const results = ahead(pages, async (page) => {
        const { bytes, ...size } = await page.renderForOcr(either);
        onDrawn(size);
        return ocr.read(bytes, { signal: either, whole: true }).catch((error: unknown) => {
          throw error instanceof InvalidImageError ? mediaFault(page.at, 'cannot be read: it is damaged') : error;
        });
      });
      try {
        yield { text: writer.before };
        let number = 0;
        const readings: Pick<OcrResult, 'doubts' | 'notes'>[] = [];
        for await (const result of results) {
          number++;
          readings.push({ doubts: result.doubts, notes: result.notes });
          if (number > 1) yield { text: writer.between };
          for (const text of inParagraphs(writer.page({ number, result }))) yield { text };
        }
        yield { text: writer.after };
        const warning = ocrWarnings(readings).join('. ');
        yield { text: '', end: { complete: true, ...(warning && { warning }) } };
      } finally {
        stop.abort(problem('DataStreamBrokenError'));
      }
    },
    // biome-ignore lint/correctness/useYield: it always throws
    async *chat() {
      throw problem('FaceNotReadyError', { message: 'Text recognition reads images and cannot answer questions' });
    },
  };
}

/** Yields results in order while working a few items ahead. */
async function* ahead<Result>(pages: readonly Page[], work: (page: Page) => Promise<Result>): AsyncGenerator<Result> {
  const running: Promise<Result>[] = [];
  let next = 0;
  while (next < pages.length || running.length > 0) {
    while (running.length < PAGES_AHEAD && next < pages.length) {
      const started = work(pages[next++]!);
      // Avoids an unhandled rejection if the consumer stops early.
      started.catch(() => {});
      running.push(started);
    }
    yield await running.shift()!;
  }
}

/** Splits after empty lines, so that a streamed response has several pieces. */
const inParagraphs = (text: string): string[] => text.split(/(?<=\n\n)(?=[^\n])/).filter((piece) => piece !== '');
