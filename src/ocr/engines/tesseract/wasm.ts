/**
 * The built-in Tesseract: a WebAssembly build with language data from installed packages. It makes no network requests.
 * Runs in a child process (`ocr/worker.ts`).
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { modelsFile } from '#models-package.ts';
import type { Segmentation } from '../../engine.ts';
import { IMAGE_DPI, SEGMENTATION_MODES } from './tesseract.ts';

/** The part of the tesseract.js-core API in use; the package has no types. */
interface Core {
  readonly FS: { writeFile(name: string, data: Uint8Array): void; unlink(name: string): void };
  readonly TessBaseAPI: new () => Api;
}

interface Api {
  Init(dataPath: null, languages: string, engine: number, config?: string): number;
  SetVariable(name: string, value: string): void;
  SetImageFile(exifOrientation: number, angle: number): number;
  Recognize(monitor: null): number;
  GetHOCRText(): string;
  Clear(): void;
  End(): void;
}

type CreateCore = (options: { readonly wasmBinary: Uint8Array }) => Promise<Core>;

/** Values of Tesseract's API: the engine mode OEM_LSTM_ONLY, and Exif orientation 1 (upright). */
const LSTM_ENGINE = 1;
const EXIF_UPRIGHT = 1;
const PICTURE = '/input';

const require = createRequire(import.meta.url);

/**
 * Path of a language's data: in the package `lectern-models`, otherwise in a package `@tesseract.js-data/...`, as in a
 * checkout that has not been built. `undefined` if there is none.
 */
export function languageFile(language: string): string | undefined {
  const shipped = shippedFile(`tessdata/${language}.traineddata.gz`);
  if (shipped !== undefined) return shipped;
  try {
    const folder = path.dirname(require.resolve(`@tesseract.js-data/${language}/package.json`));
    return path.join(folder, '4.0.0_best_int', `${language}.traineddata.gz`);
  } catch {
    return undefined;
  }
}

let started: Promise<Core> | undefined;
const loaded = new Set<string>();
let ready: { readonly languages: string; readonly api: Api } | undefined;

/** Returns the hOCR of an image. All languages must be installed. */
export async function recognizeBuiltIn(
  picture: Uint8Array,
  { languages, segmentation }: { languages: readonly string[]; segmentation: Segmentation },
): Promise<string> {
  started ??= startCore();
  const core = await started;
  const api = await apiFor(core, languages);
  core.FS.writeFile(PICTURE, picture);
  try {
    api.SetVariable('tessedit_pageseg_mode', SEGMENTATION_MODES[segmentation]);
    api.SetVariable('user_defined_dpi', IMAGE_DPI);
    if (api.SetImageFile(EXIF_UPRIGHT, 0) === 1) throw new Error('the image cannot be read');
    api.Recognize(null);
    return api.GetHOCRText();
  } finally {
    api.Clear();
    core.FS.unlink(PICTURE);
  }
}

/** Every supported Node version has the vector instructions (SIMD) that this build needs. */
const CORE = 'tesseract-core-simd-lstm';

async function startCore(): Promise<Core> {
  const file = coreFile();
  const create = require(file) as CreateCore;
  return create({ wasmBinary: await readFile(path.join(path.dirname(file), `${CORE}.wasm`)) });
}

/** The program is in the package `lectern-models`; in a checkout that has not been built, in tesseract.js-core. */
const coreFile = () => shippedFile(`tesseract/${CORE}.js`) ?? require.resolve(`tesseract.js-core/${CORE}.js`);

/** Returns the path of a file of `lectern-models`; `undefined` if it has no such file, or is not installed. */
function shippedFile(name: string): string | undefined {
  try {
    const file = modelsFile(name);
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

async function apiFor(core: Core, languages: readonly string[]): Promise<Api> {
  const joined = languages.join('+');
  if (ready?.languages === joined) return ready.api;
  for (const language of languages) {
    const file = languageFile(language);
    if (loaded.has(language) || file === undefined) continue;
    core.FS.writeFile(`${language}.traineddata`, gunzipSync(await readFile(file)));
    loaded.add(language);
  }
  ready?.api.End();
  ready = undefined;
  const api = new core.TessBaseAPI();
  if (api.Init(null, joined, LSTM_ENGINE) !== 0) throw new Error(`cannot load the language data of ${joined}`);
  ready = { languages: joined, api };
  return api;
}
