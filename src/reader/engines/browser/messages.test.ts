// Full run only: it takes seconds.
// Own process: in one whose heap is large already, messages of 193 MB take minutes.
import { constants } from 'node:buffer';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { checkMessage, type DroppedMessage, FIRST_OWN_ID, limitMessages } from './messages.ts';

/** The messages that an earlier listener receives when they arrive in pieces of `pieceBytes`. */
async function received(messages: readonly string[], pieceBytes = 64) {
  const [pipe, commands] = [new PassThrough(), new PassThrough()];
  let text = '';
  pipe.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const dropped: DroppedMessage[] = [];
  limitMessages(pipe, commands, (one) => dropped.push(one), { maxEventBytes: 1_000, maxResponseBytes: 3_000 });
  const bytes = Buffer.from(messages.map((message) => `${message}\0`).join(''));
  for (let at = 0; at < bytes.length; at += pieceBytes) pipe.write(bytes.subarray(at, at + pieceBytes));
  pipe.end();
  await new Promise((resolve) => pipe.once('end', resolve));
  commands.end();
  let sent = '';
  for await (const chunk of commands) sent += chunk;
  const split = (all: string) => all.split('\0').slice(0, -1);
  return { passed: split(text), dropped, sent: split(sent) };
}

const long = (count: number) => 'x'.repeat(count);
const event = (method: string, params: object) => JSON.stringify({ method, params, sessionId: 'A1' });
const answer = (id: number, result: object) => JSON.stringify({ id, result, sessionId: 'A1' });

describe('limitMessages', () => {
  it('passes messages on unchanged, in pieces of any size', async () => {
    const messages = [event('Page.loaded', { at: 1 }), answer(1, {}), answer(2, { data: long(2_500) })];
    for (const pieceBytes of [1, 7, 64, 10_000])
      expect(await received(messages, pieceBytes)).toEqual({ passed: messages, dropped: [], sent: [] });
  });

  it('drops events that are too long, and replaces responses that are too long by an error', async () => {
    const messages = [event('Page.told', { text: long(2_000) }), answer(7, { data: long(4_000) }), answer(8, {})];
    for (const pieceBytes of [1, 64, 10_000]) {
      const { passed, dropped, sent } = await received(messages, pieceBytes);
      expect(passed.map((message) => JSON.parse(message))).toEqual([
        { id: 7, error: { code: -32000, message: 'The response from the browser is too long' }, sessionId: 'A1' },
        { id: 8, result: {}, sessionId: 'A1' },
      ]);
      expect(dropped).toEqual([
        { what: 'Page.told', bytes: messages[0]!.length + 1 },
        { what: 'answer', bytes: messages[1]!.length + 1 },
      ]);
      expect(sent).toEqual([]);
    }
  });

  it('drops a message that is longer than any string can be', async () => {
    const [pipe, commands] = [new PassThrough(), new PassThrough()];
    let passed = 0;
    pipe.on('data', (chunk: Buffer) => {
      passed += chunk.length;
    });
    const dropped: DroppedMessage[] = [];
    limitMessages(pipe, commands, (one) => dropped.push(one));
    const piece = Buffer.alloc(1024 ** 2, 'x');
    const pieces = Math.ceil(constants.MAX_STRING_LENGTH / piece.length) + 1;
    pipe.write('{"method":"Page.told","params":"');
    for (let at = 0; at < pieces; at++) if (!pipe.write(piece)) await once(pipe, 'drain');
    pipe.end('"}\0');
    await once(pipe, 'end');
    expect(passed).toBe(0);
    expect(dropped).toEqual([{ what: 'Page.told', bytes: pieces * piece.length + 35 }]);
  });

  it('fails a paused request whose event is dropped', async () => {
    const paused = event('Fetch.requestPaused', { requestId: 'job-1.0', request: { postData: long(5_000) } });
    const { passed, sent } = await received([paused, paused, JSON.stringify({ id: 2_000_000_000, result: {} })]);
    expect(passed).toEqual([]);
    const params = { requestId: 'job-1.0', errorReason: 'BlockedByClient' };
    expect(sent.map((command) => JSON.parse(command))).toEqual(
      [2_000_000_000, 2_000_000_001].map((id) => ({ id, method: 'Fetch.failRequest', params, sessionId: 'A1' })),
    );
  });

  it('drops ignored events', async () => {
    const { passed, dropped } = await received([event('Runtime.consoleAPICalled', { args: [] }), event('Page.x', {})]);
    expect(passed).toEqual([event('Page.x', {})]);
    expect(dropped).toEqual([]);
  });
});

describe('checkMessage', { timeout: 180_000 }, () => {
  const MEGABYTE = 1024 * 1024;
  const check = (text: string) => checkMessage(Buffer.from(text), FIRST_OWN_ID);

  it('passes complete messages on, except events that are not used', () => {
    for (const text of [event('Page.loaded', {}), answer(1, { data: long(20 * MEGABYTE) })]) {
      const { message, ...others } = check(text);
      // `toEqual` would list the bytes one by one, which takes gigabytes.
      expect(message!.equals(Buffer.from(text))).toBe(true);
      expect(others).toEqual({});
    }
    expect(check(event('Runtime.consoleAPICalled', { text: long(20 * MEGABYTE) }))).toEqual({ message: undefined });
    expect(check(answer(FIRST_OWN_ID, {}))).toEqual({ message: undefined });
  });

  it('drops events that are too long, and fails the request that one of them reports', () => {
    const paused = event('Fetch.requestPaused', { requestId: 'job-1.0', body: long(9 * MEGABYTE) });
    const { message, command, dropped } = check(paused);
    expect(message).toBeUndefined();
    expect(dropped).toEqual({ what: 'Fetch.requestPaused', bytes: paused.length });
    expect(JSON.parse(command!)).toEqual({
      id: FIRST_OWN_ID,
      method: 'Fetch.failRequest',
      params: { requestId: 'job-1.0', errorReason: 'BlockedByClient' },
      sessionId: 'A1',
    });
  });

  it('replaces responses that are too long by an error', () => {
    const { message, dropped } = check(answer(7, { data: long(193 * MEGABYTE) }));
    expect(JSON.parse(message!.toString())).toMatchObject({ id: 7, error: { code: -32000 }, sessionId: 'A1' });
    expect(dropped).toMatchObject({ what: 'answer' });
  });
});
