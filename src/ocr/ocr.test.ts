import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  A4,
  BRIDGE_ROWS,
  BRIDGES,
  characterAccuracy,
  type Draw,
  drawnPage,
  drawRows,
  drawText,
  RIVERS,
} from './drawn-pages.suite.ts';
import { createOcr, type Ocr } from './ocr.ts';

const LONG = 180_000;
const TIMEOUT_MS = 120_000;
const signal = new AbortController().signal;

const wholePage: Draw = (context) => {
  let top = drawText(context, 'On Rivers and Bridges', { left: 110, top: 110, width: 1_000, size: 48, bold: true });
  top = drawText(context, RIVERS, { left: 110, top: top + 30, width: 1_000, size: 22 });
  top = drawText(context, BRIDGES, { left: 110, top: top + 22, width: 1_000, size: 22 });
  for (const [at, item] of ['Walk to the bridge', 'Count the arches', 'Walk back again'].entries()) {
    drawText(context, `${at + 1}.`, { left: 110, top: top + 20, width: 100, size: 22 });
    top = drawText(context, item, { left: 150, top: top + 20, width: 900, size: 22 });
  }
  top = drawRows(context, { left: 110, top: top + 60, width: 240, size: 22 });
  drawText(context, BRIDGES, { left: 110, top: top + 60, width: 1_000, size: 22 });
};
const WHOLE_TEXT = [
  'On Rivers and Bridges',
  RIVERS,
  BRIDGES,
  '1. Walk to the bridge 2. Count the arches 3. Walk back again',
  ...BRIDGE_ROWS.map((row) => row.join(' ')),
  BRIDGES,
].join(' ');

const twoColumns: Draw = (context) => {
  drawText(context, 'A Page of Two Columns', { left: 330, top: 100, width: 800, size: 44, bold: true });
  drawText(context, RIVERS, { left: 110, top: 220, width: 480, size: 22 });
  drawText(context, BRIDGES, { left: 650, top: 220, width: 480, size: 22 });
};
const COLUMNS_TEXT = `A Page of Two Columns ${RIVERS} ${BRIDGES}`;

/** The image is a third of an A4 page. */
const NOTE = { width: 1_240, height: 560 };
const note: Draw = (context) => {
  const top = drawText(context, 'On Rivers', { left: 110, top: 80, width: 1_000, size: 48, bold: true });
  drawText(context, `${RIVERS} ${BRIDGES}`, { left: 110, top: top + 30, width: 1_000, size: 22 });
};
const NOTE_TEXT = `On Rivers ${RIVERS} ${BRIDGES}`;

const cellsIn = (html: string): string[] =>
  [...html.matchAll(/<t[hd]>([^<]*)<\/t[hd]>/g)].map(([, text]) => text!.replaceAll(' ', ''));

async function noteAccuracy(ocr: Ocr, look: Partial<Parameters<typeof drawnPage>[0]>): Promise<number> {
  const { text } = await ocr.read(drawnPage({ ...NOTE, ...look }, note), { signal });
  return characterAccuracy(NOTE_TEXT, text);
}

describe.each([
  ['the installed program', undefined, 'tesseract'],
  ['the built-in engine', 'tesseract.js', 'tesseract.js'],
])('%s', (_, tesseract, name) => {
  let ocr: Ocr;
  beforeAll(() => {
    ocr = createOcr({ tesseract, languages: ['eng'], timeoutMs: TIMEOUT_MS })!;
  });
  afterAll(() => ocr.close());

  it(
    'reads a page with heading, paragraphs, list and table',
    async () => {
      const result = await ocr.read(drawnPage(A4, wholePage), { signal });
      const accuracy = characterAccuracy(WHOLE_TEXT, result.text);
      const found = cellsIn(result.html);
      const cells = BRIDGE_ROWS.flat().map((cell) => cell.replaceAll(' ', ''));
      const cellScore = cells.filter((cell, at) => found[at] === cell).length / cells.length;
      console.log(`${name}: characters ${accuracy.toFixed(3)}, cells ${cellScore.toFixed(2)}`);
      expect(accuracy).toBeGreaterThan(0.97);
      expect(cellScore).toBeGreaterThan(0.9);
      expect(result.html).toMatch(/^<h1>On Rivers and Bridges<\/h1>\n<p>Rivers carry/);
      expect(result.html).toContain(
        '<ol><li>Walk to the bridge</li><li>Count the arches</li><li>Walk back again</li></ol>',
      );
      expect(result.html).toContain('<table><thead><tr><th>Bridge</th>');
      expect(result.confidence).toBeGreaterThan(0.8);
      expect(result.words).toBeGreaterThan(100);
      expect(ocr.name).toBe(name);
    },
    LONG,
  );

  it(
    'reads columns one after the other',
    async () => {
      const { text } = await ocr.read(drawnPage(A4, twoColumns), { signal });
      const accuracy = characterAccuracy(COLUMNS_TEXT, text);
      console.log(`${name}: two columns ${accuracy.toFixed(3)}`);
      expect(accuracy).toBeGreaterThan(0.97);
    },
    LONG,
  );

  it.each([
    ['on its side', 90],
    ['upside down', 180],
  ])(
    'reads a page that is %s',
    async (how, degrees) => {
      const accuracy = await noteAccuracy(ocr, { degrees });
      console.log(`${name}: ${how} ${accuracy.toFixed(3)}`);
      expect(accuracy).toBeGreaterThan(0.96);
    },
    LONG,
  );

  it('finds nothing on an empty page', async () => {
    const result = await ocr.read(
      drawnPage(NOTE, () => {}),
      { signal },
    );
    expect(result).toMatchObject({ html: '', text: '', words: 0, confidence: 0 });
  });

  it(
    'finds almost no text in a drawing',
    async () => {
      const strokes: Draw = (context) => {
        let seed = 7;
        const random = (below: number) => {
          seed = (seed * 16_807) % 2_147_483_647;
          return (seed / 2_147_483_647) * below;
        };
        for (let stroke = 0; stroke < 120; stroke++) {
          context.strokeStyle = `rgb(${random(255)}, ${random(200)}, ${random(120)})`;
          context.lineWidth = random(6);
          context.beginPath();
          context.moveTo(random(500), random(320));
          context.quadraticCurveTo(random(500), random(320), random(500), random(320));
          context.stroke();
        }
      };
      const { text } = await ocr.read(drawnPage({ width: 500, height: 320, paper: '#8bf' }, strokes), { signal });
      expect(text.length).toBeLessThan(40);
    },
    LONG,
  );

  it('names a missing language, and how to install it', async () => {
    const line = drawnPage({ width: 500, height: 80 }, (context) =>
      drawText(context, 'Guten Tag', { left: 30, top: 20, width: 450, size: 28 }),
    );
    const asked = ocr.read(line, { signal, languages: ['eng', 'xyz'] });
    await expect(asked).rejects.toMatchObject({
      name: 'DownstreamServiceFailureError',
      message: expect.stringMatching(/the language xyz: install .*(?:tesseract-ocr-xyz|@tesseract\.js-data\/xyz)/),
    });
    await expect(ocr.read(line, { signal, languages: ['../eng'] })).rejects.toMatchObject({
      name: 'ParamValidationError',
    });
    expect((await ocr.read(line, { signal })).text).toBe('Guten Tag');
  });

  it('stops when its caller aborts, and continues to read for others', async () => {
    const gone = new AbortController();
    const asked = ocr.read(drawnPage(A4, wholePage), { signal: gone.signal });
    setTimeout(() => gone.abort(new Error('gone')), 200);
    await expect(asked).rejects.toThrow('gone');
    await expect(ocr.read(drawnPage(A4, wholePage), { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow(
      'left',
    );
    const line = drawnPage({ width: 500, height: 80 }, (context) =>
      drawText(context, 'Still here', { left: 30, top: 20, width: 450, size: 28 }),
    );
    expect((await ocr.read(line, { signal })).text).toBe('Still here');
  });
});

// Images are opened and prepared in the same way for every engine.
describe('an image', () => {
  let ocr: Ocr;
  beforeAll(() => {
    ocr = createOcr({ languages: ['eng'], timeoutMs: TIMEOUT_MS })!;
  });
  afterAll(() => ocr.close());

  it(
    'reads a table with drawn lines',
    async () => {
      const drawn: Draw = (context) => {
        drawText(context, BRIDGES, { left: 110, top: 110, width: 1_000, size: 22 });
        drawRows(context, { left: 120, top: 300, width: 240, size: 22 });
        context.lineWidth = 1.5;
        for (let row = 0; row <= BRIDGE_ROWS.length; row++) context.strokeRect(110, 294 + row * 35.2, 960, 0.1);
        for (let column = 0; column <= 4; column++) context.strokeRect(110 + column * 240, 294, 0.1, 176);
      };
      const { html } = await ocr.read(drawnPage({ width: 1_240, height: 520, scale: 1.5 }, drawn), { signal });
      const cells = BRIDGE_ROWS.flat().map((cell) => cell.replaceAll(' ', ''));
      const score = cells.filter((cell, at) => cellsIn(html)[at] === cell).length / cells.length;
      expect(score).toBeGreaterThan(0.9);
      expect(html).toContain('</table>');
    },
    LONG,
  );

  it.each([
    ['slanted', { degrees: 2.5 }],
    ['light on dark', { paper: '#222', ink: '#ddd' }],
    ['transparent', { paper: 'none', ink: '#eee' }],
    ['small', { scale: 0.5 }],
  ])(
    'reads a page that is %s',
    async (how, look) => {
      const accuracy = await noteAccuracy(ocr, look);
      console.log(`${how} ${accuracy.toFixed(3)}`);
      expect(accuracy).toBeGreaterThan(how === 'small' ? 0.93 : 0.96);
    },
    LONG,
  );

  it('reads JPEG, WebP and TIFF, and a single line', async () => {
    const line = drawnPage({ width: 500, height: 80 }, (context) =>
      drawText(context, 'Invoice number 4711', { left: 30, top: 20, width: 450, size: 28 }),
    );
    for (const format of ['jpeg', 'webp', 'tiff'] as const) {
      const { text } = await ocr.read(await sharp(line).toFormat(format).toBuffer(), { signal });
      expect(text).toBe('Invoice number 4711');
    }
  });

  it.each([
    ['bytes that are no image', Buffer.from('This is no picture at all')],
    ['an empty file', Buffer.alloc(0)],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>Hi</text></svg>')],
    ['an image of a million pixels per side', pngHeader(1_000_000, 1_000_000)],
  ])('refuses %s', async (_what, bytes) => {
    await expect(ocr.read(bytes, { signal })).rejects.toMatchObject({
      name: 'DownstreamServiceFailureError',
      message: 'Text recognition cannot open this image',
    });
  });
});

/** A PNG with a header that declares its size, and nothing else. */
function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008060000000000000000000000', 'hex');
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header;
}

describe('a program that hangs', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-ocr-'));
    // This program starts another process, as a wrapper script around the real program might.
    const script = `#!/bin/sh
case "$1" in
  --version) echo 'tesseract 5'; exit 0;;
  --list-langs) printf 'List:\\neng\\n'; exit 0;;
esac
sleep 600 &
echo $! > '${dir}/inner'
echo $$ > '${dir}/outer'
wait
`;
    writeFileSync(path.join(dir, 'tesseract'), script);
    chmodSync(path.join(dir, 'tesseract'), 0o755);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const readsBlank = (ocr: Ocr): Promise<boolean> =>
    ocr
      .read(
        drawnPage({ width: 40, height: 10 }, () => {}),
        { signal },
      )
      .then(
        () => true,
        () => false,
      );

  const isRunning = (pid: number) => {
    try {
      process.kill(pid, 0);
    } catch {
      return false;
    }
    // A killed process accepts signals until its parent has waited for it.
    const status = `/proc/${pid}/status`;
    return !existsSync(status) || !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
  };

  it.each([
    ['the time limit is reached', 5_000],
    ['its caller aborts', TIMEOUT_MS],
  ])(
    'is killed with all processes that it started when %s',
    async (why, timeoutMs) => {
      rmSync(path.join(dir, 'outer'), { force: true });
      const ocr = createOcr({ tesseract: path.join(dir, 'tesseract'), languages: ['eng'], timeoutMs })!;
      // Waits until the process that prepares images is running, because the time limit is meant for the program.
      await expect.poll(() => readsBlank(ocr), { timeout: 60_000 }).toBe(true);
      const gone = new AbortController();
      const page = drawnPage({ width: 400, height: 100 }, (context) =>
        drawText(context, 'Wait', { left: 30, top: 20, width: 450, size: 28 }),
      );
      const asked = ocr.read(page, { signal: gone.signal }).catch((error: unknown) => error);
      if (why === 'its caller aborts') {
        await expect.poll(() => existsSync(path.join(dir, 'outer')), { timeout: 30_000 }).toBe(true);
        gone.abort(new Error('gone'));
        expect(await asked).toMatchObject({ message: 'gone' });
      } else {
        expect(await asked).toMatchObject({
          name: 'DownstreamServiceFailureError',
          message: 'Text recognition took longer than 5 s',
        });
      }
      for (const file of ['outer', 'inner']) {
        const pid = Number(readFileSync(path.join(dir, file), 'utf8'));
        await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
      }
      await ocr.close();
    },
    LONG,
  );
});

it('reports that the configured program cannot be run', async () => {
  const ocr = createOcr({ tesseract: '/nowhere/tesseract', languages: ['eng'], timeoutMs: TIMEOUT_MS })!;
  await expect(ocr.read(pngHeader(1, 1), { signal })).rejects.toMatchObject({
    name: 'DownstreamServiceFailureError',
    message: 'The configured Tesseract program cannot be run: check the setting or install Tesseract',
  });
  await ocr.close();
});

it('creates the working folder of the program', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-ocr-'));
  const ocr = createOcr({ languages: ['eng'], temporaryDir: path.join(dir, 'not', 'there'), timeoutMs: TIMEOUT_MS })!;
  const page = drawnPage({ width: 400, height: 100 }, (context) =>
    drawText(context, 'In a folder', { left: 30, top: 20, width: 350, size: 28 }),
  );
  expect((await ocr.read(page, { signal })).text).toBe('In a folder');
  expect(ocr.name).toBe('tesseract');
  await ocr.close();
  rmSync(dir, { recursive: true });
});

it('returns undefined if it is turned off', () => {
  expect(createOcr({ tesseract: 'none', languages: ['eng'], timeoutMs: TIMEOUT_MS })).toBeUndefined();
});

it('refuses to read after it is closed', async () => {
  const ocr = createOcr({ languages: ['eng'], timeoutMs: TIMEOUT_MS })!;
  await ocr.close();
  await expect(ocr.read(pngHeader(1, 1), { signal })).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError' });
});
