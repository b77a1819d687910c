import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTranscription, pagePrompt, unwrap as unwrapPieces } from './generative.ts';
import { createLimit } from './limit.ts';
import { readCompletionRequest } from './request.ts';

const SEED = 20_260_101;

/** Counts one token per character. */
const limitOf = (stop: readonly string[], maxTokens?: number) =>
  createLimit({ stop, maxTokens, count: (text) => text.length, truncate: (text, tokens) => text.slice(0, tokens) });

function limited(pieces: readonly string[], stop: readonly string[], maxTokens?: number) {
  const limit = limitOf(stop, maxTokens);
  const text = pieces.map((piece) => limit.take(piece)).join('') + limit.rest();
  return { text, ended: limit.ended, tokens: limit.tokens };
}

describe('the limit of an answer', () => {
  it('cuts before a stop sequence, however the text is split', () => {
    expect(limited(['one E', 'N', 'D two'], ['END'])).toEqual({ text: 'one ', ended: 'stop', tokens: 4 });
    expect(limited(['one EN'], ['END'])).toEqual({ text: 'one EN', ended: undefined, tokens: 6 });
    expect(limited(['abc'], ['c', 'b'])).toMatchObject({ text: 'a', ended: 'stop' });
  });

  it('cuts after the maximum number of tokens', () => {
    expect(limited(['abc', 'def'], [], 4)).toEqual({ text: 'abcd', ended: 'length', tokens: 4 });
    expect(limited(['abc', 'def'], [], 6)).toEqual({ text: 'abcdef', ended: undefined, tokens: 6 });
    expect(limited(['abcdef'], ['ef'], 4)).toMatchObject({ text: 'abcd', ended: 'stop' });
  });

  it('does not depend on how a text is split into pieces', () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 }), { maxLength: 8 });
    const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 }), {
      maxLength: 2,
    });
    fc.assert(
      fc.property(texts, stops, (pieces, stop) => {
        const whole = pieces.join('');
        const first = Math.min(...stop.map((text) => whole.indexOf(text)).filter((at) => at >= 0));
        expect(limited(pieces, stop).text).toBe(first === Infinity ? whole : whole.slice(0, first));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});

describe('unwrapping the answer of a model', () => {
  async function* each(pieces: readonly string[]) {
    yield* pieces;
  }
  async function unwrap(pieces: readonly string[]): Promise<string> {
    let out = '';
    for await (const piece of unwrapPieces(each(pieces))) out += piece;
    return out;
  }

  it.each([
    ['# A page', '# A page'],
    ['```markdown\n# A page\n```', '# A page'],
    ['```\ntext\n```\n\n', 'text'],
    ['<think>so\nmuch</think>\n\n# A page', '# A page'],
    ['<think>\n</think>```md\n# A page\n```', '# A page'],
    ['<think>never ended', ''],
    ['```js\nlet a;\n```\n\nmore', '```js\nlet a;\n```\n\nmore'],
    ['\n\n  text  ', 'text'],
    ['', ''],
    ['``', '``'],
  ])('%j', async (answer, expected) => {
    expect(await unwrap([answer])).toBe(expected);
    expect(await unwrap([...answer])).toBe(expected);
    expect(await unwrap(answer.match(/[\s\S]{1,3}/g) ?? [])).toBe(expected);
  });
});

describe('a prompt that asks for a transcription', () => {
  it.each([
    ['', true],
    ['Transcribe this page.', true],
    ['OCR', true],
    ['Read the text in this image', true],
    ['Convert to markdown', true],
    ['What does it say?', true],
    ['Summarize this page', false],
    ['What is the total? Answer with the number only.', false],
    ['Translate the text', false],
    ['Compare the two pages', false],
    ['Is there a cat?', false],
  ])('%j', (question, expected) => expect(isTranscription(question)).toBe(expected));

  it('is replaced by the prompt of the model', () => {
    expect(pagePrompt('deepseek-ai/DeepSeek-OCR', 'text', undefined)).toBe('Free OCR.');
    expect(pagePrompt('PaddlePaddle/PaddleOCR-VL', 'markdown', undefined)).toBe('OCR:');
    expect(pagePrompt('any-vl', 'html', undefined)).toMatch(/HTML fragment/);
    expect(pagePrompt('PaddlePaddle/PaddleOCR-VL', 'markdown', 'Read it.')).toBe('Read it.');
  });
});

describe('a request', () => {
  it('reports all of its errors', () => {
    const body = {
      messages: [{ role: 'user', content: [{ type: 'text' }, { type: 'image_url' }, 7] }, 'x'],
      stop: [1],
      seed: 1.5,
      stream_options: [],
    };
    expect(() => readCompletionRequest(body)).toThrow(
      expect.objectContaining({
        facts: expect.objectContaining({
          errors: expect.arrayContaining(
            [
              'body -> messages -> 0 -> content -> 0 -> text',
              'body -> messages -> 0 -> content -> 1 -> image_url',
              'body -> messages -> 0 -> content -> 2',
              'body -> messages -> 1',
              'body -> stop',
              'body -> seed',
              'body -> stream_options',
            ].map((field) => expect.objectContaining({ field })),
          ),
        }),
      }),
    );
  });

  it('selects pages by a field of the part, or by the fragment of the URL', () => {
    const part = (image_url: object) => ({ type: 'image_url', image_url });
    const { media } = readCompletionRequest({
      messages: [
        {
          role: 'user',
          content: [
            part({ url: 'https://files.test/a.pdf#page=3' }),
            part({ url: 'https://files.test/a.pdf', pages: '2, 4-6' }),
            part({ url: 'https://files.test/a.pdf#page=3', pages: 9 }),
            part({ url: 'https://files.test/a.pdf' }),
          ],
        },
      ],
    });
    expect(media.map(({ pages }) => pages)).toEqual([[3], [2, 4, 5, 6], [9], undefined]);
  });

  it('is only ever refused with a problem, whatever its content', () => {
    const anything = fc.anything({ maxDepth: 4 });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('messages', 'stop', 'n', 'stream', 'max_tokens'), anything), (body) => {
        try {
          readCompletionRequest(body);
        } catch (error) {
          expect(error).toMatchObject({ name: 'ParamValidationError' });
        }
      }),
      { seed: SEED, numRuns: 500 },
    );
  });
});
