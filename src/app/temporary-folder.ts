/**
 * The folder for temporary files of this process and its child processes. If this process is killed, the next one
 * removes the folder. Its path is set in the environment variables that libraries use for the temporary folder.
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
