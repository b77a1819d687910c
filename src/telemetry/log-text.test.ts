import { expect, it } from 'vitest';
import { textOfEntry } from './log-text.ts';

const TIME = '2026-01-02T03:04:05.678Z';
const entry = (fields: object) => `${JSON.stringify({ level: 'info', time: TIME, ...fields })}\n`;

it('shows a request on one line', () => {
  const line = entry({ face: 'reader', reqId: 'r-1', method: 'GET', route: '/*', status: 200, ms: 12 });
  expect(textOfEntry(line)).toBe('03:04:05 INFO  reader GET /* 200 12 ms reqId=r-1');
});

it('shows the message, all other fields and the stack of an error', () => {
  const line = entry({
    level: 'error',
    msg: 'it failed',
    pages: 3,
    err: { message: 'no', stack: 'Error: no\n  at a' },
  });
  expect(textOfEntry(line)).toBe('03:04:05 ERROR it failed pages=3\n  Error: no\n    at a');
});

it('never writes control characters, not even C1', () => {
  const line = entry({ msg: 'a\u001b[31mb\u009b2Jc', name: '\u202ex', other: ['\u0085'] });
  expect(textOfEntry(line)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(textOfEntry('not \u009bJSON\n')).toBe('not \ufffdJSON');
});

it('colours warnings and errors only', () => {
  expect(textOfEntry(entry({ level: 'warn', msg: 'w' }), { coloured: true })).toMatch(/^\u001b\[33m.*\u001b\[0m$/);
  expect(textOfEntry(entry({ msg: 'i' }), { coloured: true })).not.toContain('\u001b');
});
