/** Takes screenshots of HTML that was made from a file, if the file itself cannot be rendered directly. */
import { problem } from '#errors.ts';
import type { Engine } from './engines/engine.ts';
import type { FileTools } from './file.ts';

const SHOT_TIMEOUT_MS = 15_000;

export const createShoot =
  (browser: Engine): NonNullable<FileTools['shoot']> =>
  async (html, options, signal) => {
    let picture: Uint8Array | undefined;
    const deadline = performance.now() + (options.timeoutMs ?? SHOT_TIMEOUT_MS);
    const visit = { url: 'about:blank', html, options, deadline, signal, keyed: true, folder: noFolder };
    for await (const { pageshot, screenshot } of browser.visit(visit)) picture = pageshot ?? screenshot ?? picture;
    return picture;
  };

const noFolder = async (): Promise<string> => {
  throw problem('InternalError');
};
