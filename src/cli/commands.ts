/**
 * The light table of commands: what the help lists without loading any of them. A command's file is loaded when it is
 * asked for; a test holds names and descriptions to those of the files.
 */
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

type Build = (context: CliContext) => Command;

export interface CommandRow {
  readonly name: string;
  readonly group: 'Read' | 'Models' | 'Serve' | 'Flows' | 'Look after';
  readonly description: string;
  readonly load: () => Promise<Build>;
}

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'read',
    group: 'Read',
    description: 'Read pages, files or a whole site into Markdown.',
    load: async () => (await import('./read.ts')).readCommand,
  },
  {
    name: 'search',
    group: 'Read',
    description: 'Search the web, or what was read, and read what is found.',
    load: async () => (await import('./search.ts')).searchCommand,
  },
  {
    name: 'index',
    group: 'Read',
    description: 'Read pages or files into the index that is searched without a search service.',
    load: async () => (await import('./index-pages.ts')).indexCommand,
  },
  {
    name: 'ocr',
    group: 'Models',
    description: 'Recognise the text of pictures and scanned documents.',
    load: async () => (await import('./ocr.ts')).ocrCommand,
  },
  {
    name: 'embed',
    group: 'Models',
    description: 'Turn texts into vectors.',
    load: async () => (await import('./embed.ts')).embedCommand,
  },
  {
    name: 'rerank',
    group: 'Models',
    description: 'Put documents in the order of how well they answer a query.',
    load: async () => (await import('./rerank.ts')).rerankCommand,
  },
  {
    name: 'batch',
    group: 'Models',
    description: 'Submit batch jobs of embeddings, and fetch what they give.',
    load: async () => (await import('./batch.ts')).batchCommand,
  },
  {
    name: 'models',
    group: 'Models',
    description: 'List, fetch and remove models.',
    load: async () => (await import('./models.ts')).modelsCommand,
  },
  {
    name: 'serve',
    group: 'Serve',
    description: 'Serve the reader and the other faces.',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'mcp',
    group: 'Serve',
    description: 'Serve tools to a client of the Model Context Protocol, over the standard input and output.',
    load: async () => (await import('./mcp.ts')).mcpCommand,
  },
  {
    name: 'worker',
    group: 'Serve',
    description: 'Work on batch jobs beside servers that share the database, or the data folder.',
    load: async () => (await import('./worker.ts')).workerCommand,
  },
  {
    name: 'flow',
    group: 'Flows',
    description: 'Run the flow of a file until it is told to end.',
    load: async () => (await import('./flow.ts')).flowCommand,
  },
  {
    name: 'executor',
    group: 'Flows',
    description: 'Serve one executor over gRPC until it is told to end.',
    load: async () => (await import('./executor.ts')).executorCommand,
  },
  {
    name: 'ping',
    group: 'Flows',
    description: 'Ask a flow, a gateway or an executor whether it is ready.',
    load: async () => (await import('./ping.ts')).pingCommand,
  },
  {
    name: 'keys',
    group: 'Look after',
    description: 'Make, list and revoke API keys.',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  {
    name: 'accounts',
    group: 'Look after',
    description: 'Make, list and change accounts.',
    load: async () => (await import('./accounts.ts')).accountsCommand,
  },
  {
    name: 'usage',
    group: 'Look after',
    description: 'Show what was used, in sums.',
    load: async () => (await import('./usage.ts')).usageCommand,
  },
  {
    name: 'migrate',
    group: 'Look after',
    description: 'Bring the tables of the databases to this version.',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  {
    name: 'doctor',
    group: 'Look after',
    description: 'Check the machine, the way out, limits and the work itself.',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'completion',
    group: 'Look after',
    description: 'Write the script that completes commands and options in a shell.',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
];
