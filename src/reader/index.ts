/** Public interface of the reader: the only file that other modules import. */
export { type AbuseRefusals, createAbuseRefusals } from './abuse-refusals.ts';
export { PAGE_KINDS } from './article.ts';
export { BLOCKED_KINDS, type BlockedKind } from './blocked/blocked.ts';
export { type CacheOutcome, openCache, type SnapshotCache } from './cache/cache.ts';
export { type CachePlace, moveCache } from './cache/move-cache.ts';
export { mayWrite as mayCache } from './cache/rules.ts';
export { CACHE_MODULE, SHARED_MIGRATIONS as SHARED_CACHE_MIGRATIONS } from './cache/shared/tables.ts';
export { createCaptioner } from './captions.ts';
export type { ContentElement, TableCell } from './elements/content-element.ts';
export { createBrowserEngine } from './engines/browser/engine.ts';
export { findBrowser, userBrowserFolder } from './engines/browser/find.ts';
export { installBrowser, recordOffer, removeBrowser, wasOffered } from './engines/browser/install.ts';
export { createPool, type PagePool, type PoolStatus } from './engines/browser/pool.ts';
export { createRefusalLog, type RefusalLog } from './engines/browser/refusals.ts';
export { parseRemoteAddress, type RemoteAddress } from './engines/browser/remote/address.ts';
export { connectRemote } from './engines/browser/remote/connect.ts';
export { createRemotePool } from './engines/browser/remote/remote-pool.ts';
export { openResourceList, type ResourceList } from './engines/browser/resource-list.ts';
export { type BrowserGateway, createBrowserGateway } from './engines/browser/worker/gateway.ts';
export { createDirectEngine } from './engines/direct.ts';
export type { Engine } from './engines/engine.ts';
export { createRemoteEngine } from './engines/remote.ts';
export { createScriptFetcher } from './engines/script.ts';
export { type OnFetched, timedEngine } from './engines/timed.ts';
export { defaultUserAgent } from './engines/user-agent.ts';
export type { CrawlLink, CrawlLinks } from './extract/content/crawl-links.ts';
export { REMOVAL_STEPS } from './extract/content/removal-log.ts';
export { createImageScaler, type ImageScaler } from './file.ts';
export { describeImage } from './formats/describe-image.ts';
export { PICTURE_INSTRUCTION } from './formats/prompts.ts';
export { featuresNeeded } from './options/features.ts';
export {
  type GivenOptions,
  MODEL_FORMATS,
  OPTION_GROUPS,
  OPTIONS,
  type OptionGroup,
  type OptionRow,
  SINGLE_FORMATS,
} from './options/options.ts';
export { PRESET_OPTIONS } from './options/presets.ts';
export { type Options, resolve } from './options/resolve.ts';
export { type PlacedBlock, placeOfRange } from './places/placed-blocks.ts';
export type { PictureUrls } from './places/served-pictures.ts';
export { createReader, type Reader, type ReadRequest } from './read.ts';
export { createRenderer, type Renderer } from './renderer.ts';
export { type DetailLevel, orderedPage, type Page, type ReadDetails, type Rendition } from './rendition.ts';
export { createSiteRecords, type SiteRecords } from './site-records.ts';
export { blobUrl, cleanUrl, decodePathTarget, type Target } from './target.ts';
export {
  bytesOfToken,
  countTokens,
  decodeTokens,
  encodeTokens,
  keepTokens,
  loadTokens,
  tokenizerPieces,
} from './tokens.ts';
export { readUpload, type UploadedFile } from './upload.ts';
export { findStaleWarning } from './warnings.ts';
