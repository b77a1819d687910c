/** Failures as a model can act on them: what went wrong, at which field, and what to change. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { LecternError, LecternUnreachable } from '#client/index.ts';
import { oneLine } from './fence.ts';

const MAX_MESSAGE_CHARACTERS = 1_000;

/** A tool's own refusal; the message says what to change. */
export class ToolError extends Error {}

/** What went wrong in one paragraph; undefined when it is nothing that the caller can do anything about. */
export function describeFailure(error: unknown): string | undefined {
  if (error instanceof ToolError) return error.message;
  if (!(error instanceof LecternError)) return undefined;
  const { message, path, code, retryAfterMs } = error;
  const status = code === 'AUTHZ_INSUFFICIENT_BALANCE' ? 402 : error.status;
  // It may name what a page says of itself, its media type.
  const words = oneLine(message, MAX_MESSAGE_CHARACTERS);
  const said = path && !words.includes(path) ? `${path}: ${words}` : words;
  const advice = error instanceof LecternUnreachable ? UNREACHABLE : adviceFor(status, path, retryAfterMs);
  return advice ? `${said.replace(/[.\s]*$/, '.')} ${advice}` : said;
}

/** Of a failure that nobody expected. */
export const UNEXPECTED_FAILURE = 'Something went wrong in this MCP server; its log tells more.';

export const errorResult = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

const UNREACHABLE = 'The Lectern server does not answer; a person has to start it or correct its address.';

function adviceFor(status: number | undefined, path: string | undefined, retryAfterMs: number | undefined) {
  switch (status) {
    case 400:
    case 422:
      return path ? `Correct \`${path}\` and call again.` : undefined;
    case 401:
      return 'A person has to give this MCP server a valid API key (Authorization: Bearer ..., or LECTERN_API_KEY).';
    case 402:
      return 'The balance of the key is used up; trying again does not help.';
    case 403:
      return 'The key does not include this; leave the option out.';
    case 404:
      return undefined;
    case 413:
      return 'Send less at once.';
    case 429:
      return `Wait ${Math.max(1, Math.ceil((retryAfterMs ?? 60_000) / 1000))} seconds before the next call, and make fewer at once.`;
    case 451:
      return 'Another address has to be used.';
    case 408:
    case 504:
      return 'It may help to set a longer `timeout`, or `engine` to "direct", which runs no scripts.';
    case 502:
    case 503:
      return `The page or a part of the server is away; try again in ${Math.max(1, Math.ceil((retryAfterMs ?? 10_000) / 1000))} seconds, or use another address.`;
    default:
      return undefined;
  }
}
