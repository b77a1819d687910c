/** The icons of sites, from the sites themselves: as small PNG pictures in data URLs. */
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Entry } from './result.ts';

/** A picture fitted into a box of so many pixels a side; rejects for what is none. */
export type FitPicture = (
  bytes: Uint8Array,
  contentType: string,
  box: number,
  signal: AbortSignal,
) => Promise<{ readonly png: Uint8Array }>;

export interface Favicons {
  /** By origin; a site without one is absent. Never rejects. */
  of(
    entries: readonly Entry[],
    limits: { readonly signal: AbortSignal; readonly budgetMs: number },
  ): Promise<ReadonlyMap<string, string>>;
}

/** Contract, section 4. */
const SIDE_PX = 32;
const MAX_BYTES = 500_000;
const MAX_DATA_URL = 200_000;
const MAX_MS = 4_000;
const MOST_TRIED = 3;
const MOST_KEPT = 1_000;
const KEPT_MS = 86_400_000;

export function createFavicons({ fetch, fitPicture }: { fetch: GuardedFetch; fitPicture: FitPicture }): Favicons {
  const kept = new Map<string, { icon: string; at: number }>();

  async function load(url: string, signal: AbortSignal): Promise<string | undefined> {
    if (url.startsWith('data:')) return inPage(url, signal);
    const answer = await fetch(url, { signal, timeoutMs: MAX_MS, maxBytes: MAX_BYTES, minBytesPerSecond: 0 });
    if (answer.status !== 200) {
      answer.discard();
      return undefined;
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return drawn(Buffer.concat(chunks), answer.headers['content-type'] ?? '', signal);
  }

  /** An icon that stands in the page itself. */
  async function inPage(url: string, signal: AbortSignal): Promise<string | undefined> {
    const comma = url.indexOf(',');
    if (url.length > MAX_DATA_URL || comma < 0) return undefined;
    const head = url.slice('data:'.length, comma);
    const data = url.slice(comma + 1);
    const bytes = head.endsWith(';base64') ? Buffer.from(data, 'base64') : Buffer.from(decodeURIComponent(data));
    return drawn(bytes, head.split(';')[0]!, signal);
  }

  async function drawn(bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<string> {
    const { png } = await fitPicture(bytes, contentType, SIDE_PX, signal);
    return `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
  }

  async function iconOf(origin: string, entry: Entry, signal: AbortSignal): Promise<string | undefined> {
    const known = kept.get(origin);
    if (known && Date.now() - known.at < KEPT_MS) return known.icon;
    const said = entry.rendition?.page.external?.icon ?? {};
    for (const url of [...Object.keys(said).slice(0, MOST_TRIED), `${origin}/favicon.ico`]) {
      const icon = await load(url, signal).catch(() => undefined);
      if (signal.aborted) return undefined;
      if (!icon) continue;
      if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!);
      kept.set(origin, { icon, at: Date.now() });
      return icon;
    }
    return undefined;
  }

  return {
    async of(entries, { signal, budgetMs }) {
      const ends = AbortSignal.any([signal, AbortSignal.timeout(Math.min(MAX_MS, budgetMs))]);
      const firsts = new Map<string, Entry>();
      for (const entry of entries) {
        const { origin } = new URL(entry.hit.url);
        if (!firsts.get(origin)?.rendition) firsts.set(origin, entry);
      }
      const found = await Promise.all(
        [...firsts].map(async ([origin, entry]) => [origin, await iconOf(origin, entry, ends)] as const),
      );
      return new Map(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
    },
  };
}
