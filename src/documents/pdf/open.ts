/** Opens a file with PDF.js: the one place that loads it, with everything it needs from its own package. */
import { createRequire } from 'node:module';
import path from 'node:path';
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from 'pdfjs-dist';
import { DocumentError } from '../document.ts';
import { createPort, type Port } from './port.ts';
import { withNewEnd } from './repair.ts';

export type Library = typeof import('pdfjs-dist');

/** The half of PDF.js that reads files; the package has no types for it. */
interface WorkerHalf {
  readonly WorkerMessageHandler: { initializeFromPort(port: Port): void };
}

let loading: Promise<{ readonly pdf: Library; readonly half: WorkerHalf }> | undefined;

/** The legacy build is the one that runs on every Node we support; its types are those of the package. */
export const library = async (): Promise<Library> => (await halves()).pdf;

function halves() {
  loading ??= load();
  return loading;
}

/**
 * The legacy build puts a stand-in of its own in the place of `push`, for a fault of engines that nobody meets; it costs
 * a tenth of the time.
 */
async function load(): Promise<{ pdf: Library; half: WorkerHalf }> {
  const { push } = Array.prototype;
  const pdf = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const half: WorkerHalf = await import('pdfjs-dist/legacy/build/pdf.worker.mjs' as string);
  Array.prototype.push = push;
  return { pdf, half };
}

export interface Opened {
  readonly document: PDFDocumentProxy;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Images of more pixels are left out; 1 leaves out all that can be seen. */
  readonly maxImagePixels: number;
}

/** Opens a file, or what can be saved of it. Throws DocumentFault: `encrypted` when it asks for a password, `damaged` when nothing can be made of it. */
export async function open(bytes: Uint8Array, options: OpenOptions): Promise<Opened> {
  try {
    return await openAsItIs(bytes, options);
  } catch (error) {
    const repaired = error instanceof DocumentError && error.kind === 'damaged' ? withNewEnd(bytes) : null;
    if (!repaired) throw error;
    return await openAsItIs(repaired, options);
  }
}

async function openAsItIs(bytes: Uint8Array, { maxImagePixels }: OpenOptions): Promise<Opened> {
  const { pdf, half } = await halves();
  const port = createPort();
  half.WorkerMessageHandler.initializeFromPort(port);
  // It asks for a Worker of the web, and needs no more than its messages.
  const worker = new pdf.PDFWorker({ port: port as unknown as null, verbosity: pdf.VerbosityLevel.ERRORS });
  const folder = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const task: PDFDocumentLoadingTask = pdf.getDocument({
    worker,
    // PDF.js takes its buffer away, and callers may need theirs once more.
    data: bytes.slice(),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    standardFontDataUrl: `${folder}/standard_fonts/`,
    cMapUrl: `${folder}/cmaps/`,
    cMapPacked: true,
    wasmUrl: `${folder}/wasm/`,
    iccUrl: `${folder}/iccs/`,
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
    throw faultOf(error);
  }
}

function faultOf(error: unknown): DocumentError {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') return new DocumentError('encrypted', 'The PDF asks for a password', error);
  return new DocumentError('damaged', 'The PDF is damaged or is no PDF at all', error);
}
