/** What an engine says it is: the user agent, and the client hints that go with it. */
import { createHash } from 'node:crypto';

export interface Identity {
  readonly userAgent: string;
  /** The `sec-ch-ua` headers of this browser; empty for what is not one of ours. They belong on https requests only. */
  readonly hints: Readonly<Record<string, string>>;
}

export interface IdentityFacts {
  /** The option: `lectern`, `diversify`, any other text as it is, or nothing for the default. */
  readonly userAgent?: string | undefined;
  /** The host of the target, by which `diversify` chooses: one host always sees the same browser. */
  readonly host: string;
  /** The major version of the Chromium that reads pages, so that both engines look alike. */
  readonly chromiumMajor?: number | undefined;
  /** Our own version, for `lectern`. */
  readonly version?: string | undefined;
}

/** The version that is named when no browser was asked for its own. */
const CHROMIUM_MAJOR = 142;

interface Browser {
  readonly system: string;
  readonly platform: string;
  readonly brand: string;
  readonly suffix?: string;
}

const LINUX_CHROME: Browser = { system: 'X11; Linux x86_64', platform: 'Linux', brand: 'Google Chrome' };

const BROWSERS: readonly Browser[] = [
  LINUX_CHROME,
  { system: 'Windows NT 10.0; Win64; x64', platform: 'Windows', brand: 'Google Chrome' },
  { system: 'Macintosh; Intel Mac OS X 10_15_7', platform: 'macOS', brand: 'Google Chrome' },
  { system: 'Windows NT 10.0; Win64; x64', platform: 'Windows', brand: 'Microsoft Edge', suffix: 'Edg' },
  { system: 'Macintosh; Intel Mac OS X 10_15_7', platform: 'macOS', brand: 'Microsoft Edge', suffix: 'Edg' },
];

const agentOf = ({ system, suffix }: Browser, major: number) =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36${suffix ? ` ${suffix}/${major}.0.0.0` : ''}`;

const hintsOf = ({ platform, brand }: Browser, major: number) => ({
  'sec-ch-ua': `"Chromium";v="${major}", "${brand}";v="${major}", "Not_A Brand";v="99"`,
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': `"${platform}"`,
});

/** The user agent when none is asked for: a desktop browser, never one that calls itself headless. */
export const defaultUserAgent = (chromiumMajor: number = CHROMIUM_MAJOR): string =>
  agentOf(LINUX_CHROME, chromiumMajor);

/** Who to be for a target. */
export function identify({ userAgent, host, chromiumMajor = CHROMIUM_MAJOR, version = '0' }: IdentityFacts): Identity {
  const asked = userAgent?.trim();
  const word = asked?.toLowerCase();
  if (word === 'lectern') return { userAgent: `Lectern/${version} (+automated reader)`, hints: {} };
  if (asked && word !== 'diversify') return { userAgent: asked, hints: {} };
  const browser = asked ? BROWSERS[createHash('sha256').update(host).digest()[0]! % BROWSERS.length]! : LINUX_CHROME;
  return { userAgent: agentOf(browser, chromiumMajor), hints: hintsOf(browser, chromiumMajor) };
}
