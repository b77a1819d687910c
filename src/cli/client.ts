/**
 * What commands ask: a server, when one is named, or else the same rooms in this process, behind the same client. A server
 * that runs on the same data folder is left alone: the stores are made for several processes, and no port is opened.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Client, ClientOptions } from '#client/index.ts';
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

/** Adds the flags that tell whom the command asks. */
export const withClientFlags = <Given extends Command>(command: Given): Given =>
  command
    .addOption(
      new Option(
        '--server <url>',
        'Ask this server: the address of its reader. Without one the command works in this process. [LECTERN_URL]',
      ).helpGroup(CONNECTION_GROUP),
    )
    .addOption(new Option('--key <key>', 'The API key for it. [LECTERN_API_KEY]').helpGroup(CONNECTION_GROUP))
    .addOption(
      new Option(
        '--data-dir <dir>',
        'In this process: the folder in which everything is kept. [LECTERN_DATA_DIR]',
      ).helpGroup(CONNECTION_GROUP),
    )
    .addOption(
      new Option('--config <file>', 'In this process: a YAML or JSON file of settings. [LECTERN_CONFIG]').helpGroup(
        CONNECTION_GROUP,
      ),
    )
    .addOption(new Option('--verbose', 'In this process: log on the standard error.').helpGroup(CONNECTION_GROUP));

const CONNECTION_GROUP = 'Where:';

export interface OpenClient {
  readonly client: Client;
  /** The server asked; undefined in this process. */
  readonly server: string | undefined;
}

/** The server that is named; undefined for this process. */
export const serverOf = (
  { environment }: Pick<CliContext, 'environment'>,
  { server }: Pick<ClientFlags, 'server'>,
): string | undefined => server || environment.LECTERN_URL || undefined;

interface ClientNeeds {
  /** What is asked in this process; all unless given. */
  readonly rooms?: 'reader';
  /** Whether jobs are worked on in this process too. */
  readonly jobs?: boolean;
  /** How often a call is tried again; that of the client when not given. */
  readonly retries?: number;
  /** Told of each answer, for what its head alone says. */
  readonly onAnswer?: (response: Response) => void;
}

/** Opens a client for as long as the work takes. */
export async function withClient<T>(
  context: CliContext,
  flags: ClientFlags,
  work: (open: OpenClient) => Promise<T>,
  needs: ClientNeeds = {},
): Promise<T> {
  const server = serverOf(context, flags);
  if (server) return withServer(server, context, { flags, needs }, work);
  const { openInProcessFaces } = await import('./in-process-faces.ts');
  const faces = await openInProcessFaces(context, flags, { rooms: needs.rooms ?? 'all', jobs: needs.jobs ?? false });
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
  { flags: { key }, needs }: { readonly flags: ClientFlags; readonly needs: ClientNeeds },
  work: (open: OpenClient) => Promise<T>,
): Promise<T> {
  const client = await loadClient({
    ...parseServerUrls(server),
    apiKey: key || context.environment.LECTERN_API_KEY,
    retries: needs.retries,
    fetch: observeResponses(fetch, needs),
  });
  const isOver = new AbortController();
  const version = client.health({ signal: isOver.signal }).then(
    (health) => health.version as string | undefined,
    () => undefined,
  );
  try {
    const answer = await work({ client, server });
    const timer = setTimeout(() => isOver.abort(), VERSION_MS);
    warnOfVersionMismatch(await version, server, context);
    clearTimeout(timer);
    return answer;
  } finally {
    isOver.abort();
  }
}

const observeResponses = (send: typeof fetch, { onAnswer }: ClientNeeds): typeof fetch =>
  onAnswer
    ? async (...given) => {
        const response = await send(...given);
        onAnswer(response);
        return response;
      }
    : send;

const FACES = ['reader', 'search', 'models', 'flow'] as const;

/** `http://127.0.0.1:3000`, whose other faces follow from it, or each face on its own: `reader=http://…,models=http://…`. */
function parseServerUrls(server: string): Pick<ClientOptions, 'baseUrl' | 'urls'> {
  const parts = server.split(',').map((part) => /^(?:([a-z]+)=)?(https?:\/\/.*)$/i.exec(part.trim()) ?? [part]);
  const places = parts.map(([part, face, url]) => {
    if (url === undefined || !URL.canParse(url))
      throw usageError(`${part} is no address of a server: it begins with http:// or https://`);
    if (face !== undefined && !FACES.some((one) => one === face))
      throw usageError(`${face} is no face: they are ${FACES.join(', ')}`);
    return { face, url };
  });
  const urls = Object.fromEntries(places.flatMap(({ face, url }) => (face === undefined ? [] : [[face, url]])));
  return { baseUrl: places.find(({ face }) => face === undefined)?.url ?? urls.reader, urls };
}

/** How long the version of a server is waited for when the work is done. */
const VERSION_MS = 1_000;

function warnOfVersionMismatch(theirs: string | undefined, server: string, { version, note }: CliContext): void {
  const early = (text: string) => text.split('.', 2).join('.');
  if (typeof theirs !== 'string' || early(theirs) === early(version)) return;
  note(`lectern: warning: ${server} is of version ${theirs}, this program of ${version}: options may differ`);
}

async function loadClient(options: ClientOptions): Promise<Client> {
  const { createClient } = await import('#client/index.ts');
  return createClient(options);
}

/**
 * Where this process keeps things: what is set, else `.lectern` here when it is there, else the user's own folder, so that
 * reading a page leaves nothing behind wherever one stands.
 */
export function dataDirOf(
  { environment }: Pick<CliContext, 'environment'>,
  { dataDir }: ClientFlags,
): string | undefined {
  if (dataDir || environment.LECTERN_DATA_DIR) return dataDir;
  if (existsSync('.lectern') || existsSync('lectern.yaml') || environment.LECTERN_CONFIG) return undefined;
  return path.join(environment.XDG_DATA_HOME || path.join(homedir(), '.local', 'share'), 'lectern');
}
