// Full run only: changes state of the whole process.
// Own process: it draws an SVG with sharp, which the image tests forbid in their process.
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { type RecordedRequest, type Reply, startChatServer } from '#models/chat/chat-server.suite.ts';
import { createModels } from '#models/index.ts';
import { startFetch, startServer } from '#net/loopback.suite.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { type Captioner, type CaptionOptions, createCaptioner } from './captions.ts';
import { renderHtml } from './render.suite.ts';

const trusted = createTrustedFetch({ region: 'any', euHosts: [], log: { info: () => {}, warn: () => {} } });
const NO_OPTIONS = {
  zeroDataRetention: false,
  doNotTrack: false,
  skipCertVerification: false,
  timeoutMs: undefined,
};
const NEVER = new AbortController().signal;

const png = (width: number, height = width, background = '#336699') =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

async function fitPicture(bytes: Uint8Array, _: string, box: number) {
  const { width = 0, height = 0 } = await sharp(bytes).metadata();
  const fitted = sharp(bytes).resize(box, box, { fit: 'inside', withoutEnlargement: true });
  return { png: await fitted.png().toBuffer(), width, height };
}

interface Setting {
  readonly rule?: (request: RecordedRequest, index: number) => Reply | Promise<Reply>;
  /** The pictures on the server, by path. */
  readonly pictures?: Readonly<Record<string, Uint8Array | string>>;
}

async function start({ rule = () => 'A blue square', pictures = {} }: Setting = {}) {
  const model = await startChatServer(rule);
  const fetched: string[] = [];
  const site = await startServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    fetched.push(request.url!);
    const found = pictures[path];
    if (found === undefined) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': typeof found === 'string' ? 'text/html' : 'image/png' }).end(found);
  });
  const settings = { visionUrl: model.url, visionModel: 'eyes', modelTimeoutMs: 60_000 };
  const { vision } = createModels(settings as never, { fetch: trusted });
  const captioner = createCaptioner({ vision: vision!, fetch: startFetch([site]), fitPicture });
  const captions = (paths: readonly string[], more: Partial<CaptionOptions> = {}) =>
    captionsOf(
      captioner,
      paths.map((path) => (path.startsWith('/') ? site.origin + path : path)),
      { url: site.origin, ...more },
    );
  return { captions, fetched, requests: model.requests, origin: site.origin };
}

async function captionsOf(captioner: Captioner, urls: readonly string[], more: Partial<CaptionOptions>) {
  const options = { ...NO_OPTIONS };
  const found = await captioner.captionsFor(
    urls.map((url) => ({ url, source: url })),
    { options, url: 'https://example.org/', signal: NEVER, ...more },
  );
  return urls.map((url) => found.get(url));
}

describe('captions', () => {
  it("are the model's description of the picture", async () => {
    const { captions, requests } = await start({
      pictures: { '/a.png': await png(2_000, 500) },
      rule: () => '"A wide\nblue  field"',
    });
    expect(await captions(['/a.png'])).toEqual(['A wide blue field']);
    const [, picture] = requests[0]!.messages[0]!.content as { image_url?: { url: string } }[];
    const shown = Buffer.from(picture!.image_url!.url.split(',')[1]!, 'base64');
    expect(await sharp(shown).metadata()).toMatchObject({ format: 'png', width: 1_024, height: 256 });
  });

  it('are a fixed sentence for small pictures, without a model', async () => {
    const { captions, requests } = await start({
      pictures: { '/a.png': await png(63, 800), '/b.png': await png(64, 64) },
    });
    expect(await captions(['/a.png', '/b.png'])).toEqual(['A small image of 63 x 800 pixels', 'A blue square']);
    expect(requests).toHaveLength(1);
  });

  it('are made for data URLs', async () => {
    const { captions } = await start();
    const base64 = `data:image/png;base64,${(await png(100)).toString('base64')}`;
    const text = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"/>')}`;
    expect(await captions([base64, text])).toEqual(['A blue square', 'A blue square']);
  });

  it('are cached by the bytes of a picture', async () => {
    const picture = await png(100);
    const { captions, requests } = await start({
      pictures: { '/a.png': picture, '/b.png': picture },
      rule: (_, index) => `Words ${index}`,
    });
    expect(await captions(['/a.png'])).toEqual(['Words 0']);
    expect(await captions(['/b.png'])).toEqual(['Words 0']);
    expect(requests).toHaveLength(1);
  });

  it.each(['zeroDataRetention', 'doNotTrack'])('are not cached with %s', async (name) => {
    const { captions, requests } = await start({ pictures: { '/a.png': await png(100) } });
    const options = { ...NO_OPTIONS, [name]: true };
    await captions(['/a.png'], { options });
    await captions(['/a.png'], { options });
    expect(requests).toHaveLength(2);
  });

  it('need at most four concurrent requests, and fifty in all', async () => {
    let now = 0;
    let peak = 0;
    const rule = async () => {
      now++;
      peak = Math.max(peak, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
      return 'words';
    };
    const pictures = Object.fromEntries(
      await Promise.all(Array.from({ length: 55 }, async (_, at) => [`/${at}.png`, await png(100, 100 + at)] as const)),
    );
    const { captions, requests } = await start({ pictures, rule });
    const found = await captions(Object.keys(pictures));
    expect(found.filter(Boolean)).toHaveLength(50);
    expect(requests).toHaveLength(50);
    expect(peak).toBe(4);
  });
});

describe('a picture without a caption', () => {
  it('cannot be fetched, is not a picture, or is at a refused URL', async () => {
    const { captions, fetched, requests } = await start({
      pictures: { '/page.png': '<p>no picture</p>', '/broken.png': Buffer.from('not a picture at all') },
    });
    const paths = [
      '/none.png',
      '/page.png',
      '/broken.png',
      'http://127.0.0.1:1/x.png',
      'data:nothing',
      'blob:x',
      'data:image/png,%E0%A4%A',
    ];
    expect(await captions(paths)).toEqual(paths.map(() => undefined));
    expect(fetched).toHaveLength(3);
    // Unchanged, because a failed caption is not retried within a day.
    expect(await captions(paths)).toEqual(paths.map(() => undefined));
    expect(fetched.filter((path) => path !== '/broken.png')).toHaveLength(2);
    expect(requests).toHaveLength(0);
  });

  it('failed in the model, which is not asked again', async () => {
    const { captions, requests } = await start({
      pictures: { '/a.png': await png(100), '/b.png': await png(101) },
      rule: (_, index) => (index === 0 ? { status: 500 } : 'words'),
    });
    expect(await captions(['/a.png'])).toEqual([undefined]);
    expect(await captions(['/a.png', '/b.png'])).toEqual([undefined, 'words']);
    expect(requests).toHaveLength(2);
  });

  it("takes longer than the caller's timeout", async () => {
    const { captions } = await start({
      pictures: { '/a.png': await png(100), '/b.png': await png(101) },
      rule: (_, index) => (index === 0 ? 'words' : new Promise<Reply>(() => {})),
    });
    expect(await captions(['/a.png'])).toEqual(['words']);
    const options = { ...NO_OPTIONS, timeoutMs: 400 };
    expect(await captions(['/a.png', '/b.png'], { options })).toEqual(['words', undefined]);
  });

  it('is not recorded as failed if the caller disconnected', async () => {
    const controller = new AbortController();
    const reason = new Error('aborted');
    let fetched = 0;
    const rule = () => {
      if (fetched++ > 0) return 'words';
      controller.abort(reason);
      return new Promise<Reply>(() => {});
    };
    const { captions } = await start({ pictures: { '/a.png': await png(100) }, rule });
    await expect(captions(['/a.png'], { signal: controller.signal })).rejects.toBe(reason);
    expect(await captions(['/a.png'])).toEqual(['words']);
  });
});

describe('captions in the Markdown', () => {
  const HTML = `<title>T</title><main><p>Some words around the pictures, so that there is something to read here.</p>
    <p><img src="a.png"> <img src="b.png" alt="Photo"> <img src="c.png" alt="A real text"> <img src="data:image/png;base64,AAAA"></p></main>`;
  const image = (name: string) => `https://example.org/${name}`;

  it('are requested for images without alt text', () => {
    const { uncaptioned } = renderHtml(HTML, { retainImages: 'all_p' });
    expect(uncaptioned).toEqual([
      { url: image('a.png'), source: image('a.png') },
      { url: image('b.png'), source: image('b.png') },
      { url: expect.stringMatching(/^blob:http:\/\/localhost\/[0-9a-f]{32}$/), source: 'data:image/png;base64,AAAA' },
    ]);
    expect(renderHtml(HTML, { withGeneratedAlt: true }).uncaptioned).toHaveLength(3);
    expect(renderHtml(HTML, { retainImages: 'alt_p' }).uncaptioned).toHaveLength(3);
    for (const retainImages of ['all', 'alt', 'none'] as const) {
      expect(renderHtml(HTML, { retainImages }).uncaptioned).toEqual([]);
    }
  });

  it('are inserted as one line', () => {
    const captions = { [image('a.png')]: 'One\n[dog]', [image('c.png')]: 'never', toString: 'never' };
    const { page, uncaptioned } = renderHtml(HTML, { retainImages: 'all_p', withImagesSummary: true }, captions);
    expect(page.content).toContain(
      `![Image 1: One \\[dog\\]](${image('a.png')}) ![Image 2: Photo](${image('b.png')}) ![Image 3: A real text](${image('c.png')})`,
    );
    expect(page.images).toMatchObject({ 'Image 1: One [dog]': image('a.png') });
    expect(uncaptioned).toHaveLength(2);
  });

  it('give a picture its number when only alt text is kept', () => {
    const { page } = renderHtml(HTML, { retainImages: 'alt_p' }, { [image('a.png')]: 'A dog' });
    expect(page.content).toContain('(Image 1: A dog) (Image 2: Photo) (Image 3: A real text)');
    expect(renderHtml(HTML, { retainImages: 'alt_p' }).page.content).toContain(
      '(Image 1: Photo) (Image 2: A real text)',
    );
  });

  it('cost at least the minimum price', () => {
    expect(renderHtml(HTML, { retainImages: 'all_p' }).tokens).toBe(765);
    expect(renderHtml(HTML, { retainImages: 'all' }).tokens).toBeLessThan(765);
  });
});
