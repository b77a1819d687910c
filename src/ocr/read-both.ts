/**
 * Reads one image with both recognizers. PP-OCR finds the lines and the orientation and is sure of Latin and Chinese;
 * Tesseract reads the letters of the script of the page; both read what `combine/stretches.ts` selects.
 */
import { setTimeout } from 'node:timers/promises';
import { type Combined, combine, readByNeural } from './combine/combine.ts';
import { missedBoxes } from './combine/missed.ts';
import { liesSideways, type Orientation, orientationOf } from './combine/orientation.ts';
import { isChinese, KNOWN_SCRIPT, LATIN, PLAUSIBLE, plausibilityOf, SCRIPTS, type Script } from './combine/script.ts';
import { boundsOfCorners, widened } from './combine/stretches.ts';
import type { OcrEngine, OcrLines } from './engine.ts';
import type { Corners, PpOcr } from './engines/pp-ocr/pp-ocr.ts';
import type { OcrBox } from './hocr.ts';
import type { Prepared, Rotation } from './image/prepare.ts';
import { BLANK, isOnItsSide, type OcrReading, type OcrTools, readUpright, withoutNoise } from './read.ts';

/** An upright image with its lines. */
interface Seen {
  readonly prepared: Prepared;
  readonly boxes: readonly Corners[];
  readonly orientation: Orientation;
}

/** How a page is to be read: by PP-OCR alone, or by an engine with these languages and PP-OCR. */
interface Plan {
  readonly neuralOnly?: boolean;
  readonly engine: OcrEngine;
  readonly languages: readonly string[];
  /** Whether PP-OCR knows the letters. */
  readonly lettersCount: boolean;
  readonly notes: readonly string[];
}

export async function readWithBoth(picture: Uint8Array, tools: OcrTools, neural: PpOcr): Promise<OcrReading> {
  const asGiven = await tools.prepare(picture, 0);
  const { preparation } = asGiven;
  if (asGiven.blank) return { page: BLANK, preparation, doubts: [], notes: [] };
  // Both directions are possible. Half of such pages are then upright.
  const prepared = asGiven.sideways ? await tools.prepare(picture, 90) : asGiven;
  const early = createEarly(tools);
  early.start(prepared);
  try {
    return await readPrepared(picture, { prepared, early }, tools, neural);
  } finally {
    early.stop();
  }
}

/** The engine's reading of an image, begun before it is known whether the page has to be read that way. */
interface Early {
  /** Begins to read this image, and stops reading another one. */
  start(prepared: Prepared): void;
  /** The reading if it is the one that is wanted, otherwise `undefined`. */
  take(plan: Plan, prepared: Prepared): Promise<OcrLines> | undefined;
  /** What the reading shows about the page; `undefined` if it is not clear, or has not ended in this time. */
  orientation(waitMs: number): Promise<Orientation | undefined>;
  stop(): void;
}

/** Most pages are in Latin script, and a second processor is free while PP-OCR looks for lines. */
function createEarly({ engine, languages, signal }: OcrTools): Early {
  let current: { prepared: Prepared; reading: Promise<OcrLines>; stop(): void } | undefined;
  return {
    start(prepared) {
      current?.stop();
      const stopping = new AbortController();
      const either = AbortSignal.any([signal, stopping.signal]);
      const reading = engine.recognize(prepared.picture, { languages, segmentation: 'page', signal: either });
      // A reading that nobody takes may fail.
      reading.catch(() => {});
      current = { prepared, reading, stop: () => stopping.abort() };
    },
    take: (plan, prepared) =>
      prepared === current?.prepared && plan.engine === engine && plan.languages === languages
        ? current.reading
        : undefined,
    async orientation(waitMs) {
      const read = current;
      const shown = read?.reading.then(
        (page) => clearLatin(page, read.prepared),
        // Without a reading, PP-OCR finds the orientation.
        () => undefined,
      );
      return Promise.race([shown, setTimeout(waitMs, undefined, { ref: false })]);
    },
    stop: () => current?.stop(),
  };
}

/**
 * How long the engine's reading is waited for, as a share of the time in which PP-OCR found the lines. Tesseract takes several
 * times as long for a page in another script, whose orientation PP-OCR then finds.
 */
const WAIT = 0.5;
/** Minimum number of words, and minimum plausibility, of a reading that shows that the page is upright and in Latin script. */
const CLEAR_WORDS = 10;
const CLEAR = 0.9;

/** Text that is read so surely was not upside down, nor in another script. */
function clearLatin(page: OcrLines, { preparation: { turn } }: Prepared): Orientation | undefined {
  const words = page.lines.flatMap((line) => line.words);
  if (words.length < CLEAR_WORDS || isOnItsSide(page) || plausibilityOf(page, LATIN) < CLEAR) return undefined;
  return { turn, confidence: 1, text: words.map(({ text }) => text).join(' ') };
}

async function readPrepared(
  picture: Uint8Array,
  { prepared, early }: { readonly prepared: Prepared; readonly early: Early },
  tools: OcrTools,
  neural: PpOcr,
): Promise<OcrReading> {
  const { signal } = tools;
  const { preparation } = prepared;
  const from = performance.now();
  const boxes = await neural.find(prepared.picture, prepared.lineHeight, signal);
  const waitMs = WAIT * (performance.now() - from);
  if (boxes.length === 0) {
    const page = withoutNoise(await readUpright(prepared, tools));
    return { page, preparation, doubts: [], notes: [] };
  }
  // The engine's reading is needed for most pages, and slower while PP-OCR reads beside it.
  const shown = liesSideways(boxes) ? undefined : await early.orientation(waitMs);
  const read = (some: readonly Corners[]) => neural.read(prepared.picture, some, signal);
  const orientation = shown ?? (await orientationOf(boxes, { turn: preparation.turn, read }));
  const seen = await turned({ prepared, boxes, orientation }, orientation.turn, { picture, tools, neural }, early);
  const { plan, seen: final } = await planFor(seen, { picture, tools, neural });
  const { page, doubts } = await follow(plan, final, { tools, neural, early });
  return { page: withoutNoise(page), preparation: final.prepared.preparation, doubts, notes: plan.notes };
}

interface Sources {
  readonly picture: Uint8Array;
  readonly tools: OcrTools;
  readonly neural: PpOcr;
}

/** The same image turned clockwise, with its lines. With `early`, the engine begins to read it. */
async function turned(seen: Seen, turn: Rotation, { picture, tools, neural }: Sources, early?: Early): Promise<Seen> {
  if (turn === seen.prepared.preparation.turn) return seen;
  // What the engine reads of a page that is not upright is never used, and slows down the rest.
  early?.stop();
  const prepared = await tools.prepare(picture, turn);
  early?.start(prepared);
  const boxes = await neural.find(prepared.picture, prepared.lineHeight, tools.signal);
  return { prepared, boxes, orientation: seen.orientation };
}

async function follow(
  plan: Plan,
  { prepared, boxes: found }: Seen,
  { tools, neural, early }: Omit<Sources, 'picture'> & { readonly early: Early },
): Promise<Combined> {
  const boxes = [...found, ...missedBoxes(found, prepared.pieces)];
  const { signal } = tools;
  const read = (some: readonly Corners[]) => neural.read(prepared.picture, some, signal);
  if (plan.neuralOnly) {
    early.stop();
    const { width, height } = prepared.preparation.made;
    const stretches = boxes.map((corners) => ({ corners: widened(corners) }));
    return readByNeural({ width, height, rules: prepared.rules }, stretches, read);
  }
  const { engine, languages } = plan;
  const page = await (early.take(plan, prepared) ??
    engine.recognize(prepared.picture, { languages, segmentation: 'page', signal }));
  return combine({ ...page, rules: prepared.rules }, boxes, { lettersCount: plan.lettersCount, read });
}

async function planFor(seen: Seen, sources: Sources): Promise<{ plan: Plan; seen: Seen }> {
  const { tools } = sources;
  const { languages, isAutomatic, engine } = tools;
  const { confidence, text } = seen.orientation;
  const isSure = confidence >= KNOWN_SCRIPT;
  const asked: Plan = { engine, languages, lettersCount: isSure, notes: [] };
  const wantsChinese = isAutomatic || languages.some((name) => name.startsWith('chi_'));
  if (isSure && wantsChinese && isChinese(text)) return { plan: { ...asked, neuralOnly: true }, seen };
  if (!isAutomatic) {
    const found = (await tools.engineFor(languages)) ?? engine;
    return { plan: { ...asked, engine: found }, seen };
  }
  if (isSure) return { plan: asked, seen };
  return otherScript(seen, asked, sources);
}

/** Mean confidence of PP-OCR from which Chinese is Chinese, and not another script that looks like it. */
const CHINESE = 0.85;

interface Candidate {
  readonly script: Script;
  readonly plan: Plan;
  readonly plausibility: number;
}

/** Tries the scripts that PP-OCR does not know, on a part of the page, and then on the page upside down. */
async function otherScript(seen: Seen, latin: Plan, sources: Sources): Promise<{ plan: Plan; seen: Seen }> {
  const { confidence, text } = seen.orientation;
  const first = await surestScript(seen, latin, sources.tools);
  if (confidence >= CHINESE && isChinese(text) && first?.script.name !== 'Japanese')
    return { plan: { ...latin, neuralOnly: true }, seen };
  if (first && first.plausibility >= PLAUSIBLE) return { plan: first.plan, seen };
  const opposite = ((seen.prepared.preparation.turn + 180) % 360) as Rotation;
  const flipped = await turned(seen, opposite, sources);
  const second = await surestScript(flipped, latin, sources.tools);
  if (second && second.plausibility >= PLAUSIBLE) return { plan: second.plan, seen: flipped };
  if (confidence >= PLAUSIBLE) return { plan: { ...latin, lettersCount: true, notes: [unknownScript()] }, seen };
  return { plan: { ...latin, notes: [unknownScript()] }, seen };
}

const unknownScript = (): string =>
  'The script of a page was not recognized, so its text may be wrong: it is none of Latin, Chinese, Japanese, Korean, ' +
  'Cyrillic, Greek and Arabic, or hard to read. LECTERN_OCR_LANGUAGES selects other languages, whose data must be installed';

async function surestScript(seen: Seen, latin: Plan, tools: OcrTools): Promise<Candidate | undefined> {
  const sample = await tools.crop(seen.prepared.picture, sampleOf(seen.boxes));
  let best: Candidate | undefined;
  for (const script of [LATIN, ...SCRIPTS]) {
    const candidate = await candidateFor(script, latin, sample, tools);
    if (candidate && candidate.plausibility > (best?.plausibility ?? 0)) best = candidate;
  }
  return best;
}

async function candidateFor(
  script: Script,
  latin: Plan,
  sample: Uint8Array,
  tools: OcrTools,
): Promise<Candidate | undefined> {
  for (const [rank, languages] of script.languages.entries()) {
    const engine = await tools.engineFor(languages);
    if (!engine) continue;
    const read = await engine.recognize(sample, { languages, segmentation: 'block', signal: tools.signal });
    const notes = rank === 0 ? [] : [standInNote(script, languages)];
    const plan = { engine, languages, lettersCount: script === LATIN && latin.lettersCount, notes };
    return { script, plan, plausibility: plausibilityOf(read, script) };
  }
  return undefined;
}

const standInNote = ({ name, languages }: Script, used: readonly string[]): string =>
  `${name} text was read with the data of ${used.join(' and ')}, because that of ${languages[0]!.join(' and ')} is not ` +
  'installed: the Tesseract program can be given it';

/** Number of lines in a sample. */
const SAMPLE_LINES = 3;

/** The area of the longest line and of the lines below it. */
function sampleOf(boxes: readonly Corners[]): OcrBox {
  const bounds = boxes.map(boundsOfCorners);
  const widest = bounds.reduce((best, box) => (box.right - box.left > best.right - best.left ? box : best));
  const height = widest.bottom - widest.top;
  return {
    left: widest.left - height,
    right: widest.right + height,
    top: widest.top - 0.2 * height,
    bottom: widest.top + SAMPLE_LINES * 1.5 * height,
  };
}
