import { describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import type { CompletionPiece } from '#models/index.ts';
import { chatEventStream } from './chat-completions-stream.ts';

const head = { id: 'chatcmpl-1', created: 1, model: 'm' };
const usage = { promptTokens: 3, completionTokens: 2 };
const END: CompletionPiece = { text: '', finish: 'stop', usage };

async function eventsOf(pieces: () => AsyncGenerator<CompletionPiece>, onFailed: (error: unknown) => void = () => {}) {
  const options = { head, includeUsage: false, onFailed, id: 'f'.repeat(32), pingMs: 5 };
  let text = '';
  for await (const chunk of await chatEventStream(pieces(), options)) text += chunk;
  return text.split('\n\n').filter(Boolean);
}

describe('a stream', () => {
  it('sends comments while there are no pieces', async () => {
    let go = () => {};
    const waited = new Promise<void>((resolve) => {
      go = resolve;
    });
    const options = { head, includeUsage: false, onFailed: () => {}, id: 'x', pingMs: 5 };
    const stream = await chatEventStream(
      (async function* () {
        await waited;
        yield { text: 'late' };
        yield END;
      })(),
      options,
    );
    const events: string[] = [];
    for await (const chunk of stream) {
      events.push(String(chunk).trim());
      // Yields nothing until the comments have been received.
      if (events.filter((event) => event === ': ping').length === 2) go();
    }
    expect(events.filter((event) => event === ': ping').length).toBeGreaterThan(1);
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(events.at(-3)).toContain('late');
  });

  it('rejects if it fails before its first piece', async () => {
    // biome-ignore lint/correctness/useYield: it fails before it could yield
    const failing = async function* (): AsyncGenerator<CompletionPiece> {
      throw problem('ServiceTimeoutError');
    };
    await expect(eventsOf(failing)).rejects.toMatchObject({ name: 'ServiceTimeoutError' });
  });

  it('ends with the failure and without [DONE] if it fails later', async () => {
    const failed: unknown[] = [];
    const events = await eventsOf(
      async function* () {
        yield { text: 'half' };
        throw problem('ServiceTimeoutError');
      },
      (error) => failed.push(error),
    );
    expect(JSON.parse(events.at(-1)!.slice('data: '.length))).toEqual({
      error: {
        message: 'Service request timed out',
        type: 'server_error',
        param: null,
        code: 'SERVICE_TIMEOUT',
        request_id: 'f'.repeat(32),
      },
    });
    expect([failed.length, events.join().includes('[DONE]')]).toEqual([1, false]);
  });

  it('ends its generator when the client stops reading', async () => {
    let ended = false;
    const options = { head, includeUsage: false, onFailed: () => {}, id: 'x' };
    const stream = await chatEventStream(
      (async function* () {
        try {
          for (;;) yield { text: 'more ' };
        } finally {
          ended = true;
        }
      })(),
      options,
    );
    for await (const chunk of stream) {
      expect(String(chunk)).toContain('data: ');
      break;
    }
    await expect.poll(() => ended).toBe(true);
  });

  it('ends its generator when it is never read', async () => {
    let ended = false;
    const stream = await chatEventStream(
      (async function* () {
        try {
          for (;;) yield { text: 'more ' };
        } finally {
          ended = true;
        }
      })(),
      { head, includeUsage: false, onFailed: () => {}, id: 'x' },
    );
    stream.destroy();
    await expect.poll(() => ended).toBe(true);
  });
});
