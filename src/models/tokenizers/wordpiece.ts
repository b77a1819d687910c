/**
 * WordPiece with BERT's normalizer and pre-tokenizer in a single pass: linear time, and no intermediate strings. A run
 * can be split into steps, so that a long text does not block the event loop.
 */
import { ownValue } from '#own-value.ts';
import { type BertCharacters, bertCharacters, KIND } from './bert-characters.ts';
import { type Frame, framePair, frameSingle, NO_FRAME, type Tokenizer } from './tokenizer.ts';
import { buildTrie, type Trie } from './trie.ts';

export interface WordPieceOptions {
  /** Ids by piece; continuing pieces start with ##. */
  readonly vocabulary: Readonly<Record<string, number>>;
  readonly lowerCase: boolean;
  readonly stripAccents: boolean;
  readonly cleanText?: boolean;
  readonly splitIdeographs?: boolean;
  readonly unknownPiece?: string;
  /** Longer words become the unknown piece. Default: 100, as in BERT. */
  readonly maxCharactersPerWord?: number;
  /** Pieces that are matched literally in the text. */
  readonly specialPieces?: readonly string[];
  readonly frame?: Frame;
}

export interface WordPiece extends Tokenizer {
  /** Starts encoding in steps. Ids beyond `maxTokens` are counted but not returned. */
  start(text: string, maxTokens?: number): WordPieceRun;
}

/** State shared by all runs of a tokenizer. */
interface Model {
  readonly trie: Trie;
  readonly characters: BertCharacters;
  readonly unknown: number;
  readonly maxCharacters: number;
  findSpecial(text: string): Special[];
}

interface Special {
  readonly at: number;
  readonly end: number;
  readonly id: number;
}

export function createWordPiece(options: WordPieceOptions): WordPiece {
  const { vocabulary, unknownPiece = '[UNK]', specialPieces = [], frame = NO_FRAME } = options;
  const unknown = ownValue(vocabulary, unknownPiece);
  if (unknown === undefined) throw new Error(`the vocabulary has no piece ${unknownPiece}`);
  const pieces = Object.entries(vocabulary);
  const model: Model = {
    trie: buildTrie(
      pieces
        .filter(([piece]) => piece !== '' && piece !== '##')
        .map(([piece, id]) => {
          // Continuing pieces are looked up without their ##.
          const continuing = piece.startsWith('##');
          return { text: continuing ? piece.slice(2) : piece, continuing, id };
        }),
    ),
    characters: bertCharacters({
      cleanText: options.cleanText ?? true,
      splitIdeographs: options.splitIdeographs ?? true,
      lowerCase: options.lowerCase,
      stripAccents: options.stripAccents,
    }),
    unknown,
    maxCharacters: options.maxCharactersPerWord ?? 100,
    findSpecial: specialFinder(specialPieces, vocabulary),
  };
  let byId: string[] | undefined;
  const shared = new WordPieceRun(model);

  const bare = (text: string): Int32Array => {
    shared.begin(text, Number.POSITIVE_INFINITY);
    shared.step(text.length);
    return shared.ids();
  };
  return {
    frame,
    encode: (text, given) => (given?.special ? frameSingle(frame, bare(text)) : bare(text)),
    count(text, given) {
      shared.begin(text, 0);
      shared.step(text.length);
      return shared.total + (given?.special ? frame.before.length + frame.after.length : 0);
    },
    encodePair: (first, second) => framePair(frame, bare(first), bare(second)),
    encodeItems: (items) => items.map(bare),
    pieces(ids) {
      if (byId === undefined) {
        byId = [];
        for (const [piece, id] of pieces) byId[id] = piece;
      }
      const texts = byId;
      return Array.from(ids, (id) => texts[id] ?? unknownPiece);
    },
    idOf: (piece) => ownValue(vocabulary, piece),
    start(text, maxTokens = Number.POSITIVE_INFINITY) {
      const run = new WordPieceRun(model);
      run.begin(text, maxTokens);
      return run;
    },
  };
}

function specialFinder(
  specialPieces: readonly string[],
  vocabulary: Readonly<Record<string, number>>,
): (text: string) => Special[] {
  if (specialPieces.length === 0) return () => [];
  const longestFirst = [...specialPieces].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map((piece) => piece.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|'), 'g');
  return (text) => {
    // This check is cheaper than the pattern, and nearly always sufficient.
    if (!specialPieces.some((piece) => text.includes(piece))) return [];
    return Array.from(text.matchAll(pattern), (match) => ({
      at: match.index,
      end: match.index + match[0].length,
      id: vocabulary[match[0]]!,
    }));
  };
}

export class WordPieceRun {
  /** Number of ids so far, including those beyond the limit. */
  total = 0;
  /** End of the last word whose ids were stored. Later text is not represented in the ids. */
  keptTo = 0;

  readonly #model: Model;
  #text = '';
  #at = 0;
  #maxTokens = 0;
  #ids = new Int32Array(64);
  #kept = 0;
  #special: Special[] = [];
  #nextSpecial = 0;
  // The current word: its units and number of characters.
  readonly #word: Uint16Array;
  #units = 0;
  #characters = 0;

  constructor(model: Model) {
    this.#model = model;
    // Capacity for one character more than allowed, at two units each.
    this.#word = new Uint16Array(2 * model.maxCharacters + 2);
  }

  begin(text: string, maxTokens: number): void {
    this.total = 0;
    this.keptTo = 0;
    this.#text = text;
    this.#at = 0;
    this.#maxTokens = maxTokens;
    if (this.#ids.length > 65_536) this.#ids = new Int32Array(64);
    this.#kept = 0;
    this.#special = this.#model.findSpecial(text);
    this.#nextSpecial = 0;
    this.#units = 0;
    this.#characters = 0;
  }

  /** Whether the maximum number of stored ids has been reached. */
  get full(): boolean {
    return this.#kept >= this.#maxTokens;
  }

  /** Whether the whole text has been processed. */
  get done(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Returns a copy of the stored ids. */
  ids(): Int32Array {
    return this.#ids.slice(0, this.#kept);
  }

  /** Advances by about `units`. Returns true at the end of the text. */
  step(units: number): boolean {
    const text = this.#text;
    const until = Math.min(text.length, this.#at + units);
    while (this.#at < until) {
      const special = this.#special[this.#nextSpecial];
      this.#read(special === undefined ? until : Math.min(until, special.at));
      if (special !== undefined && this.#at >= special.at) {
        this.#endWord(special.at);
        this.#at = special.end;
        this.#nextSpecial++;
        this.#keep(special.id, special.end);
      }
    }
    if (this.#at < text.length) return false;
    this.#endWord(text.length);
    return true;
  }

  #read(until: number): void {
    const text = this.#text;
    const { kinds, folds } = this.#model.characters;
    let at = this.#at;
    while (at < until) {
      const unit = text.charCodeAt(at);
      let kind = kinds[unit]!;
      if (kind === KIND.unknown) kind = this.#model.characters.learn(unit);
      switch (kind) {
        case KIND.letter:
          if (folds[unit] !== 0) this.#addUnit(folds[unit]!);
          else this.#add(this.#model.characters.longFold(unit));
          break;
        case KIND.space:
          if (this.#units > 0) this.#endWord(at);
          break;
        case KIND.alone:
          this.#endWord(at);
          if (folds[unit] !== 0) this.#addUnit(folds[unit]!);
          else this.#add(this.#model.characters.longFold(unit));
          this.#endWord(at + 1);
          break;
        case KIND.sigma:
          this.#add(this.#model.characters.sigma(text, at));
          break;
        case KIND.surrogate:
          at += this.#readPair(at);
          break;
      }
      at++;
    }
    this.#at = at;
  }

  /** Handles a surrogate pair. Returns the number of units read beyond the first. */
  #readPair(at: number): number {
    const codePoint = this.#text.codePointAt(at)!;
    if (codePoint < 0x10000) return 0;
    const { kind, fold } = this.#model.characters.beyond(codePoint);
    if (kind === KIND.alone) {
      this.#endWord(at);
      this.#add(fold);
      this.#endWord(at + 2);
    } else if (kind === KIND.letter) {
      this.#add(fold);
    }
    return 1;
  }

  #add(fold: string): void {
    for (const char of fold) {
      if (char.length === 1) {
        this.#addUnit(char.charCodeAt(0));
      } else if (this.#characters <= this.#model.maxCharacters) {
        this.#word[this.#units++] = char.charCodeAt(0);
        this.#word[this.#units++] = char.charCodeAt(1);
        this.#characters++;
      }
    }
  }

  #addUnit(unit: number): void {
    if (this.#characters > this.#model.maxCharacters) return;
    this.#word[this.#units++] = unit;
    this.#characters++;
  }

  #endWord(at: number): void {
    const to = this.#units;
    if (to === 0) return;
    const { trie, unknown, maxCharacters } = this.#model;
    const totalBefore = this.total;
    const keptBefore = this.#kept;
    const keptToBefore = this.keptTo;
    let from = this.#characters > maxCharacters ? -1 : 0;
    while (from >= 0 && from < to) {
      const id = trie.longest(this.#word, from, to, from > 0);
      if (id >= 0) this.#keep(id, at);
      from = id >= 0 ? trie.matchedTo : -1;
    }
    if (from < 0) {
      // If the end of a word matches no piece, the whole word is unknown.
      this.total = totalBefore;
      this.#kept = keptBefore;
      this.keptTo = keptToBefore;
      this.#keep(unknown, at);
    }
    this.#units = 0;
    this.#characters = 0;
  }

  #keep(id: number, end: number): void {
    this.total++;
    if (this.#kept >= this.#maxTokens) return;
    if (this.#kept === this.#ids.length) {
      const larger = new Int32Array(this.#ids.length * 2);
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids[this.#kept++] = id;
    this.keptTo = end;
  }
}
