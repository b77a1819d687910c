/** The identity of an engine: user agent and matching client hints. */
import { createHash } from 'node:crypto';

export interface Identity {
  readonly userAgent: string;
  /** `sec-ch-ua` headers of this browser, for https requests only; empty for custom user agents. */
  readonly hints: Readonly<Record<string, string>>;
}

export interface IdentityFacts {
  /**
   * Value of the `userAgent` option: `browser`, `bot`, `lectern`, `diversify`, a custom value, or `undefined` for the
   * default.
   */
  readonly userAgent?: string | undefined;
  /** Host of the target. `diversify` chooses by host, so that a host always sees the same browser. */
  readonly host: string;
  /** Major version of the Chromium that reads pages, so that both engines look the same to a target. */
  readonly chromiumMajor?: number | undefined;
  /** Version of this program, for `bot`. */
  readonly version?: string | undefined;
}

/** Major version of Chromium that is reported if no browser is installed. */
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

/** The default user agent: a desktop browser, never a headless one. */
export const defaultUserAgent = (chromiumMajor: number = CHROMIUM_MAJOR): string =>
  agentOf(LINUX_CHROME, chromiumMajor);

/** Values that stand for this program's own user agent. */
const BOT: readonly (string | undefined)[] = ['bot', 'lectern'];
/**
 * Values that mean the default. For HTTP requests, `src/api/user-agent.ts` has already replaced `auto`, `inherit` and
 * `pass-through`. Other entry points have no caller's User-Agent.
 */
const DEFAULT: readonly (string | undefined)[] = [undefined, '', 'browser', 'auto', 'inherit', 'pass-through'];

/** The identity to use for a target. */
export function identify({ userAgent, host, chromiumMajor = CHROMIUM_MAJOR, version = '0' }: IdentityFacts): Identity {
  const asked = userAgent?.trim();
  const word = asked?.toLowerCase();
  if (BOT.includes(word)) return { userAgent: `Lectern/${version} (+automated reader)`, hints: {} };
  if (asked && word !== 'diversify' && !DEFAULT.includes(word)) return { userAgent: asked, hints: {} };
  const browser =
    word === 'diversify' ? BROWSERS[createHash('sha256').update(host).digest()[0]! % BROWSERS.length]! : LINUX_CHROME;
  return { userAgent: agentOf(browser, chromiumMajor), hints: hintsOf(browser, chromiumMajor) };
}
