/**
 * Starts PostgreSQL, PgBouncer, Redis (or Valkey) and an S3 store in separate processes, on free ports and in temporary
 * folders.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import pg from 'pg';
import type { BucketOptions } from '#storage/blobs/s3-objects.ts';
import { freePorts } from './free-ports.ts';

/**
 * Returns the path of the first of these programs that is installed. Its script is plain JavaScript because it also
 * installs the programs.
 */
export const { findProgram } = (await import(path.resolve(import.meta.dirname, '../../scripts/test-tools.mjs'))) as {
  findProgram(...names: string[]): string | undefined;
};

/** A server that can be stopped and restarted on the same port with the same data. */
export interface Service {
  readonly url: string;
  /** Starts the server and waits until it responds. */
  start(): Promise<void>;
  /** Shuts the server down cleanly. */
  stop(): Promise<void>;
  /** Kills the server. */
  kill(): Promise<void>;
  /** Suspends the server: its connections stay open, and nothing is answered. */
  suspend(): void;
  resume(): void;
  /** Stops the server permanently and removes its data. */
  close(): Promise<void>;
}

/** An S3 store. The URL is its endpoint. */
export interface S3Service extends Service {
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The folder with the objects. */
  readonly folder: string;
  /** Creates a bucket and returns the options to use it. */
  makeBucket(name: string): Promise<BucketOptions>;
}

const SUPERVISOR = path.join(import.meta.dirname, 'service-supervisor.mjs');
const READY_MS = 60_000;

/** PostgreSQL with a database on a small file system of its own. The URL is that of this database. */
export interface SmallPostgres extends Service {
  /** Fills the file system, and keeps it full: PostgreSQL frees some space now and then. */
  fill(): Promise<void>;
  /** Removes what `fill` wrote. */
  free(): Promise<void>;
}

const SMALL_DISK_BYTES = 64 * 1024 ** 2;

/**
 * Starts PostgreSQL with a database on a file system of 64 MB. The file system ends with the server, which must not be restarted.
 * `undefined` if PostgreSQL is not installed, or if private file systems are not permitted here.
 */
export async function startSmallPostgres(): Promise<SmallPostgres | undefined> {
  if (!canMountPrivately()) return undefined;
  const service = await startPostgres({ diskBytes: SMALL_DISK_BYTES });
  if (!service) return undefined;
  const run = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: service.url });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  /** The server runs the command, because nobody else sees its file system. */
  const inShell = (command: string) => run(`COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; ${command}'`);
  const disk = path.join(service.folder, 'disk');
  const ballast = path.join(disk, 'ballast');
  const fillOnce = () => inShell(`cat /dev/zero >> "${ballast}" 2> /dev/null || true`);
  let isFull = false;
  let filling = Promise.resolve();
  try {
    await run(`CREATE TABLESPACE small LOCATION '${disk}/database'`, 'CREATE DATABASE small TABLESPACE small');
  } catch (error) {
    await service.close();
    throw error;
  }
  const url = new URL(service.url);
  url.pathname = '/small';
  return {
    ...service,
    url: url.href,
    async fill() {
      isFull = true;
      await fillOnce();
      const keepFull = async () => {
        while (isFull) {
          await sleep(100);
          await fillOnce();
        }
      };
      filling = keepFull();
    },
    async free() {
      isFull = false;
      await filling;
      await inShell(`rm "${ballast}"`);
    },
    async close() {
      isFull = false;
      await filling;
      await service.close();
    },
  };
}

/** The shell and the second `unshare` replace themselves: the server keeps the process id, and is not root. */
const MOUNT = [
  'mount -t tmpfs -o size="$2" tmpfs "$1" && mkdir "$1/database"',
  'uid="$3" && gid="$4" && shift 4 && exec unshare --user --map-user="$uid" --map-group="$gid" "$@"',
].join(' && ');

function onSmallDisk(program: SupervisedProgram, bytes: number): SupervisedProgram {
  const { uid = process.getuid!(), gid = process.getgid!() } = program;
  const values = [path.join(program.folder, 'disk'), bytes, uid, gid].map(String);
  const args = ['-rm', 'sh', '-c', MOUNT, 'sh', ...values, program.program, ...program.args];
  return { ...program, program: 'unshare', args };
}

/** A private file system needs user namespaces, which not every machine allows. */
function canMountPrivately(): boolean {
  if (process.platform !== 'linux') return false;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-mount-'));
  const user = userForPostgres();
  const disk = path.join(folder, 'disk');
  mkdirSync(disk);
  if (user) for (const owned of [folder, disk]) chownSync(owned, user.uid, user.gid);
  const { program, args } = onSmallDisk({ program: 'true', args: [], folder, ...user, kill: 'SIGKILL' }, 1_000_000);
  const { status } = spawnSync(program, args, { stdio: 'ignore', ...user });
  rmSync(folder, { recursive: true, force: true });
  return status === 0;
}

/** Starts PostgreSQL; `undefined` if it is not installed. With `diskBytes`, its folder contains a file system, `disk`. */
export async function startPostgres({
  diskBytes,
}: {
  readonly diskBytes?: number;
} = {}): Promise<(Service & { readonly folder: string }) | undefined> {
  const postgres = findProgram('postgres');
  const initdb = findProgram('initdb');
  if (!postgres || !initdb) return undefined;
  const user = userForPostgres();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-postgres-'));
  const password = randomBytes(12).toString('hex');
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, password);
  if (user) for (const file of [folder, passwordFile]) chownSync(file, user.uid, user.gid);
  const data = path.join(folder, 'data');
  if (diskBytes !== undefined) {
    const disk = path.join(folder, 'disk');
    mkdirSync(disk);
    if (user) chownSync(disk, user.uid, user.gid);
  }
  const initialized = spawnSync(
    initdb,
    ['-D', data, '-U', 'lectern', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8', '--locale=C', '-N'],
    { cwd: folder, encoding: 'utf8', ...user },
  );
  if (initialized.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`initdb failed: ${initialized.stderr ?? initialized.error?.message}`);
  }
  const port = await freePorts();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=200'];
  const url = `postgres://lectern:${password}@127.0.0.1:${port}/postgres`;
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const plain: SupervisedProgram = { program: postgres, args, folder, ...user, kill: 'SIGQUIT' };
  const program = diskBytes === undefined ? plain : onSmallDisk(plain, diskBytes);
  const service = await supervise(program, url, { stop: 'SIGINT', kill: 'SIGQUIT' }, async () => {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
    } finally {
      await client.end();
    }
  });
  return { ...service, folder };
}

/** Starts Redis; `undefined` if it is not installed. */
export async function startRedis(): Promise<Service | undefined> {
  const redis = findProgram('redis-server', 'valkey-server');
  if (!redis) return undefined;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-redis-'));
  const port = await freePorts();
  const password = randomBytes(12).toString('hex');
  const settings = { port, bind: '127.0.0.1', databases: 1_000, requirepass: password, dir: folder, appendonly: 'no' };
  const args = ['--save', '', ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])];
  const url = `redis://:${password}@127.0.0.1:${port}`;
  return supervise(
    { program: redis, args, folder, kill: 'SIGKILL' },
    url,
    { stop: 'SIGTERM', kill: 'SIGKILL' },
    async () => {
      const client = createClient({ url, socket: { reconnectStrategy: false } });
      client.on('error', () => {});
      await client.connect();
      client.destroy();
    },
  );
}

const SWIFT = path.join(import.meta.dirname, 'swift-server.py');
const DEBIAN_PYTHON = '/usr/bin/python3';

/** Starts OpenStack Swift with its S3 layer; `undefined` if it is not installed. */
export async function startS3(): Promise<S3Service | undefined> {
  if (!findProgram('swift-proxy-server') || !existsSync(DEBIAN_PYTHON)) return undefined;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-s3-'));
  const credentials = { accessKeyId: 'test:lectern', secretAccessKey: randomBytes(12).toString('hex') };
  const port = await freePorts();
  const url = `http://127.0.0.1:${port}`;
  const program: SupervisedProgram = {
    program: DEBIAN_PYTHON,
    args: [SWIFT, folder, String(port), credentials.accessKeyId, credentials.secretAccessKey],
    folder,
    kill: 'SIGKILL',
  };
  const service = await supervise(program, url, { stop: 'SIGTERM', kill: 'SIGKILL' }, async () => {
    await fetch(url);
  });
  return Object.assign(service, {
    credentials,
    folder,
    async makeBucket(name: string): Promise<BucketOptions> {
      const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
      const client = new S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true, credentials });
      await client.send(new CreateBucketCommand({ Bucket: name }));
      client.destroy();
      return { url: `s3://${name}/some/prefix`, endpoint: url, credentials, pathStyle: true };
    },
  });
}

/** Throws if the server does not answer. */
async function askPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end();
  }
}

/**
 * Starts PostgreSQL with pgvector (`pgvector-server.mjs`), which an npm package carries, behind PgBouncer, because it has
 * one session; `undefined` if PgBouncer is not installed.
 */
export async function startPgvector(): Promise<Service | undefined> {
  if (!findProgram('pgbouncer')) return undefined;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-pgvector-'));
  const port = await freePorts();
  const url = `postgres://postgres:none@127.0.0.1:${port}/postgres`;
  const args = [path.join(import.meta.dirname, 'pgvector-server.mjs'), String(port), path.join(folder, 'data')];
  const program: SupervisedProgram = { program: process.execPath, args, folder, kill: 'SIGKILL' };
  const server = await supervise(program, url, { stop: 'SIGTERM', kill: 'SIGKILL' }, () => askPostgres(url));
  const pooler = await startPgBouncer(url, 1);
  return {
    ...pooler!,
    async close() {
      await pooler!.close();
      await server.close();
    },
  };
}

/** Starts PgBouncer in transaction mode before a PostgreSQL server; `undefined` if it is not installed. */
export async function startPgBouncer(postgresUrl: string, connections = 8): Promise<Service | undefined> {
  const pgbouncer = findProgram('pgbouncer');
  if (!pgbouncer) return undefined;
  const { hostname, port: postgresPort, username, password, pathname } = new URL(postgresUrl);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-pgbouncer-'));
  const port = await freePorts();
  writeFileSync(path.join(folder, 'users'), `"${username}" "${password}"\n`);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: path.join(folder, 'users'),
    pool_mode: 'transaction',
    default_pool_size: connections,
    // The server's own limit of the time of a statement, which PgBouncer does not know.
    ignore_startup_parameters: 'statement_timeout',
  };
  const file = path.join(folder, 'pgbouncer.ini');
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(file, `[databases]\n* = host=${hostname} port=${postgresPort}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const user = userForPostgres();
  if (user) for (const owned of [folder, file, path.join(folder, 'users')]) chownSync(owned, user.uid, user.gid);
  const url = `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
  const program: SupervisedProgram = { program: pgbouncer, args: [file], folder, ...user, kill: 'SIGKILL' };
  return supervise(program, url, { stop: 'SIGINT', kill: 'SIGKILL' }, () => askPostgres(url));
}

interface SupervisedProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly uid?: number;
  readonly gid?: number;
  /** The signal that is sent to the server when its owner has exited. */
  readonly kill: NodeJS.Signals;
}

async function supervise(
  program: SupervisedProgram,
  url: string,
  signals: Record<'stop' | 'kill', NodeJS.Signals>,
  answers: () => Promise<void>,
): Promise<Service> {
  const supervisor = spawn(process.execPath, [SUPERVISOR, JSON.stringify(program)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(supervisor, 'exit');
  let running = false;
  let ended = Promise.resolve();
  const start = async () => {
    if (running) return;
    running = true;
    ended = firstLine(supervisor).then(() => {
      running = false;
    });
    supervisor.stdin!.write('start\n');
    const failure = await untilAnswers(answers, () => running);
    if (failure) throw new Error(`${program.program} does not respond: ${failure}\n${logOf(program.folder)}`);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (running) supervisor.stdin!.write(`${signal}\n`);
    await ended;
  };
  const service: Service = {
    url,
    start,
    stop: () => end(signals.stop),
    kill: () => end(signals.kill),
    suspend: () => void supervisor.stdin!.write('SIGSTOP\n'),
    resume: () => void supervisor.stdin!.write('SIGCONT\n'),
    async close() {
      supervisor.stdin!.end();
      await exited;
    },
  };
  try {
    await start();
    return service;
  } catch (error) {
    await service.close();
    throw error;
  }
}

const firstLine = (supervisor: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    createInterface({ input: supervisor.stdout! }).once('line', () => resolve());
  });

/** Waits until the server responds. Returns `undefined`, or the reason why the server will never respond. */
async function untilAnswers(answers: () => Promise<void>, running: () => boolean): Promise<unknown> {
  const until = Date.now() + READY_MS;
  for (;;) {
    try {
      await answers();
      return undefined;
    } catch (error) {
      if (!running() || Date.now() > until) return error;
      await sleep(30);
    }
  }
}

function logOf(folder: string): string {
  try {
    return readFileSync(path.join(folder, 'log'), 'utf8');
  } catch {
    return '';
  }
}

/** PostgreSQL refuses to run as root, so it runs as an unprivileged user. */
function userForPostgres(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const name = ['postgres', 'nobody'].find((candidate) => spawnSync('id', ['-u', candidate]).status === 0);
  if (!name) return undefined;
  const idOf = (kind: string) => Number(spawnSync('id', [kind, name], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}
