/**
 * Where this process and all that it starts put temporary files: a folder that the next process removes when this one
 * is killed. Libraries ask the environment for it, so it is set there, once.
 */
import { openProcessFolder, type ProcessFolder } from '#storage/process-folder.ts';

let opened: Promise<ProcessFolder> | undefined;

export function processTemporaryFolder(): Promise<ProcessFolder> {
  opened ??= openProcessFolder().then((folder) => {
    for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder.path;
    process.once('exit', () => folder.remove());
    return folder;
  });
  return opened;
}
