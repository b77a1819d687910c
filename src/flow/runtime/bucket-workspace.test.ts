import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BucketOptions, openS3Objects } from '#storage/blobs/s3-objects.ts';
import { s3Bucket } from '../../../test/support/services.ts';
import { type Call, Executor, requests } from '../executor.ts';
import { ask, flowOf } from '../flow.suite.ts';
import { openBucketWorkspace } from './bucket-workspace.ts';

const bucket = await s3Bucket();
const MB = 1024 * 1024;

describe.skipIf(!bucket)('a workspace in a bucket', () => {
  let places = 0;
  const place = () => `${bucket!.url}/workspace-${++places}`;
  const environment = ({ endpoint, credentials }: BucketOptions) => ({
    AWS_ENDPOINT_URL_S3: endpoint!,
    AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
  });
  const open = (url: string) => openBucketWorkspace(url, [], environment(bucket!));
  const objectsOf = (url: string) => openS3Objects({ ...bucket!, url });
  const manifestOf = async (url: string, name?: string) => {
    const objects = await objectsOf(url);
    const bytes = await objects.get(name ? `${encodeURIComponent(name)}/manifest.json` : 'manifest.json');
    objects.close();
    return JSON.parse(Buffer.from(bytes!).toString());
  };

  it('restores files, folders and large files in parts, and sends only what has changed', async () => {
    const url = place();
    const first = await open(url);
    const large = Buffer.alloc(9 * MB, 'a');
    large.write('the second part', 5 * MB);
    mkdirSync(path.join(first.folder, 'deep/empty'), { recursive: true });
    writeFileSync(path.join(first.folder, 'deep/large'), large);
    writeFileSync(path.join(first.folder, 'nothing'), '');
    writeFileSync(path.join(first.folder, 'grüner Tee.txt'), 'tea');
    await first.save();
    const before = await manifestOf(url);
    expect(before.files.find((file: { path: string }) => file.path === 'deep/large').parts).toHaveLength(3);
    large.write('changed', 8 * MB + 10);
    writeFileSync(path.join(first.folder, 'deep/large'), large);
    rmSync(path.join(first.folder, 'grüner Tee.txt'));
    await first.close();
    const after = await manifestOf(url);
    const partsOf = (manifest: typeof after) => manifest.files[0].parts as string[];
    expect(partsOf(after).slice(0, 2)).toEqual(partsOf(before).slice(0, 2));
    const objects = await objectsOf(url);
    for (const gone of [partsOf(before)[2]!, createHash('sha256').update('tea').digest('hex')])
      expect(await objects.get(gone)).toBeUndefined();
    objects.close();
    const second = await open(url);
    expect(readFileSync(path.join(second.folder, 'deep/large')).equals(large)).toBe(true);
    expect(readFileSync(path.join(second.folder, 'nothing'))).toHaveLength(0);
    expect(after.folders).toEqual(['deep', 'deep/empty']);
    expect(after.files.map((file: { path: string }) => file.path)).toEqual(['deep/large', 'nothing']);
    await second.close();
  });

  it('belongs to the executor that opened it last', async () => {
    const url = place();
    const old = await open(url);
    writeFileSync(path.join(old.folder, 'a'), 'old');
    await old.save();
    const next = await open(url);
    writeFileSync(path.join(old.folder, 'a'), 'too late');
    await expect(old.save()).rejects.toThrow(`the workspace ${url} could not be saved: another executor has opened it`);
    const failure = await old.close().catch((error: Error) => error.message);
    const [, kept] = /its files are in (.+)$/.exec(String(failure))!;
    expect(readFileSync(path.join(kept!, 'a'), 'utf8')).toBe('too late');
    rmSync(kept!, { recursive: true });
    expect(existsSync(old.folder)).toBe(false);
    expect(readFileSync(path.join(next.folder, 'a'), 'utf8')).toBe('old');
    await next.close();
  });

  it('keeps the last saved state if a save is interrupted, and removes what was sent', async () => {
    const url = place();
    const workspace = await open(url);
    writeFileSync(path.join(workspace.folder, 'a'), 'one');
    await workspace.save();
    // As after a kill: parts are announced and sent, and the new state is not written.
    const manifest = await manifestOf(url);
    const orphan = Buffer.from('two');
    const name = createHash('sha256').update(orphan).digest('hex');
    const objects = await objectsOf(url);
    await objects.put(name, orphan);
    await objects.put('manifest.json', Buffer.from(JSON.stringify({ ...manifest, removed: [name] })));
    const next = await open(url);
    expect(readFileSync(path.join(next.folder, 'a'), 'utf8')).toBe('one');
    await next.close();
    expect(await objects.get(name)).toBeUndefined();
    objects.close();
  });

  it('names a damaged file, a file that it cannot keep, and a bucket that does not answer', async () => {
    const url = place();
    const workspace = await open(url);
    writeFileSync(path.join(workspace.folder, 'a'), 'one');
    await workspace.save();
    symlinkSync('a', path.join(workspace.folder, 'link'));
    await expect(workspace.save()).rejects.toThrow('link is neither a file nor a folder');
    rmSync(path.join(workspace.folder, 'link'));
    await workspace.close();
    const objects = await objectsOf(url);
    const [{ parts }] = (await manifestOf(url)).files;
    await objects.put(parts[0], Buffer.from('damaged'));
    await expect(open(url)).rejects.toThrow(`the workspace ${url} could not be restored: a is damaged in the bucket`);
    const manifest = await manifestOf(url);
    manifest.files[0].path = '../outside';
    await objects.put('manifest.json', Buffer.from(JSON.stringify(manifest)));
    await expect(open(url)).rejects.toThrow('it has a file outside of its folder: ../outside');
    objects.close();
    const away = { ...environment(bucket!), AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' };
    await expect(openBucketWorkspace(url, [], away)).rejects.toThrow(`the workspace ${url} could not be read: `);
  });

  it('is that of an executor in a flow, saved when it asks and when it closes', async () => {
    const workspace = place();
    class Count extends Executor {
      static override readonly requests = requests<Count>({ '/count': 'count', '/save': 'save', '/look': 'look' });
      get file() {
        return path.join(this.context.workspace, 'count');
      }
      look = () => ({ count: readFileSync(this.file, 'utf8') });
      count() {
        writeFileSync(this.file, 'one');
      }
      save = async ({ docs }: Call) => {
        await this.context.saveWorkspace();
        return docs;
      };
    }
    const start = () =>
      flowOf([{ name: 'a', uses: Count, usesMetas: { name: 'mein Tee & Ü' }, env: environment(bucket!) }], {
        workspace,
      });
    const first = await start();
    await ask(first, { endpoint: '/count' });
    await ask(first, { endpoint: '/save' });
    expect((await manifestOf(workspace, 'mein Tee & Ü')).files).toHaveLength(1);
    await first.close();
    const second = await start();
    const answer = await ask(second, { endpoint: '/look' });
    expect(answer.parameters.__results__).toMatchObject({ 'a/rep-0': { count: 'one' } });
    await second.close();
  });

  it('is not saved by an executor that fails to start', async () => {
    const workspace = place();
    class Broken extends Executor {
      override start() {
        writeFileSync(path.join(this.context.workspace, 'half'), 'half');
        throw new Error('no start');
      }
    }
    await expect(flowOf([{ name: 'a', uses: Broken, env: environment(bucket!) }], { workspace })).rejects.toThrow(
      'start',
    );
    expect((await manifestOf(workspace, 'Broken')).files).toEqual([]);
  });

  it('needs one replica, and a valid URL', async () => {
    class Look extends Executor {
      static override readonly requests = requests<Look>({ '/look': 'look' });
      look = () => ({ workspace: this.context.workspace });
    }
    const flow = await flowOf([{ name: 'a', uses: Look, replicas: 2 }], { workspace: place() });
    const answer = await ask(flow, { endpoint: '/look' });
    expect(answer.header.status?.description).toContain('a: a workspace in a bucket needs replicas: 1');
    await flow.close();
    await expect(flowOf([{ name: 'a', uses: Look }], { workspace: 's3://B' })).rejects.toThrow('s3://bucket');
  });
});
