/** The reader's table of contents: what the doors may use. */
export { createBrowserEngine } from './engines/browser/engine.ts';
export { findBrowser } from './engines/browser/find.ts';
export { createPool, type PoolStatus } from './engines/browser/pool.ts';
export { createRefusalLog } from './engines/browser/refusals.ts';
export { createDirectEngine } from './engines/direct.ts';
export { createScriptFetcher } from './engines/script.ts';
export { type GivenOptions, OPTIONS, type OptionRow } from './options/options.ts';
export { type Options, resolve } from './options/resolve.ts';
export { createReader, type Reader } from './read.ts';
export { createRenderer } from './renderer.ts';
export { orderedPage, type Page, type Rendition } from './rendition.ts';
export { blobUrl, cleanUrl, decodePathTarget, type Target } from './target.ts';
export { readUpload, type UploadedFile } from './upload.ts';
