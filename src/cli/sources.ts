/** Sources to read, from arguments and lists: URLs, files and standard input. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Target } from '#client/index.ts';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';

export type Source =
  | { readonly kind: 'url'; readonly name: string }
  | { readonly kind: 'file'; readonly name: string; readonly path: string }
  | { readonly kind: 'input'; readonly name: '-' };

/** Throws if a file does not exist. */
export function parseSource(argument: string): Source {
  if (argument === '-') return { kind: 'input', name: '-' };
  if (/^file:\/\//i.test(argument)) return fileSource(argument, pathOfFileUrl(argument));
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(argument)) return { kind: 'url', name: argument };
  if (existsSync(argument)) return fileSource(argument, argument);
  if (/^(?:\.{0,2}\/|~\/|[a-z]:\\)/i.test(argument)) throw usageError(`no such file: ${argument}`);
  if (looksLikeFile(argument))
    throw usageError(`no such file: ${argument}. If it is a web page, write https://${argument}`);
  return { kind: 'url', name: argument };
}

/** Whether the last part of a name without a scheme ends like a file, and its first part is not a host name. */
function looksLikeFile(argument: string): boolean {
  const parts = argument.replace(/[?#].*$/s, '').split(/[/\\]/);
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  return FILE_NAME.test(last) && (parts.length === 1 || !/[.:]|^localhost$/.test(first));
}

/** Names of files that Lectern reads. Of these endings, only `md` is also a top-level domain. */
const FILE_NAME =
  /\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|odp|rtf|epub|html?|xhtml|mhtml|txt|text|md|markdown|csv|tsv|json|jsonl|xml|ya?ml|eml|msg|png|jpe?g|gif|webp|tiff?|bmp|svg|avif|heic)$/i;

function pathOfFileUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw usageError(`${url} is not a local file`);
  }
}

function fileSource(name: string, file: string): Source {
  if (!existsSync(file)) throw usageError(`no such file: ${file}`);
  if (statSync(file).isDirectory())
    throw usageError(`${file} is a folder: name its files, such as ${path.join(file, '*.pdf')}`);
  return { kind: 'file', name, path: file };
}

/** Loads a source as the client's target; reads files and standard input. */
export async function loadTarget(
  source: Source,
  { input, signal }: Pick<CliContext, 'input' | 'signal'>,
  base: string | undefined,
): Promise<Target> {
  if (source.kind === 'url') return source.name;
  const bytes = new Uint8Array(
    source.kind === 'file' ? await readFile(source.path) : await buffer(addAbortSignal(signal, input)),
  );
  const url = base === undefined ? {} : { url: base };
  if (bytes.byteLength === 0)
    throw usageError(source.kind === 'file' ? `${source.path} is empty` : 'standard input is empty');
  if (source.kind === 'file') return { ...url, file: bytes, name: path.basename(source.path) };
  const text = decodeText(bytes);
  if (text === undefined) return { ...url, file: bytes, name: 'input' };
  return /<[a-z!?]/i.test(text.slice(0, HTML_SNIFF_CHARACTERS))
    ? { ...url, html: text }
    : { ...url, file: bytes, name: 'input.txt' };
}

/** Input counts as HTML if a tag starts within this many characters. */
const HTML_SNIFF_CHARACTERS = 4096;

/** Decodes UTF-8 text; `undefined` for PDF and other binary data. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (new TextDecoder('latin1').decode(bytes.subarray(0, 5)) === '%PDF-') return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Yields the lines of a list until the signal is aborted; skips blank lines and lines starting with `#`. */
export async function* readList(
  file: string,
  { input, signal }: Pick<CliContext, 'input' | 'signal'>,
): AsyncGenerator<string> {
  if (file !== '-' && !existsSync(file)) throw usageError(`no such file: ${file}`);
  const lines = createInterface({
    input: file === '-' ? input : createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
    signal,
  });
  for await (const line of lines) {
    const text = line.replace(/^\uFEFF/, '').trim();
    if (text && !text.startsWith('#')) yield text;
  }
}
