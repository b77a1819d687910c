/** Fetches sites' icons, and converts them to small PNGs in data URLs. */
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Entry } from './result.ts';

/** Scales an image to fit into a square with sides of `box` pixels. Rejects if the input is not an image. */
export type FitPicture = (
  bytes: Uint8Array,
  contentType: string,
  box: number,
  signal: AbortSignal,
) => Promise<{ readonly png: Uint8Array }>;

export interface Favicons {
  /** Returns icons by origin; sites without an icon are absent. Never rejects. */
  find(
    entries: readonly Entry[],
    limits: { readonly signal: AbortSignal; readonly budgetMs: number },
  ): Promise<ReadonlyMap<string, string>>;
}

/** Side length in pixels (docs/reference/wire/search.md, Results). */
const SIDE_PX = 32;
const MAX_BYTES = 500_000;
const MAX_DATA_URL = 200_000;
const MAX_MS = 4_000;
/** Maximum number of declared icons that are tried. */
const MAX_TRIED = 3;
const MAX_CACHED = 1_000;
const CACHE_MS = 86_400_000;

export function createFavicons({ fetch, fitPicture }: { fetch: GuardedFetch; fitPicture: FitPicture }): Favicons {
  const cache = new Map<string, { icon: string; at: number }>();

  async function load(url: string, signal: AbortSignal): Promise<string | undefined> {
    if (url.startsWith('data:')) return decodeDataUrl(url, signal);
    const answer = await fetch(url, { signal, timeoutMs: MAX_MS, maxBytes: MAX_BYTES, minBytesPerSecond: 0 });
    if (answer.status !== 200) {
      answer.discard();
      return undefined;
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return toPng(Buffer.concat(chunks), answer.headers['content-type'] ?? '', signal);
  }

  /** Decodes an icon that the page contains as a data URL. */
  async function decodeDataUrl(url: string, signal: AbortSignal): Promise<string | undefined> {
    const comma = url.indexOf(',');
    if (url.length > MAX_DATA_URL || comma < 0) return undefined;
    const head = url.slice('data:'.length, comma);
    const data = url.slice(comma + 1);
    const bytes = head.endsWith(';base64') ? Buffer.from(data, 'base64') : Buffer.from(decodeURIComponent(data));
    return toPng(bytes, head.split(';')[0]!, signal);
  }

  async function toPng(bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<string> {
    const { png } = await fitPicture(bytes, contentType, SIDE_PX, signal);
    return `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
  }

  async function iconOf(origin: string, entry: Entry, signal: AbortSignal): Promise<string | undefined> {
    const known = cache.get(origin);
    if (known && Date.now() - known.at < CACHE_MS) return known.icon;
    const declared = entry.rendition?.page.external?.icon ?? {};
    for (const url of [...Object.keys(declared).slice(0, MAX_TRIED), `${origin}/favicon.ico`]) {
      const icon = await load(url, signal).catch(() => undefined);
      if (signal.aborted) return undefined;
      if (!icon) continue;
      if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
      cache.set(origin, { icon, at: Date.now() });
      return icon;
    }
    return undefined;
  }

  return {
    async find(entries, { signal, budgetMs }) {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(Math.min(MAX_MS, budgetMs))]);
      const firstEntries = new Map<string, Entry>();
      for (const entry of entries) {
        const { origin } = new URL(entry.hit.url);
        if (!firstEntries.get(origin)?.rendition) firstEntries.set(origin, entry);
      }
      const found = await Promise.all(
        [...firstEntries].map(async ([origin, entry]) => [origin, await iconOf(origin, entry, deadline)] as const),
      );
      return new Map(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
    },
  };
}
