/** Client hints of a page: `navigator.userAgentData` and the `sec-ch-ua` headers, to match the user agent. */
import type { CDPSession } from 'playwright-core';
import { languagesOf } from '../language.ts';
import type { Identity } from '../user-agent.ts';

/** Without the override the hints name the headless browser, even if the user agent does not. */
export async function overrideHints(
  session: CDPSession,
  identity: Identity,
  locale: string | undefined,
): Promise<void> {
  const brands = brandsOf(identity);
  await session.send('Emulation.setUserAgentOverride', {
    userAgent: identity.userAgent,
    acceptLanguage: languagesOf(locale).join(','),
    userAgentMetadata: {
      brands,
      fullVersionList: brands.map(({ brand, version }) => ({ brand, version: `${version}.0.0.0` })),
      platform: unquoted(identity.hints['sec-ch-ua-platform'] ?? ''),
      platformVersion: '',
      architecture: 'x86',
      bitness: '64',
      model: '',
      mobile: identity.hints['sec-ch-ua-mobile'] === '?1',
    },
  });
}

/** Parses `"Chromium";v="153", "Google Chrome";v="153"`. */
const brandsOf = ({ hints }: Identity) =>
  [...(hints['sec-ch-ua'] ?? '').matchAll(/"([^"]*)";v="(\d+)"/g)].map(([, brand, version]) => ({
    brand: brand!,
    version: version!,
  }));

const unquoted = (text: string) => text.replaceAll('"', '');
