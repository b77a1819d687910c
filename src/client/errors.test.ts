import { describe, expect, it } from 'vitest';
import { MODEL_CODES } from '#api/envelopes/model.ts';
import { errorBody } from '#api/envelopes/reader.ts';
import { PROBLEMS, type ProblemName, problem } from '#errors.ts';
import { errorFromResponse, LecternError, LecternUnreachable } from './errors.ts';

const headers = (given: Record<string, string> = {}) => new Headers(given);
const failure = (status: number, body: unknown, given?: Record<string, string>) =>
  errorFromResponse(status, headers(given), typeof body === 'string' ? body : JSON.stringify(body));

describe('failures', () => {
  it.each(Object.keys(PROBLEMS) as ProblemName[])('%s of the reader', (name) => {
    const { code, status } = PROBLEMS[name];
    const body: Record<string, unknown> = errorBody(problem(name, { path: 'url' }));
    const error = failure(code, body, { 'x-request-id': 'r-1' });
    expect(error).toBeInstanceOf(LecternError);
    expect(error).toMatchObject({ name, status: code, code: status, path: 'url', requestId: 'r-1', body });
    expect(error.message).toBe(body.readableMessage);
  });

  it.each(Object.values(MODEL_CODES))('$code of the model host', ({ code, status }) => {
    const error = failure(status, { detail: 'What happened', code, request_id: 'abc' });
    expect(error).toMatchObject({ name: 'LecternError', status, code, requestId: 'abc', message: 'What happened' });
  });

  it('name the field', () => {
    const errors = [{ field: 'body -> top_n', message: 'must be at least 1', type: 'greater_than_equal', input: 0 }];
    const error = failure(422, { detail: 'Validation error', request_id: 'abc', errors });
    expect(error).toMatchObject({ status: 422, code: undefined, path: 'body -> top_n', requestId: 'abc' });
    const said = { message: 'No', type: 'invalid_request_error', param: 'messages[0]', code: null, request_id: 'abc' };
    expect(failure(400, { error: said })).toMatchObject({
      message: 'No',
      code: 'invalid_request_error',
      path: 'messages[0]',
      requestId: 'abc',
    });
  });

  it('of a flow, whose `detail` may be a list', () => {
    expect(failure(422, { detail: [{ loc: ['body'], msg: 'x', type: 'y' }] }).message).toContain('"msg":"x"');
    expect(failure(403, { detail: 'Not from there' }).message).toBe('Not from there');
  });

  it('of a server that is not Lectern', () => {
    const page = failure(502, '<html><title>502 Bad Gateway</title></html>');
    expect(page).toMatchObject({ status: 502, code: undefined, message: expect.stringContaining('Bad Gateway') });
    expect(failure(500, '').message).toBe('The server responded with status 500 without a message');
    expect(failure(500, 'null').message).toBe('null');
    expect(failure(500, '{}').message).toContain('500');
    expect(failure(500, 'x'.repeat(1e6)).message).toHaveLength(500);
  });

  it('parse Retry-After in seconds or as a date', () => {
    const at = (text: string) => failure(429, {}, { 'retry-after': text }).retryAfterMs;
    expect(at('7')).toBe(7_000);
    expect(at(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50_000);
    expect(at('Thu, 01 Jan 1970 00:00:00 GMT')).toBe(0);
    expect(at('soon')).toBeUndefined();
  });
});

it('of an unreachable server name the URL and the reason', () => {
  const refused = new TypeError('fetch failed', { cause: Object.assign(new Error(''), { code: 'ECONNREFUSED' }) });
  const error = new LecternUnreachable('http://127.0.0.1:1/', refused);
  expect(error).toBeInstanceOf(LecternError);
  expect(error.message).toBe('No response from http://127.0.0.1:1/: ECONNREFUSED');
  expect(error).toMatchObject({ code: 'UNREACHABLE', url: 'http://127.0.0.1:1/', status: undefined, cause: refused });
  expect(new LecternUnreachable('http://x/', new TypeError('Failed to fetch')).message).toContain('Failed to fetch');
  expect(new LecternUnreachable('http://x/', undefined).message).toBe('No response from http://x/');
});
