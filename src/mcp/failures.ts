/** Describes failures so that a model can act on them: what went wrong, in which field, and what to change. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { LecternError, LecternUnreachable } from '#client/index.ts';
import { oneLine } from './untrusted-marks.ts';

const MAX_MESSAGE_CHARACTERS = 1_000;

/** An invalid tool call. The message tells the model what to change. */
export class ToolError extends Error {}

/** Describes a failure in one paragraph; `undefined` for unexpected errors, which the caller cannot act on. */
export function describeFailure(error: unknown): string | undefined {
  if (error instanceof ToolError) return error.message;
  if (!(error instanceof LecternError)) return undefined;
  const { message, path, code, retryAfterMs } = error;
  const status = code === 'AUTHZ_INSUFFICIENT_BALANCE' ? 402 : error.status;
  // The message may quote a page, such as its media type.
  const words = oneLine(message, MAX_MESSAGE_CHARACTERS);
  const said = path && !words.includes(path) ? `${path}: ${words}` : words;
  const advice = error instanceof LecternUnreachable ? UNREACHABLE : adviceFor(status, path, retryAfterMs);
  return advice ? `${said.replace(/[.\s]*$/, '.')} ${advice}` : said;
}

/** Message for unexpected errors. */
export const UNEXPECTED_FAILURE = 'Internal error in this MCP server; see its log.';

export const errorResult = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

const UNREACHABLE = 'The Lectern server does not respond. A person must start it or correct its URL.';

function adviceFor(status: number | undefined, path: string | undefined, retryAfterMs: number | undefined) {
  switch (status) {
    case 400:
    case 422:
      return path ? `Correct \`${path}\` and call again.` : undefined;
    case 401:
      return 'A person must give this MCP server a valid API key (Authorization: Bearer ..., or LECTERN_API_KEY).';
    case 402:
      return 'The balance of the API key is used up; do not retry.';
    case 403:
      return 'The API key does not include this feature; omit the option.';
    case 404:
      return undefined;
    case 413:
      return 'Send less data in one call.';
    case 429:
      return `Wait ${Math.max(1, Math.ceil((retryAfterMs ?? 60_000) / 1000))} seconds before the next call, and make fewer concurrent calls.`;
    case 451:
      return 'Use another URL.';
    case 408:
    case 504:
      return 'Try a longer `timeout`, or set `engine` to "direct", which runs no scripts.';
    case 502:
    case 503:
      return `The page or a part of the server is unavailable; retry in ${Math.max(1, Math.ceil((retryAfterMs ?? 10_000) / 1000))} seconds, or use another URL.`;
    default:
      return undefined;
  }
}
