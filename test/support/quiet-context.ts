/** Does not import the test runner, so that scripts can use it too. */
import { PassThrough } from 'node:stream';
import type { CliContext } from '#cli/context.ts';

/** A context that prints nothing. */
export const quietContext: CliContext = {
  environment: {},
  version: '0.0.0-test',
  print: () => {},
  note: () => {},
  readInput: async () => '',
  input: new PassThrough().end(),
  output: new PassThrough().resume(),
  rewrite: undefined,
  redraw: undefined,
  ask: undefined,
  width: () => 80,
  signal: new AbortController().signal,
  onStop: () => {},
  onFault: () => {},
};
