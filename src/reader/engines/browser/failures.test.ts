/** The messages for Chromium's network errors. */
import { describe, expect, test } from 'vitest';
import { isUnreadableResponse, navigationProblem } from './failures.ts';

const goto = (code: string) => new Error(`page.goto: net::${code} at http://site.example/\nCall log: ...`);

describe('a failed navigation', () => {
  test.each([
    ['ERR_TOO_MANY_REDIRECTS', 'The target redirects too many times'],
    ['ERR_CERT_DATE_INVALID', 'The certificate of the page is not valid'],
    ['ERR_SSL_PROTOCOL_ERROR', 'No secure connection to the target could be established'],
    ['ERR_CONNECTION_REFUSED', 'The target refused the connection'],
    ['ERR_CONNECTION_RESET', 'The target closed the connection'],
    ['ERR_CONNECTION_TIMED_OUT', 'The target did not respond in time'],
    ['ERR_TIMED_OUT', 'The target did not respond in time'],
    ['ERR_TUNNEL_CONNECTION_FAILED', 'The target cannot be reached'],
    ['ERR_ADDRESS_UNREACHABLE', 'The target cannot be reached'],
    ['ERR_BLOCKED_BY_RESPONSE', 'The browser was not allowed to show the page'],
    ['ERR_ABORTED', 'The target answered in a way that the browser cannot read'],
    ['ERR_HTTP2_PROTOCOL_ERROR', 'The target answered in a way that the browser cannot read'],
    ['ERR_NOT_KNOWN_YET', 'The page could not be loaded'],
  ])('by %s', (code, message) => {
    expect(navigationProblem(goto(code), false)).toMatchObject({ name: 'AssertionFailureError', message });
  });

  test('without an error code', () => {
    const told = navigationProblem(new Error('Target page, context or browser has been closed'), false);
    expect(told).toMatchObject({ name: 'AssertionFailureError', message: 'The page could not be loaded' });
  });

  test('by a refusal', () => {
    const refused = { name: 'SecurityCompromiseError', message: 'Access to this URL is not allowed' };
    expect(navigationProblem(goto('ERR_TUNNEL_CONNECTION_FAILED'), true)).toMatchObject(refused);
    expect(navigationProblem(goto('ERR_UNSAFE_PORT'), false)).toMatchObject(refused);
  });
});

test.each([
  ['ERR_INVALID_HTTP_RESPONSE', true],
  ['ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION', true],
  ['ERR_CONTENT_DECODING_FAILED', true],
  ['ERR_INCOMPLETE_CHUNKED_ENCODING', true],
  ['ERR_INVALID_REDIRECT', true],
  ['ERR_ABORTED', true],
  ['ERR_CONNECTION_REFUSED', false],
  ['ERR_CERT_AUTHORITY_INVALID', false],
  ['ERR_TUNNEL_CONNECTION_FAILED', false],
])('%s is a response for the direct engine: %s', (code, expected) => {
  expect(isUnreadableResponse(goto(code))).toBe(expected);
});
