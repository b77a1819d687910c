/** The option `workspace`: a folder, or a place in a bucket. */
import path from 'node:path';
import { parseBucketUrl } from '#storage/blobs/s3-objects.ts';

export const isBucketUrl = (workspace: string): boolean => workspace.startsWith('s3://');

/** An absolute path, or the URL of the bucket. Throws an Error for an invalid URL. */
export function resolveWorkspace(workspace: string, baseDir = ''): string {
  if (!isBucketUrl(workspace)) return path.resolve(baseDir, workspace);
  parseBucketUrl(workspace);
  return workspace;
}
