/**
 * MediaWiki, the software of Wikipedia and many other wikis: https://www.mediawiki.org/wiki/API:Search. One client for
 * all wikis; those of Wikimedia are listed here, and the operator can add others by URL.
 */
import { ownValue } from '#own-value.ts';
import { finiteNumber, objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { baseLanguage } from '../languages.ts';
import type { OperatorName } from '../operators.ts';
import { textFor } from '../operators.ts';
import { type AnswerState, buildUrl, getJson, type Provider } from '../provider.ts';
import type { SearchQuery } from '../query.ts';
import type { SourceGroup } from '../source-groups.ts';

const OPERATORS: ReadonlySet<OperatorName> = new Set(['intitle']);
/** Maximum length of a query, in characters. MediaWiki rejects longer ones. */
const MAX_CHARACTERS = 300;
/** Wikis whose name differs from the language code. */
const WIKIS: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl' };
/** The namespace of files. */
const FILES = 6;

/** Editions of the smaller projects. For another language, the English edition is searched. */
const WIKINEWS = 'ar bg ca cs de el en eo es fa fi fr he it ja ko nl no pl pt ro ru sr sv ta tr uk zh';
const WIKIVOYAGE = 'bn de el en eo es fa fi fr he hi it ja nl pl ps pt ro ru sv tr uk vi zh';

interface Wiki {
  readonly name: string;
  readonly url?: string;
  /** The name of the site, and the licence of its text. Unknown for a wiki of the operator's choice. */
  readonly title?: string;
  readonly license?: string;
  readonly groups: readonly SourceGroup[];
  readonly host?: string;
  /** Languages of its editions, if they are few. */
  readonly editions?: string;
  readonly kinds?: Provider['kinds'];
}

/** Replaces `{language}` in the URL with the language of the query, or with English. */
function wikiOf(url: string, { language }: SearchQuery, editions?: string): string {
  const base = language === undefined ? 'en' : baseLanguage(language);
  const code = ownValue(WIKIS, base) ?? base;
  return url.replace('{language}', editions && !editions.split(' ').includes(code) ? 'en' : code);
}

const pageUrl = (wiki: string, title: string): string =>
  buildUrl(wiki, '/wiki/').href +
  encodeURIComponent(title.replaceAll(' ', '_')).replaceAll('%2F', '/').replaceAll('%3A', ':');

const inspect = (answer: unknown): AnswerState => {
  const code = valueAt(answer, 'error.code');
  if (code === undefined) return {};
  const isBusy = code === 'maxlag' || code === 'ratelimited';
  return { error: isBusy ? 'asks for a pause' : 'answered with an error', restMs: isBusy ? BUSY_MS : 0 };
};
const BUSY_MS = 5_000;
/** Wikimedia refuses requests while its databases lag behind by more than this, in seconds. */
const MAX_LAG_S = 5;

function createWiki({ name, url, title, license, groups, host, editions, kinds = ['web'] }: Wiki): Provider {
  return {
    name,
    kinds,
    needsKey: false,
    url,
    paging: 'exact',
    maxCount: 50,
    operators: OPERATORS,
    source: {
      groups,
      operator: url === undefined ? name : 'wikimedia',
      // Wikimedia publishes no number for reads, but asks for one request after another.
      limits: [{ requests: 10, seconds: 1 }],
      contact: url === undefined ? 'welcome' : 'required',
      ...(host !== undefined && { hosts: [host] }),
      documentation: 'https://www.mediawiki.org/wiki/API:Search',
    },
    request(query, settings) {
      const { count, page, noCorrection } = query;
      const parameters = {
        action: 'query',
        list: 'search',
        format: 'json',
        formatversion: 2,
        srsearch: textFor(query, OPERATORS).slice(0, MAX_CHARACTERS),
        srlimit: count,
        sroffset: (page - 1) * count,
        srprop: 'snippet|timestamp',
        srenablerewrites: noCorrection ? undefined : 1,
        maxlag: MAX_LAG_S,
      };
      return getJson(buildUrl(wikiOf(settings.url, query, editions), '/w/api.php', parameters));
    },
    inspect,
    parse: (answer, query, settings) =>
      objectsIn(valueAt(answer, 'query.search')).flatMap((result) => {
        const page = typeof result.title === 'string' ? result.title : '';
        return toHit({
          title: page,
          url: page && pageUrl(wikiOf(settings.url, query, editions), page),
          description: result.snippet,
          source: title ?? new URL(settings.url).hostname,
          date: result.timestamp,
          attribution: license,
        });
      }),
  };
}

const TEXT_LICENSE = 'CC BY-SA 4.0';

export const wikipedia = createWiki({
  name: 'wikipedia',
  url: 'https://{language}.wikipedia.org',
  title: 'Wikipedia',
  license: `Wikipedia contributors, ${TEXT_LICENSE}`,
  groups: ['encyclopedia'],
  host: 'wikipedia.org',
});

export const wiktionary = createWiki({
  name: 'wiktionary',
  url: 'https://{language}.wiktionary.org',
  title: 'Wiktionary',
  license: `Wiktionary contributors, ${TEXT_LICENSE}`,
  groups: ['encyclopedia'],
  host: 'wiktionary.org',
});

export const wikivoyage = createWiki({
  name: 'wikivoyage',
  url: 'https://{language}.wikivoyage.org',
  title: 'Wikivoyage',
  license: `Wikivoyage contributors, ${TEXT_LICENSE}`,
  groups: ['encyclopedia'],
  host: 'wikivoyage.org',
  editions: WIKIVOYAGE,
});

export const wikinews = createWiki({
  name: 'wikinews',
  url: 'https://{language}.wikinews.org',
  title: 'Wikinews',
  license: 'Wikinews contributors, CC BY',
  groups: [],
  host: 'wikinews.org',
  editions: WIKINEWS,
  kinds: ['web', 'news'],
});

/** Any wiki, by its URL. */
export const mediawiki = createWiki({ name: 'mediawiki', groups: ['encyclopedia'] });

/** Wikimedia Commons: images, with the size, author and licence of each file (API:Imageinfo). */
export const commons: Provider = {
  ...createWiki({
    name: 'commons',
    url: 'https://commons.wikimedia.org',
    groups: [],
    host: 'wikimedia.org',
    kinds: ['images'],
  }),
  request(query, { url }) {
    const { count, page } = query;
    const parameters = {
      action: 'query',
      generator: 'search',
      format: 'json',
      formatversion: 2,
      gsrsearch: textFor(query, OPERATORS).slice(0, MAX_CHARACTERS),
      gsrnamespace: FILES,
      gsrlimit: count,
      gsroffset: (page - 1) * count,
      prop: 'imageinfo',
      iiprop: 'url|size|timestamp|extmetadata',
      iiextmetadatafilter: 'LicenseShortName|Artist|ImageDescription',
      maxlag: MAX_LAG_S,
    };
    return getJson(buildUrl(url, '/w/api.php', parameters));
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'query.pages'))
      .sort((a, b) => (finiteNumber(a.index) ?? 0) - (finiteNumber(b.index) ?? 0))
      .flatMap((file) => {
        const of = (path: string) => valueAt(file, `imageinfo.0.${path}`);
        const credits = ['extmetadata.Artist.value', 'extmetadata.LicenseShortName.value'];
        return toHit({
          title: typeof file.title === 'string' ? file.title.replace(/^File:/, '') : '',
          url: of('descriptionurl'),
          description: of('extmetadata.ImageDescription.value'),
          source: 'Wikimedia Commons',
          date: of('timestamp'),
          imageUrl: of('url'),
          imageWidth: of('width'),
          imageHeight: of('height'),
          attribution: credits
            .map((path) => plainLine(of(path), 200))
            .filter(Boolean)
            .join(', '),
        });
      }),
};
