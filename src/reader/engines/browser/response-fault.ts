/**
 * Detects responses that the browser accepts and the direct engine refuses. The egress proxy refuses them in plain
 * HTTP; this module checks responses through a tunnel.
 */
import type { Response } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';
import { Problem } from '#errors.ts';
import { assertStatus, isChunked } from '#net/fetch/response-head.ts';

const VERSION_MS = 1_000;

/**
 * Returns the fault of a response, as worded by the direct engine. The result is a promise if it depends on the
 * protocol version.
 */
export function responseFault(response: Response): Problem | undefined | Promise<Problem | undefined> {
  const { 'transfer-encoding': transfer } = response.headers();
  const codings = transfer?.split('\n') ?? [];
  const fault = faultIn(() => {
    assertStatus(response.status());
    isChunked(codings, false);
  });
  if (fault || transfer === undefined) return fault;
  const version = within(VERSION_MS, response.httpVersion()).catch(() => '');
  return version.then((name) => faultIn(() => isChunked(codings, /\/1\.0$/.test(name))));
}

function faultIn(check: () => void): Problem | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
