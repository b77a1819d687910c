/** Ends a text at a stop sequence or at a token limit. */

export interface LimitOptions {
  readonly stop: readonly string[];
  readonly maxTokens: number | undefined;
  readonly count: (text: string) => number;
  readonly truncate: (text: string, tokens: number) => string;
}

export interface Limit {
  /** Adds a piece and returns the text that can be sent now. */
  take(piece: string): string;
  /** Returns the buffered text. Text is buffered while its end may be the start of a stop sequence. */
  rest(): string;
  /** Why the output ended; undefined while it continues. */
  readonly ended: 'stop' | 'length' | undefined;
  /** Tokens sent so far. */
  readonly tokens: number;
}

export function createLimit({ stop, maxTokens, count, truncate }: LimitOptions): Limit {
  const longest = Math.max(0, ...stop.map(({ length }) => length - 1));
  let held = '';
  let tokens = 0;
  let ended: Limit['ended'];

  function out(text: string): string {
    if (text === '') return '';
    const size = count(text);
    if (maxTokens === undefined || tokens + size <= maxTokens) {
      tokens += size;
      return text;
    }
    const kept = truncate(text, maxTokens - tokens);
    tokens = maxTokens;
    ended = 'length';
    return kept;
  }

  return {
    take(piece) {
      if (ended) return '';
      held += piece;
      const at = Math.min(...stop.map((text) => held.indexOf(text)).filter((found) => found >= 0));
      if (at !== Infinity) {
        const text = out(held.slice(0, at));
        ended ??= 'stop';
        return text;
      }
      const ready = held.slice(0, held.length - Math.min(longest, held.length));
      held = held.slice(ready.length);
      return out(ready);
    },
    rest() {
      if (ended) return '';
      const text = held;
      held = '';
      return out(text);
    },
    get ended() {
      return ended;
    },
    get tokens() {
      return tokens;
    },
  };
}
