/**
 * The table of commands that the help lists without loading them. The file of a command is loaded when the command
 * runs. A test checks that names and descriptions are the same as in the files.
 */
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

type Build = (context: CliContext) => Command;

export interface CommandRow {
  readonly name: string;
  readonly group: 'Read' | 'Models' | 'Serve' | 'Flows' | 'Maintenance';
  readonly description: string;
  readonly load: () => Promise<Build>;
}

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'read',
    group: 'Read',
    description: 'Read pages, files or a whole site as Markdown.',
    load: async () => (await import('./read.ts')).readCommand,
  },
  {
    name: 'search',
    group: 'Read',
    description: 'Search the web or the local index and read the results.',
    load: async () => (await import('./search.ts')).searchCommand,
  },
  {
    name: 'index',
    group: 'Read',
    description: 'Read pages or files into the local search index.',
    load: async () => (await import('./index-pages.ts')).indexCommand,
  },
  {
    name: 'ocr',
    group: 'Models',
    description: 'Recognize the text in images and scanned documents.',
    load: async () => (await import('./ocr.ts')).ocrCommand,
  },
  {
    name: 'embed',
    group: 'Models',
    description: 'Turn texts into embedding vectors.',
    load: async () => (await import('./embed.ts')).embedCommand,
  },
  {
    name: 'rerank',
    group: 'Models',
    description: 'Order documents by relevance to a query.',
    load: async () => (await import('./rerank.ts')).rerankCommand,
  },
  {
    name: 'batch',
    group: 'Models',
    description: 'Submit embedding batch jobs and fetch their output.',
    load: async () => (await import('./batch.ts')).batchCommand,
  },
  {
    name: 'models',
    group: 'Models',
    description: 'List, download and remove models.',
    load: async () => (await import('./models.ts')).modelsCommand,
  },
  {
    name: 'serve',
    group: 'Serve',
    description: 'Start the server.',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'mcp',
    group: 'Serve',
    description: 'Serve MCP tools over standard input and output.',
    load: async () => (await import('./mcp.ts')).mcpCommand,
  },
  {
    name: 'worker',
    group: 'Serve',
    description: 'Do work for servers: batch jobs, crawls, documents, text recognition, models.',
    load: async () => (await import('./worker.ts')).workerCommand,
  },
  {
    name: 'browser-worker',
    group: 'Serve',
    description: 'Run browsers for servers on other machines.',
    load: async () => (await import('./browser-worker.ts')).browserWorkerCommand,
  },
  {
    name: 'top',
    group: 'Serve',
    description: 'Show what a server or a worker is doing: requests, queues, browser, memory, slow hosts.',
    load: async () => (await import('./top.ts')).topCommand,
  },
  {
    name: 'flow',
    group: 'Flows',
    description: 'Run a flow from its file until the process is stopped.',
    load: async () => (await import('./flow.ts')).flowCommand,
  },
  {
    name: 'gateway',
    group: 'Flows',
    description: 'Serve a gateway for executors that run elsewhere, until the process is stopped.',
    load: async () => (await import('./gateway.ts')).gatewayCommand,
  },
  {
    name: 'executor',
    group: 'Flows',
    description: 'Serve one executor over gRPC until the process is stopped.',
    load: async () => (await import('./executor.ts')).executorCommand,
  },
  {
    name: 'ping',
    group: 'Flows',
    description: 'Check whether a flow, gateway or executor is ready.',
    load: async () => (await import('./ping.ts')).pingCommand,
  },
  {
    name: 'keys',
    group: 'Maintenance',
    description: 'Create, list and revoke API keys.',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  {
    name: 'accounts',
    group: 'Maintenance',
    description: 'Create, list and change accounts.',
    load: async () => (await import('./accounts.ts')).accountsCommand,
  },
  {
    name: 'usage',
    group: 'Maintenance',
    description: 'Show usage totals.',
    load: async () => (await import('./usage.ts')).usageCommand,
  },
  {
    name: 'migrate',
    group: 'Maintenance',
    description: 'Migrate the databases to this version.',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  {
    name: 'browser',
    group: 'Maintenance',
    description: 'Install, show and remove the browser that renders pages.',
    load: async () => (await import('./browser.ts')).browserCommand,
  },
  {
    name: 'doctor',
    group: 'Maintenance',
    description: 'Check the machine, network access and limits, and do a test read.',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'versions',
    group: 'Maintenance',
    description: 'Print the version report of a flow gateway as JSON.',
    load: async () => (await import('./versions.ts')).versionsCommand,
  },
  {
    name: 'completion',
    group: 'Maintenance',
    description: 'Print a shell completion script.',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
];
