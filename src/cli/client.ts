/**
 * The client that commands use. It calls the given server, or otherwise the same modules in this process. This is safe
 * while a server is running, because the stores support several processes and no port is opened.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Client, ClientOptions } from '#client/index.ts';
import { isUrl } from '#is-url.ts';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';
import { type Command, Option } from './flags.ts';

export interface ClientFlags {
  readonly server?: string;
  readonly key?: string;
  readonly dataDir?: string;
  readonly config?: string;
  readonly verbose?: boolean;
}

/** Adds the flags that select the server and the local data. */
export const withClientFlags = <Given extends Command>(command: Given): Given =>
  command
    .addOption(
      new Option(
        '--server <url>',
        'URL of the reader of a Lectern server. If omitted, the command runs without a server, in its own process. [LECTERN_URL]',
      ).helpGroup(CONNECTION_GROUP),
    )
    .addOption(new Option('--key <key>', 'API key for the server. [LECTERN_API_KEY]').helpGroup(CONNECTION_GROUP))
    .addOption(
      new Option('--data-dir <dir>', 'Data folder, without --server. [LECTERN_DATA_DIR]').helpGroup(CONNECTION_GROUP),
    )
    .addOption(
      new Option('--config <file>', 'Settings file, YAML or JSON, without --server. [LECTERN_CONFIG]').helpGroup(
        CONNECTION_GROUP,
      ),
    )
    .addOption(new Option('--verbose', 'Log to standard error, without --server.').helpGroup(CONNECTION_GROUP));

const CONNECTION_GROUP = 'Server and data:';

export interface OpenClient {
  readonly client: Client;
  /** URL of the server; `undefined` if the work is done in this process. */
  readonly server: string | undefined;
}

/** URL of the server to use; `undefined` to do the work in this process. */
export const serverOf = (
  { environment }: Pick<CliContext, 'environment'>,
  { server }: Pick<ClientFlags, 'server'>,
): string | undefined => server || environment.LECTERN_URL || undefined;

interface ClientUse {
  /** APIs to open in this process; all by default. */
  readonly faces?: 'reader';
  /** Whether a browser is useful, so that one is offered if this process has none. */
  readonly rendersPages?: boolean;
  /** Jobs that this process also runs; none if omitted. */
  readonly jobs?: 'batch' | 'crawl' | undefined;
  /** Retries per call; the client's default if omitted. */
  readonly retries?: number;
  /** Called with each response, to read values that are only in its headers. */
  readonly onAnswer?: (response: Response) => void;
}

/** Opens a client, runs `work` and closes the client again. */
export async function withClient<T>(
  context: CliContext,
  flags: ClientFlags,
  work: (open: OpenClient) => Promise<T>,
  needs: ClientUse = {},
): Promise<T> {
  const server = serverOf(context, flags);
  if (server) return withServer(server, context, { flags, needs }, work);
  const { openInProcessFaces } = await import('./in-process-faces.ts');
  const faces = await openInProcessFaces(context, flags, {
    faces: needs.faces ?? 'all',
    jobs: needs.jobs,
    rendersPages: needs.rendersPages ?? false,
  });
  try {
    return await work({
      client: await loadClient({
        urls: faces.urls,
        fetch: observeResponses(faces.fetch, needs),
        retries: needs.retries,
      }),
      server: undefined,
    });
  } finally {
    await faces.close();
  }
}

async function withServer<T>(
  server: string,
  context: CliContext,
  { flags: { key }, needs }: { readonly flags: ClientFlags; readonly needs: ClientUse },
  work: (open: OpenClient) => Promise<T>,
): Promise<T> {
  const client = await loadClient({
    ...parseServerUrls(server),
    apiKey: key || context.environment.LECTERN_API_KEY,
    retries: needs.retries,
    fetch: observeResponses(fetch, needs),
  });
  const version = /^https?:/i.test(server) ? await versionOf(client, server.split(',')[0]!) : undefined;
  const answer = await work({ client, server });
  warnOfVersionMismatch(version, server, context);
  return answer;
}

/**
 * Returns the version of the server, if it answers in time. Throws a CommandError if another program answers: its pages
 * could otherwise pass for results.
 */
async function versionOf(client: Client, server: string): Promise<string | undefined> {
  let version: unknown;
  try {
    version = (await client.health({ timeoutMs: VERSION_MS }))?.version;
  } catch (error) {
    const { code, status } = error as { code?: unknown; status?: unknown };
    if (code !== 'BAD_ANSWER' && status !== 404) return undefined;
  }
  if (typeof version === 'string') return version;
  throw usageError(`${server} is not a Lectern server: give the URL of its reader, such as http://localhost:3000`);
}

const observeResponses = (send: typeof fetch, { onAnswer }: ClientUse): typeof fetch =>
  onAnswer
    ? async (...given) => {
        const response = await send(...given);
        onAnswer(response);
        return response;
      }
    : send;

const FACES = ['reader', 'search', 'models', 'flow'] as const;

/** Accepts one URL, from which the URLs of all APIs are derived, or a list: `reader=http://…,models=http://…`. */
function parseServerUrls(server: string): Pick<ClientOptions, 'baseUrl' | 'urls'> {
  const parts = server.split(',').map((part) => /^(?:([a-z]+)=)?(https?:\/\/.*)$/i.exec(part.trim()) ?? [part]);
  const places = parts.map(([part, face, url]) => {
    if (url === undefined || !isUrl(url))
      throw usageError(`${part} is not a server URL: it must start with http:// or https://`);
    if (face !== undefined && !FACES.some((one) => one === face))
      throw usageError(`${face} is not an API of the server: use ${FACES.join(', ')}`);
    return { face, url };
  });
  const urls = Object.fromEntries(places.flatMap(({ face, url }) => (face === undefined ? [] : [[face, url]])));
  return { baseUrl: places.find(({ face }) => face === undefined)?.url ?? urls.reader, urls };
}

/** Maximum wait for the server's version. */
const VERSION_MS = 1_000;

function warnOfVersionMismatch(theirs: string | undefined, server: string, { version, note }: CliContext): void {
  const early = (text: string) => text.split('.', 2).join('.');
  if (typeof theirs !== 'string' || early(theirs) === early(version)) return;
  note(`lectern: warning: ${server} runs version ${theirs}, this program is ${version}: options may differ`);
}

async function loadClient(options: ClientOptions): Promise<Client> {
  const { createClient } = await import('#client/index.ts');
  return createClient(options);
}

/**
 * Data folder of this process: the configured one; otherwise `.lectern` in the working directory, if it exists;
 * otherwise the user's data folder (XDG Base Directory), so that reading a page leaves no files in the working
 * directory.
 */
export function dataDirOf(
  { environment }: Pick<CliContext, 'environment'>,
  { dataDir }: ClientFlags,
): string | undefined {
  if (dataDir || environment.LECTERN_DATA_DIR) return dataDir;
  if (existsSync('.lectern') || existsSync('lectern.yaml') || environment.LECTERN_CONFIG) return undefined;
  return path.join(environment.XDG_DATA_HOME || path.join(homedir(), '.local', 'share'), 'lectern');
}
