/** Derives the URL of each API from one base URL. */

export type FaceName = 'reader' | 'search' | 'models' | 'flow';
export type Places = Readonly<Record<FaceName, string>>;

export const DEFAULT_URL = 'http://127.0.0.1:3000';

const LAST_PORT = 65_535;

/** For each API, the first label of its host name, and the offset of its port from the reader's port. */
const FACES: readonly { name: FaceName; label: string; portOffset: number }[] = [
  { name: 'reader', label: 'r', portOffset: 0 },
  { name: 'search', label: 's', portOffset: 1 },
  { name: 'models', label: 'api', portOffset: 2 },
  { name: 'flow', label: 'flow', portOffset: 3 },
];

/**
 * Derives the URLs of the APIs: from `https://r.example.com`, the hosts `s.`, `api.` and `flow.`; from
 * `http://127.0.0.1:3000`, the ports 3001 to 3003. Omits APIs whose URLs cannot be derived. Throws a TypeError for a
 * URL that is not http or https.
 */
export function resolveFaceUrls(baseUrl = DEFAULT_URL, urls: Partial<Places> = {}): Partial<Places> {
  const base = parse(baseUrl);
  const [label, ...rest] = base.hostname.split('.');
  const isLabeled = rest.length > 0 && FACES.some((face) => face.label === label);
  const places: Partial<Record<FaceName, string>> = {};
  for (const { name, label: own, portOffset } of FACES) {
    const given = urls[name];
    if (given !== undefined) {
      places[name] = withoutTrailingSlash(parse(given));
      continue;
    }
    const url = new URL(base);
    if (isLabeled) url.hostname = [own, ...rest].join('.');
    else if (portOffset && !(url.port && Number(url.port) + portOffset <= LAST_PORT)) continue;
    else if (portOffset) url.port = String(Number(url.port) + portOffset);
    places[name] = withoutTrailingSlash(url);
  }
  return places;
}

function parse(text: string): URL {
  try {
    const url = new URL(text);
    if (/^https?:$/.test(url.protocol)) return url;
  } catch {
    // The text is not a URL.
  }
  throw new TypeError(`${text} is not an http or https URL`);
}

const withoutTrailingSlash = ({ origin, pathname }: URL) => origin + pathname.replace(/\/+$/, '');
