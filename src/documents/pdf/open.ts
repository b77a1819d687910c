/** Opens files with PDF.js. Only this module loads PDF.js and the resources in its package. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from 'pdfjs-dist';
import { DocumentError } from '../document.ts';
import { passwordError } from '../password-error.ts';
import { createPort, type Port } from './port.ts';
import { withNewTrailer } from './repair.ts';

export type Library = typeof import('pdfjs-dist');

/** The worker part of PDF.js, which parses files. The package contains no types for it. */
interface WorkerHalf {
  readonly WorkerMessageHandler: { initializeFromPort(port: Port): void };
}

let loading: Promise<{ readonly pdf: Library; readonly half: WorkerHalf }> | undefined;

/** Loads the legacy build, which runs on every supported Node version. Its types are those of the package. */
export const loadPdfJs = async (): Promise<Library> => (await halves()).pdf;

function halves() {
  loading ??= load();
  return loading;
}

/**
 * Restores `Array.prototype.push`, which the legacy build replaces with a polyfill for a bug that Node does not have.
 * The polyfill accounts for a tenth of the run time.
 */
async function load(): Promise<{ pdf: Library; half: WorkerHalf }> {
  const { push } = Array.prototype;
  const [pdf, half]: [Library, WorkerHalf] = [await importBuild('pdf'), await importBuild('pdf.worker')];
  Array.prototype.push = push;
  return { pdf, half };
}

const importBuild = (name: string) =>
  import(pathToFileURL(path.join(folder(), 'legacy', 'build', `${name}.min.mjs`)).href);

/** In the built package the files are in `dist/pdfjs/`; in the sources, in the package pdfjs-dist. */
function folder(): string {
  const built = fileURLToPath(new URL('../../pdfjs', import.meta.url));
  return existsSync(built) ? built : path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
}

export interface OpenedPdf {
  readonly document: PDFDocumentProxy;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Images with more pixels are left out; 1 leaves out all visible ones. */
  readonly maxImagePixels: number;
  /** Opens an encrypted file. */
  readonly password?: string | undefined;
}

/**
 * Opens a file, repairing it if needed. Throws DocumentError: `encrypted` if it needs a password, `wrong password` if it needs
 * another one, `damaged` if it cannot be repaired.
 */
export async function openPdf(bytes: Uint8Array, options: OpenOptions): Promise<OpenedPdf> {
  try {
    return await openAsItIs(bytes, options);
  } catch (error) {
    const repaired = error instanceof DocumentError && error.kind === 'damaged' ? withNewTrailer(bytes) : null;
    if (!repaired) throw error;
    return await openAsItIs(repaired, options);
  }
}

async function openAsItIs(bytes: Uint8Array, { maxImagePixels, password }: OpenOptions): Promise<OpenedPdf> {
  const { pdf, half } = await halves();
  const port = createPort();
  half.WorkerMessageHandler.initializeFromPort(port);
  // PDF.js expects a Web Worker, but only uses its messages.
  const worker = new pdf.PDFWorker({ port: port as unknown as null, verbosity: pdf.VerbosityLevel.ERRORS });
  const resources = folder();
  const task: PDFDocumentLoadingTask = pdf.getDocument({
    worker,
    // PDF.js detaches its buffer, and callers may need theirs again.
    data: bytes.slice(),
    ...(password !== undefined && { password }),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    standardFontDataUrl: `${resources}/standard_fonts/`,
    cMapUrl: `${resources}/cmaps/`,
    cMapPacked: true,
    wasmUrl: `${resources}/wasm/`,
    iccUrl: `${resources}/iccs/`,
    useWorkerFetch: false,
    enableXfa: false,
    maxImageSize: maxImagePixels,
    verbosity: pdf.VerbosityLevel.ERRORS,
  });
  const close = async () => {
    await task.destroy().catch(() => {});
    worker.destroy();
    port.terminate();
  };
  try {
    return { document: await task.promise, close };
  } catch (error) {
    await close();
    throw faultOf(error, password);
  }
}

function faultOf(error: unknown, password: string | undefined): DocumentError {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') return passwordError('PDF', password);
  return new DocumentError('damaged', 'The file is damaged or is not a PDF', error);
}
