import { beforeAll, expect, it } from 'vitest';
import { resolve } from './options/resolve.ts';
import { render } from './render.ts';
import { loadTokens } from './tokens.ts';

beforeAll(loadTokens);

const LIMITS = { maxDepth: 256, maxElements: 80_000, proxyFactor: 5, readerlmTokens: 60_000, visionTokens: 16_000 };

const metadataOf = (text: string, facts = {}, options = {}) =>
  render({
    snapshot: {
      url: 'https://tea.test/leaves',
      status: 200,
      statusText: 'OK',
      mediaType: 'text/html',
      text,
      settled: true,
      hiddenFrames: false,
      hiddenShadow: false,
      notes: [],
      engine: 'direct',
      ...facts,
    },
    options: resolve(options),
    requestedUrl: 'https://tea.test/leaves',
    limits: LIMITS,
  }).page.metadata ?? {};

const PAGE = `<html lang="en_gb"><head><title>Leaves | Tea Room</title><meta property="og:site_name" content="Tea Room">
<meta name="author" content="Ada Reyes"><meta property="article:modified_time" content="March 5, 2024">
<link rel="canonical" href="/tea/leaves"><meta property="og:image" content="leaf.png">
<meta name="lectern:author" content="Somebody Else"><meta name="LECTERN:image" content="x"></head>
<body><h1>Leaves</h1><p>${'Green leaves wither before they are rolled. '.repeat(20)}</p></body></html>`;

it('reports findings under names that no page can set', () => {
  for (const options of [{}, { respondWith: 'markdown' }]) {
    const metadata = metadataOf(PAGE, {}, options);
    expect(metadata).toMatchObject({
      lang: 'en_gb',
      author: 'Ada Reyes',
      'lectern:author': 'Ada Reyes',
      'lectern:modifiedTime': '2024-03-05',
      'lectern:siteName': 'Tea Room',
      'lectern:image': 'https://tea.test/leaf.png',
      'lectern:canonicalUrl': 'https://tea.test/tea/leaves',
      'lectern:language': 'en-GB',
    });
    expect(metadata).not.toHaveProperty('LECTERN:image');
  }
});

it('omits what it did not find', () => {
  const names = Object.keys(metadataOf('<p>Leaves wither.</p>'));
  for (const fact of ['author', 'modifiedTime', 'siteName', 'image', 'canonicalUrl', 'language']) {
    expect(names).not.toContain(`lectern:${fact}`);
  }
});

it('ignores bylines in the HTML made from a file', () => {
  const document = { title: 'Leaves', mediaType: 'application/pdf', metadata: { Author: 'Ben' }, hiddenCount: 0 };
  const metadata = metadataOf(PAGE, { document });
  expect(metadata).toMatchObject({ Author: 'Ben' });
  expect(metadata).not.toHaveProperty('lectern:author');
  expect(metadata).not.toHaveProperty('lectern:image');
});
