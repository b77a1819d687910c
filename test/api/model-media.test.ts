/**
 * Pictures, PDFs, video clips and audio over HTTP, with models that have fixed weights: every input format, every
 * refusal, the vectors and the charges.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '#concurrency/find-program.ts';
import { createDocuments, type Documents } from '#documents/documents.ts';
import { fitImage } from '#documents/image/fit.ts';
import { decodePixels } from '#documents/image/raster.ts';
import type { Pixels } from '#documents/image/resample.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { drawPdf, write } from '#documents/pdf/drawn.suite.ts';
import { CLAP_RULE, logMel } from '#models/media/sound.ts';
import { audioVector, imageVector, RULE, SIZE, textVector, writeTowers } from '#models/onnx/towers.suite.ts';
import { createFetch, type GuardedFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createRegion } from '#net/region.ts';
import { createLog } from '#telemetry/log.ts';
import { startRealModelHost, type TestModelHost } from '../support/model-host.ts';

const log = createLog('silent');
const wait = { timeout: 240_000 };
const hasFfmpeg = findProgram('ffmpeg') !== undefined;

let folder: string;
let host: TestModelHost;
let without: TestModelHost;
let relay: TestModelHost;
let documents: Documents;
let guarded: GuardedFetch;
let files: Server;
let speech: Server;
let site: string;
const heard: string[] = [];
const served: Record<string, Uint8Array> = {};

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

/** A picture of 12 x 8 pixels, all different. */
const drawn = () => ({ width: 12, height: 8, rgb: Uint8Array.from({ length: 288 }, (_, at) => (at * 53 + 20) % 256) });
const raw = ({ width, height, rgb }: Pixels = drawn()) =>
  sharp(Buffer.from(rgb), { raw: { width, height, channels: 3 } });
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
let png: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'media-'));
  png = await raw().png().toBuffer();
  files = createServer((request, response) => {
    const bytes = served[request.url ?? ''];
    if (request.url === '/inward') response.writeHead(302, { location: 'http://127.0.0.2:1/' }).end();
    else if (bytes) response.end(bytes);
    else response.writeHead(404).end();
  });
  site = await listening(files);
  speech = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    heard.push(Buffer.concat(chunks).toString('latin1'));
    response.end(JSON.stringify({ text: ' the river ' }));
  });
  const speechUrl = `${await listening(speech)}/v1`;
  documents = createDocuments({
    memoryMb: 1_024,
    timeoutMs: 60_000,
    libreoffice: createLibreOffice({ program: 'none', temporaryDir: folder }),
  });
  const guard = createGuard({ allow: ['127.0.0.1'] });
  guarded = createFetch({ guard, region: createRegion({ region: 'any', euHosts: [], log }) });
  const rows = await Promise.all([
    writeTowers(path.join(folder, 'clip'), 'clip', { id: 'sees', matryoshka: [SIZE] }),
    writeTowers(path.join(folder, 'strict'), 'clip', { id: 'strict', kind: 'clip-v1' }),
    writeTowers(path.join(folder, 'pages'), 'clip', { id: 'reads-pages', kind: 'clip-v2', pdf: 'text' }),
    writeTowers(path.join(folder, 'clap'), 'clap', { id: 'hears', spaces: { text: 'clap', audio: 'clap' } }),
    writeTowers(path.join(folder, 'apart'), 'clap', { id: 'apart', spaces: { text: 'words', audio: 'sounds' } }),
  ]);
  const settings = { models: rows, modelAliases: { 'jina-clip-v2': 'strict' }, modelDeadlineMs: 200_000 };
  const media = { fetch: guarded, documents, ocr: undefined, temporaryDir: folder };
  host = await startRealModelHost({ ...settings, speechUrl }, { media });
  const far = (protocol: string, kind: string, id = `${protocol}-${kind}`) => ({
    ...{ id, does: 'embed', kind, dimensions: SIZE, contextTokens: 64 },
    runs: { on: 'remote', protocol, url: host.url, model: 'sees', key: 'test-key' },
  });
  const remotes = [
    far('lectern', 'omni-v5'),
    far('lectern', 'clip-v1'),
    far('openai', 'clip-v1'),
    far('openai', 'text-v3'),
  ];
  relay = await startRealModelHost({ models: remotes }, { media });
  without = await startRealModelHost({ ...settings, ffmpeg: '/none/ffmpeg' }, { media: { temporaryDir: folder } });
}, 240_000);

afterAll(async () => {
  await host?.close();
  await without?.close();
  await relay?.close();
  await documents.close();
  await guarded.close();
  files.close();
  speech.close();
  await rm(folder, { recursive: true, force: true });
});

const embed = (body: Record<string, unknown>, at = host) => at.post('/v1/embeddings', { model: 'sees', ...body });
const unit = (values: readonly number[]) => {
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
};
const meanOf = (vectors: readonly number[][]) =>
  vectors[0]!.map((_, at) => vectors.reduce((sum, vector) => sum + vector[at]!, 0) / vectors.length);
function expectClose(found: readonly number[], wanted: readonly number[], tolerance = 1e-4): void {
  expect(found).toHaveLength(wanted.length);
  for (const [at, value] of wanted.entries()) expect(Math.abs(found[at]! - value)).toBeLessThan(tolerance);
}
const seen = (picture: Pixels = drawn()) => unit(imageVector(fitImage(picture, RULE).rgb));
const read = (...pieces: string[]) => unit(textVector(['[CLS]', ...pieces, '[SEP]']));
const vectorsOf = async (body: Record<string, unknown>): Promise<number[][]> => {
  const answer = await embed(body);
  expect(answer.body).toMatchObject({ object: 'list' });
  return answer.body.data.map(({ embedding }: { embedding: number[] }) => embedding);
};
/** Field and type of the first validation error, and its message. */
const faultOf = async (body: Record<string, unknown>, at = host) => {
  const { status, body: answer } = await embed(body, at);
  expect(status, JSON.stringify(answer)).toBe(422);
  const [{ field, type, message }] = answer.errors;
  return [field, type, message] as const;
};

describe('shorter vectors', wait, () => {
  it('are prefixes of the whole ones for texts, pictures and both, in every encoding', async () => {
    const input = ['tea', { image: base64(png) }, { content: [{ text: 'tea' }, { image: base64(png) }] }];
    const whole = await vectorsOf({ input });
    expect(whole.map(({ length }) => length)).toEqual([SIZE, SIZE, SIZE]);
    for (const dimensions of [1, 2, SIZE - 1, SIZE]) {
      const expected = whole.map((vector) => unit(vector.slice(0, dimensions)));
      const floats = await vectorsOf({ input, dimensions });
      const { body } = await embed({ input, dimensions, embedding_type: ['base64', 'binary', 'ubinary'] });
      for (const [at, vector] of floats.entries()) {
        expectClose(vector, expected[at]!);
        const { base64: encoded, binary, ubinary } = body.data[at].embedding;
        const bytes = Buffer.from(encoded, 'base64');
        expectClose(
          Array.from(vector, (_, index) => bytes.readFloatLE(4 * index)),
          vector,
        );
        const bits = Array.from({ length: Math.ceil(dimensions / 8) }, (_, byte) =>
          vector.slice(8 * byte, 8 * byte + 8).reduce((sum, value, bit) => sum + (value > 0 ? 128 >> bit : 0), 0),
        );
        expect([ubinary, binary]).toEqual([bits, bits.map((byte) => byte - 128)]);
      }
    }
    expect(await faultOf({ input, dimensions: SIZE + 1 })).toEqual([
      'body -> dimensions',
      'less_than_equal',
      `must be at most ${SIZE}`,
    ]);
  });
});

describe('a picture', wait, () => {
  it('has the same vector as plain arithmetic, in every form that clients send', async () => {
    served['/a.png'] = png;
    const plain = base64(png);
    const forms = [
      { image: plain },
      { image: `data:image/png;base64,${plain}` },
      { image: png.toString('base64url') },
      { image: plain.replace(/(.{60})/g, '$1\n') },
      { image: `${site}/a.png` },
      { url: `${site}/a.png` },
      { bytes: plain },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${plain}` } },
      { type: 'image', format: 'base64', value: plain },
      { text: null, image: plain, url: null, content: null },
    ];
    const vectors = await vectorsOf({ input: forms });
    expect(vectors).toHaveLength(forms.length);
    for (const vector of vectors) expectClose(vector, seen());
    expectClose((await vectorsOf({ input: forms[0] }))[0]!, seen());
  });

  it('may stand among texts, is counted by its patches, and is charged', async () => {
    const before = host.charges.length;
    const { body } = await embed({ input: ['the river', { image: base64(png) }, { text: 'zoo' }] });
    expectClose(body.data[0].embedding, read('the', 'river'));
    expectClose(body.data[1].embedding, seen());
    expectClose(body.data[2].embedding, read('zoo'));
    expect(body.usage).toEqual({ total_tokens: 4 + 4 + 3, prompt_tokens: 11, image_tokens: 4 });
    expect(host.charges[before]).toMatchObject({ tokens: 11, model: 'sees' });
  });

  it('with a text makes one vector: the mean of their directions', async () => {
    const content = [{ type: 'text', text: 'zoo' }, { image: base64(png) }];
    const mean = meanOf([read('zoo'), seen()]);
    const [[fused, alone], [bare]] = [
      await vectorsOf({ input: [{ content }, 'zoo'] }),
      await vectorsOf({ input: { content }, normalized: false }),
    ];
    expectClose(fused!, unit(mean));
    expectClose(alone!, read('zoo'));
    expectClose(bare!, mean);
  });

  it('is read upright, on white, as 8-bit RGB', async () => {
    const { rgb } = drawn();
    const turned = new Uint8Array(288);
    // The camera was held upside down (orientation 3).
    for (let at = 0; at < 96; at++) turned.set(rgb.subarray(at * 3, at * 3 + 3), (95 - at) * 3);
    const upright = await raw({ ...drawn(), rgb: turned })
      .withMetadata({ orientation: 3 })
      .png()
      .toBuffer();
    const clear = await sharp({ create: { width: 8, height: 8, channels: 4, background: '#12345600' } })
      .png()
      .toBuffer();
    const deep = await raw().toColourspace('rgb16').png().toBuffer();
    const grey = await raw().greyscale().png().toBuffer();
    const cmyk = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#ffffff' } })
      .toColourspace('cmyk')
      .jpeg({ quality: 100 })
      .toBuffer();
    const frames = Buffer.concat([rgb, new Uint8Array(288)]);
    const moving = await sharp(frames, { raw: { width: 12, height: 16, channels: 3, pageHeight: 8 } })
      .webp({ lossless: true })
      .toBuffer();
    const input = [upright, clear, deep, cmyk, moving, grey].map((bytes) => ({ image: base64(bytes) }));
    const vectors = await vectorsOf({ input });
    const white = { width: 8, height: 8, rgb: new Uint8Array(192).fill(255) };
    expectClose(vectors[0]!, seen());
    expectClose(vectors[1]!, seen(white));
    expectClose(vectors[2]!, seen());
    expectClose(vectors[3]!, seen(white), 0.05);
    expectClose(vectors[4]!, seen());
    expect(vectors[5]).toHaveLength(SIZE);
  });

  it('is returned in the same formats as any other vector', async () => {
    const input = { image: base64(png) };
    expectClose((await vectorsOf({ input, normalized: false }))[0]!, imageVector(fitImage(drawn(), RULE).rgb));
    const [bits] = await vectorsOf({ input, embedding_type: 'ubinary' });
    const expected = seen().reduce((sum, value, at) => sum + (at < 8 && value > 0 ? 128 >> at : 0), 0);
    expect(bits![0]).toBe(expected);
  });
});

describe('an invalid image', wait, () => {
  /** The header of a PNG of this size. */
  const headOf = (width: number, height: number) => {
    const bytes = Buffer.from(png);
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  };

  it.each([
    ['nothing', '', 'must not be empty'],
    ['no base64', '{}', 'must be an http or https URL'],
    ['a file of this machine', 'file:///etc/passwd', 'must be an http or https URL'],
    ['no picture', base64(Buffer.from('hello, this is text')), 'cannot be read'],
    ['30,000 pixels a side', () => base64(headOf(30_000, 30_000)), '100 million pixels'],
    ['a lying head', () => base64(headOf(9_000, 9_000)), 'cannot be read'],
    ['one that is cut off', () => base64(png.subarray(0, png.length - 30)), 'truncated'],
    [
      'an SVG with a script',
      base64(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("http://127.0.0.1")</script></svg>')),
      'not supported',
    ],
    ['9 MB', () => base64(Buffer.concat([png, Buffer.alloc(9_000_000)])), 'at most 8 MB'],
    ['an address that is refused', 'http://127.0.0.2:1/a.png', 'may not fetch'],
    ['one that leads inward', () => `${site}/inward`, 'may not fetch'],
    ['one that is not there', () => `${site}/none.png`, 'responded with status 404'],
  ])('is told in its place: %s', async (_, value, message) => {
    const image = typeof value === 'string' ? value : value();
    const [field, type, said] = await faultOf({ input: ['x', { image }] });
    expect([field, type]).toEqual(['body -> input -> 1 -> image', 'media_error']);
    expect(said).toContain(message);
    expect(said).not.toContain('127.0.0');
  });

  it('is reported with all others, with the path in the form that was sent', async () => {
    const { body } = await embed({
      input: [
        { url: 'http://10.0.0.1/' },
        { bytes: '*' },
        { type: 'image_url', image_url: { url: '*' } },
        { content: [{ image: '*' }] },
      ],
    });
    expect(body.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
      'body -> input -> 0 -> url',
      'body -> input -> 1 -> bytes',
      'body -> input -> 2 -> image_url -> url',
      'body -> input -> 3 -> content -> 0 -> image',
    ]);
  });

  it('is refused as a number, beyond the limit, and by a model without image input', async () => {
    expect((await faultOf({ input: { image: 5 } })).slice(0, 2)).toEqual(['body -> input -> image', 'string_type']);
    expect((await faultOf({ input: new Array(513).fill('x') })).slice(0, 2)).toEqual(['body -> input', 'too_long']);
    expect((await faultOf({ input: { content: [] } })).slice(0, 2)).toEqual(['body -> input -> content', 'too_short']);
    expect((await faultOf({ input: { image: 'aGk=' }, model: 'hears' }))[1]).toBe('media_error');
    expect((await faultOf({ input: { video: 'aGk=' }, model: 'strict' })).slice(0, 2)).toEqual([
      'body -> input',
      'value_error',
    ]);
    expect((await faultOf({ input: { image: 'aGk=' }, model: 'lectern-static-v2' }))[2]).toContain(
      '`lectern models pull jina-clip-v1`',
    );
  });

  it('costs no tokens', async () => {
    const before = host.charges.length;
    await embed({ input: { image: '*' } });
    expect(host.charges.slice(before).reduce((sum, { tokens }) => sum + tokens, 0)).toBe(0);
  });
});

describe('a PDF', wait, () => {
  const pdf = (count: number) =>
    base64(
      drawPdf({
        pages: Array.from({ length: count }, (_, at) => ({ content: write(60, 700, [at % 2 ? 'zoo' : 'the river']) })),
      }),
    );

  it('returns a vector for each page', async () => {
    const { body } = await embed({ input: { pdf: pdf(3) } });
    expect(body.data.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2]);
    expect(body.usage).toEqual({ total_tokens: 12, prompt_tokens: 12, image_tokens: 12 });
    expectClose(body.data[0].embedding, body.data[2].embedding, 1e-6);
    expect((await embed({ model: 'jina-clip-v2', input: [{ pdf: pdf(1) }] })).status).toBe(422);
  });

  it('is embedded by its text, page by page, by a model that reads only text', async () => {
    const model = 'lectern-static-v2';
    const pages = ['zoo', '', 'the river'].map((text) => ({ content: text === '' ? '' : write(60, 700, [text]) }));
    const { status, body } = await embed({ model, input: { pdf: base64(drawPdf({ pages })) } });
    expect([status, body.data.length]).toEqual([200, 3]);
    const texts = (await embed({ model, input: ['zoo', '', 'the river'] })).body.data;
    for (const [at, { embedding }] of texts.entries()) expectClose(body.data[at].embedding, embedding, 1e-6);
    const blank = await faultOf({ model, input: { pdf: base64(drawPdf({ pages: [{ content: '' }] })) } });
    expect(blank[2]).toContain('its vector would be zero');
    expect((await faultOf({ model, input: { image: 'aGk=' } })).slice(0, 2)).toEqual(['body -> input', 'value_error']);
  });

  it('is embedded as one document if the input says so', async () => {
    const model = 'lectern-static-v2';
    const pages = ['zoo', '', 'the river'].map((text) => ({ content: text === '' ? '' : write(60, 700, [text]) }));
    const input = { pdf: base64(drawPdf({ pages })), per: 'document' };
    const { status, body } = await embed({ model, input });
    expect([status, body.data.length]).toEqual([200, 1]);
    const whole = (await embed({ model, input: 'zoo\n\nthe river' })).body;
    expectClose(body.data[0].embedding, whole.data[0].embedding, 1e-6);
    expect(body.usage).toEqual(whole.usage);
    const [seenWhole] = await vectorsOf({ input: { pdf: pdf(2), per: 'document' } });
    const [first, second] = await vectorsOf({ input: { pdf: pdf(2), per: 'page' } });
    const sum = first!.map((value, at) => value + second![at]!);
    const length = Math.hypot(...sum);
    expectClose(
      seenWhole!,
      sum.map((value) => value / length),
    );
    expect(await faultOf({ model, input: { ...input, per: 'chapter' } })).toEqual([
      'body -> input -> per',
      'enum',
      expect.stringContaining('page, document'),
    ]);
  });

  it('returns a vector for each page, in order, equal to that of the page rendered alone', async () => {
    const shades = Array.from({ length: 14 }, (_, at) => ((at * 11) % 14) / 14);
    const bytes = drawPdf({ pages: shades.map((shade) => ({ content: `${shade} 0.5 0.2 rg 0 300 595 200 re f` })) });
    const at = path.join(folder, 'shades.pdf');
    await writeFile(at, bytes);
    const file = { path: at, size: bytes.length, mediaType: 'application/pdf' };
    const vectors = await vectorsOf({ input: { pdf: base64(bytes) } });
    expect(vectors).toHaveLength(shades.length);
    for (const page of [1, 2, 9, 14]) {
      const drawn = await documents.picture(file, { page, scale: 1 }, new AbortController().signal);
      expectClose(vectors[page - 1]!, seen(await decodePixels(drawn!, 'png')));
    }
    expect(new Set(vectors.map(String)).size).toBe(shades.length);
  });

  it('that takes too long is refused with the time limit, and its processing ends', async () => {
    const rows = [await writeTowers(path.join(folder, 'hasty'), 'clip', { id: 'sees' })];
    const media = { documents, ocr: undefined, temporaryDir: folder };
    const hasty = await startRealModelHost({ models: rows, modelDeadlineMs: 1_500 }, { media });
    const page = { content: write(60, 700, new Array(400).fill('the river '.repeat(9))) };
    try {
      // The model is loaded first, so that only the file can be late.
      while ((await embed({ input: 'zoo' }, hasty)).status === 504);
      const { status, body } = await embed(
        { input: { pdf: base64(drawPdf({ pages: new Array(200).fill(page) })) } },
        hasty,
      );
      expect([status, body.code]).toEqual([504, 'SERVICE_TIMEOUT']);
      expect(body.detail).toContain('did not finish within 1.5 s (LECTERN_MODEL_DEADLINE_MS)');
    } finally {
      await hasty.close();
    }
    await expect.poll(() => documents.load(), { timeout: 10_000 }).toEqual({ busy: 0, waiting: 0 });
    await expect.poll(() => readdir(path.join(folder, 'programs')), { timeout: 10_000 }).toEqual([]);
  });

  it('is read as text if its row in the catalogue says so', async () => {
    const vectors = await vectorsOf({ model: 'reads-pages', input: { pdf: pdf(2) } });
    expectClose(vectors[0]!, read('the', 'river'));
    expectClose(vectors[1]!, read('zoo'));
  });

  it('is refused with a password, with too many pages, in a list, and if it is damaged', async () => {
    const locked = Buffer.from(pdf(1), 'base64')
      .toString('latin1')
      .replace(
        '/Info 6 0 R',
        `/Info 6 0 R /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> >>`,
      );
    const place = ['body -> input -> pdf', 'media_error'];
    const of = (value: string) => faultOf({ input: { pdf: value } });
    expect(await of(base64(Buffer.from(locked, 'latin1')))).toEqual([...place, expect.stringContaining('password')]);
    expect(await of(pdf(201))).toEqual([...place, expect.stringContaining('at most 200 pages, not 201')]);
    expect(await of(base64(png))).toEqual([...place, 'is not a PDF']);
    expect(await faultOf({ input: ['x', { pdf: pdf(1) }] })).toEqual([
      'body -> input -> 1 -> pdf',
      'value_error',
      expect.stringContaining('the only input'),
    ]);
  });
});

describe.runIf(hasFfmpeg)('clips', wait, () => {
  const make = async (name: string, ...args: string[]): Promise<string> => {
    const file = path.join(folder, name);
    const { status, stderr } = spawnSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, file], {
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    return base64(await readFile(file));
  };

  it('of pictures are the mean of two frames a second', async () => {
    const source = ['-f', 'lavfi', '-i', 'color=c=white:s=16x16:r=10:d=2'];
    const video = await make('white.mp4', ...source, '-pix_fmt', 'yuv420p', '-c:v', 'mpeg4', '-q:v', '1');
    const { body } = await embed({ input: [{ video }, 'zoo'] });
    const white = { width: 8, height: 8, rgb: new Uint8Array(192).fill(255) };
    expectClose(body.data[0].embedding, seen(white), 0.05);
    expect(body.usage.image_tokens).toBe(4 * 4);
  });

  it('of pictures have at most 64 frames', async () => {
    const source = ['-f', 'lavfi', '-i', 'testsrc=s=32x24:r=4:d=60'];
    const video = await make('long.mp4', ...source, '-c:v', 'mpeg4', '-q:v', '9');
    expect((await embed({ input: { video } })).body.usage.image_tokens).toBe(64 * 4);
  });

  it('of sound are the mean of windows of ten seconds', async () => {
    const samples = Float32Array.from(
      { length: 12 * 48_000 },
      (_, at) => 0.4 * Math.sin(at / 11) * Math.cos(at / 50_000),
    );
    const { wavOf } = await import('#models/media/transcript.ts');
    const wav = wavOf(samples, 48_000);
    const heardSamples = Float32Array.from(samples, (sample) => Math.round(sample * 32_767) / 32_768);
    const windows = [heardSamples.slice(0, 480_000), heardSamples.slice(480_000)];
    const vectors = windows.map((window) => unit(audioVector(logMel(window, CLAP_RULE))));
    const { body } = await embed({ model: 'hears', input: { audio: base64(wav) } });
    expectClose(body.data[0].embedding, unit(meanOf(vectors)), 1e-3);
    expect(body.usage).toEqual({ total_tokens: 128, prompt_tokens: 128 });
  });

  it('of sound are read as their transcript by a model without audio input', async () => {
    const audio = await make('tone.wav', '-f', 'lavfi', '-i', 'sine=frequency=440:duration=1');
    expectClose((await vectorsOf({ input: { audio } }))[0]!, read('the', 'river'));
    expect(heard.at(-1)).toContain('whisper-1');
    expect(heard.at(-1)).toContain('RIFF');
  });

  it('that are invalid, refer to other files or have no sound are refused', async () => {
    const playlist = base64(
      Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n/etc/passwd\n#EXT-X-ENDLIST\n'),
    );
    const silent = await make('silent.mp4', '-f', 'lavfi', '-i', 'testsrc=s=32x24:r=2:d=1', '-c:v', 'mpeg4');
    const concat = base64(Buffer.from("ffconcat version 1.0\nfile '/etc/hostname'\n"));
    for (const video of [playlist, concat, base64(Buffer.from('nothing'))]) {
      expect((await faultOf({ input: { video } })).slice(0, 2)).toEqual(['body -> input -> video', 'media_error']);
    }
    expect((await faultOf({ input: { audio: silent } })).slice(0, 2)).toEqual([
      'body -> input -> audio',
      'media_error',
    ]);
  });

  it('are not mixed with texts of another vector space', async () => {
    const audio = await make('short.wav', '-f', 'lavfi', '-i', 'sine=frequency=440:duration=1');
    expect(await faultOf({ model: 'apart', input: ['zoo', { audio }] })).toEqual([
      'body -> input',
      'value_error',
      expect.stringContaining('separate spaces'),
    ]);
    expect(await vectorsOf({ model: 'hears', input: ['zoo', { audio }] })).toHaveLength(2);
  });
});

describe('a server without ffmpeg, documents and network access', wait, () => {
  it('says what to install', async () => {
    expect((await faultOf({ input: { video: 'aGk=' } }, without))[2]).toContain('apt-get install ffmpeg');
    expect((await faultOf({ input: { audio: 'aGk=' }, model: 'hears' }, without))[2]).toContain(
      'apt-get install ffmpeg',
    );
    expect((await faultOf({ input: { audio: 'aGk=' } }, without))[2]).toContain('speechUrl');
    expect((await faultOf({ input: { pdf: 'aGk=' } }, without))[1]).toBe('media_error');
    expect((await faultOf({ input: { image: 'http://example.test/' } }, without))[1]).toBe('media_error');
  });

  it('lists only the inputs that it accepts', async () => {
    const listOf = async ({ url }: TestModelHost) => {
      const { data } = (await (await fetch(`${url}/v1/models`)).json()) as {
        data: { id: string; input_modalities: string[] }[];
      };
      return Object.fromEntries(data.map(({ id, input_modalities }) => [id, input_modalities.join(' ')]));
    };
    expect(await listOf(without)).toMatchObject({ sees: 'text image', hears: 'text', 'lectern-static-v2': 'text' });
    if (!hasFfmpeg) return;
    expect(await listOf(host)).toMatchObject({
      sees: 'text image audio video file',
      strict: 'text image file',
      'jina-clip-v2': 'text image file',
      hears: 'text audio file',
      'reads-pages': 'text image file',
    });
    const { description, spaces } = (await (await fetch(`${host.url}/v1/models/hears`)).json()) as Record<
      string,
      unknown
    >;
    expect(description).toContain('Vectors are only comparable within a space: clap');
    expect(spaces).toEqual({ text: 'clap', audio: 'clap' });
  });
});

describe('a remote server of the same kind', wait, () => {
  it.each(['lectern-omni-v5', 'lectern-clip-v1', 'openai-clip-v1'])('receives what %s receives', async (model) => {
    served['/b.png'] = png;
    const { status, body } = await embed(
      { model, input: ['zoo', { image: `${site}/b.png` }, { image: base64(png) }] },
      relay,
    );
    expect(status, JSON.stringify(body)).toBe(200);
    expectClose(body.data[0].embedding, read('zoo'));
    expectClose(body.data[1].embedding, seen());
    expectClose(body.data[2].embedding, seen());
    expect(body.usage).toEqual({ total_tokens: 11, prompt_tokens: 11, image_tokens: 8 });
  });

  it('receives no image from a text model, and no unreadable one', async () => {
    expect((await faultOf({ model: 'openai-text-v3', input: { image: base64(png) } }, relay))[1]).toBe('value_error');
    const broken = { model: 'openai-clip-v1', input: { image: base64(Buffer.from('no picture')) } };
    expect((await faultOf(broken, relay)).slice(0, 2)).toEqual(['body -> input -> image', 'media_error']);
  });

  it('receives pages of PDFs as images', async () => {
    const pdf = base64(drawPdf({ pages: [{ content: write(60, 700, ['zoo']) }, { content: '' }] }));
    const { body } = await embed({ model: 'lectern-clip-v1', input: { pdf } }, relay);
    expect(body.data).toHaveLength(2);
  });
});

it('names the command that downloads a missing model', wait, async () => {
  const { status, body } = await host.post('/v1/embeddings', { model: 'jina-clip-v1', input: { image: 'aGk=' } });
  expect([status, body.code]).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
  expect(body.detail).toContain('`lectern models pull jina-clip-v1`');
});
