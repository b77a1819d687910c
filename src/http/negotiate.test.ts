import { expect, it } from 'vitest';
import { errorKind, successKind } from './negotiate.ts';

it.each([
  [undefined, 'text', 'json'],
  ['', 'text', 'json'],
  ['*/*', 'text', 'json'],
  ['text/plain', 'text', 'text'],
  ['text/*', 'text', 'text'],
  ['text/event-stream', 'stream', 'stream'],
  ['text/event-stream, application/json', 'stream', 'json'],
  ['application/json', 'json', 'json'],
  ['application/json; charset=utf-8', 'json', 'json'],
  ['text/json', 'json', 'json'],
  ['application/*', 'json', 'json'],
  ['application/json, text/plain, */*', 'text', 'json'],
  ['application/json, */*;q=0.1', 'text', 'json'],
  ['application/json, text/plain;q=0', 'json', 'json'],
  ['text/html', 'text', 'json'],
  ['text/markdown', 'text', 'text'],
  ['APPLICATION/JSON', 'json', 'json'],
])('Accept %s: success as %s, failure as %s', (accept, success, failure) => {
  expect([successKind(accept), errorKind(accept)]).toEqual([success, failure]);
});
