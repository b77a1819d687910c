/** The contract of a tool, independent of the transport: input, output, progress and the function that runs it. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Client } from '#client/index.ts';
import { DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS } from './budget.ts';
import type { LocalFiles } from './local-files.ts';
import type { Progress } from './progress.ts';
import type { RecentPages } from './recent.ts';

/** Context of one tool call. */
export interface ToolCall {
  /** Calls the APIs with the caller's key and IP address. */
  readonly client: Client;
  /** Aborted when the caller cancels the call or disconnects. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly recent: RecentPages;
  /** Local files; `undefined` if none may be read. */
  readonly files: LocalFiles | undefined;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /**
   * Schema of a structured result. Tools that return one page as text have none: clients show models a structured result
   * in place of the text, and a page in JSON is longer and harder to read.
   */
  readonly output?: z.ZodObject;
  /** Whether the tool accesses the web. */
  readonly openWorld: boolean;
  /** Number of steps, for progress. */
  readonly steps: (args: z.output<Input>) => number;
  /** Progress message until the first step is done. */
  readonly progressMessage: (args: z.output<Input>) => string;
  readonly run: (args: z.output<Input>, call: ToolCall) => Promise<CallToolResult>;
}

/** Infers the argument types of a tool's functions from its input schema. */
export const defineTool = <Input extends z.ZodObject>(tool: Tool<Input>): Tool =>
  // Safe: each tool is called only with arguments that its own schema has validated.
  tool as unknown as Tool;

export const maxTokens = () =>
  z.int().min(MIN_TOKENS).max(MAX_TOKENS).default(DEFAULT_TOKENS).describe('Limit of the whole response.');

export const textResult = (...texts: readonly string[]): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
});

/** Returns structured content, and the same content as text, which the protocol requires for older clients. */
export const structuredResult = (value: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
});
