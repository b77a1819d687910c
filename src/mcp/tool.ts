/** What a tool is, whatever the transport: what it takes, what it may do, and how it does it over the client. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Client } from '#client/index.ts';
import { DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS } from './budget.ts';
import type { LocalFiles } from './local-files.ts';
import type { Progress } from './progress.ts';
import type { RecentPages } from './recent.ts';

/** What one call of a tool works with. */
export interface ToolCall {
  /** Speaks for the caller: with their key, from their address. */
  readonly client: Client;
  /** Aborted when the caller gives the call up, or is gone. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly recent: RecentPages;
  /** Absent where no file of this machine may be read. */
  readonly files: LocalFiles | undefined;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Of the structured answer; only for tools that answer no foreign text, which must stay within its fence. */
  readonly output?: z.ZodObject;
  /** Whether it reaches out to the web, rather than working on what it is given. */
  readonly openWorld: boolean;
  /** How many parts the work has, for progress. */
  readonly steps: (args: z.output<Input>) => number;
  /** What is told before the first part is done. */
  readonly progressMessage: (args: z.output<Input>) => string;
  readonly run: (args: z.output<Input>, call: ToolCall) => Promise<CallToolResult>;
}

/** Ties the functions of a tool to its input. */
export const defineTool = <Input extends z.ZodObject>(tool: Tool<Input>): Tool =>
  // A list of tools of many inputs; each is only called with what its own schema let through.
  tool as unknown as Tool;

export const maxTokens = () =>
  z
    .int()
    .min(MIN_TOKENS)
    .max(MAX_TOKENS)
    .default(DEFAULT_TOKENS)
    .describe(`The most tokens that the whole answer may have, ${MIN_TOKENS} to ${MAX_TOKENS}.`);

export const textResult = (...texts: readonly string[]): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
});

/** The same twice, as the protocol asks: for clients that know of structure, and as text for those that don't. */
export const structuredResult = (value: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
});
