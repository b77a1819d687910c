/**
 * Finds a JSON syntax error and describes it with the wording that existing clients match on (that of Python's `json`
 * module). Runs only after JSON.parse failed.
 */

export interface JsonError {
  readonly msg: string;
  /** Offset from 0; lines and columns from 1. */
  readonly pos: number;
  readonly lineno: number;
  readonly colno: number;
}

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const LITERALS = ['true', 'false', 'null'];
const KEY = 'Expecting property name enclosed in double quotes';

class SyntaxFault extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

export function findJsonError(text: string): JsonError {
  try {
    scan(text);
  } catch (error) {
    if (error instanceof SyntaxFault) return locate(text, error.message, error.at);
    throw error;
  }
  return locate(text, 'Expecting value', 0);
}

function locate(text: string, msg: string, pos: number): JsonError {
  let [lineno, lineStart] = [1, 0];
  for (let at = text.indexOf('\n'); at >= 0 && at < pos; at = text.indexOf('\n', at + 1)) {
    lineno++;
    lineStart = at + 1;
  }
  return { msg, pos, lineno, colno: pos - lineStart + 1 };
}

function scan(text: string): void {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const close = (bracket: string): void => {
    if (text[at] !== bracket) throw new SyntaxFault("Expecting ',' delimiter", at);
    at++;
    open.pop();
    expected = open.length ? 'comma or end' : 'nothing';
  };
  for (;;) {
    at = matchEnd(SPACE, text, at);
    const next = text[at];
    const bracket = open.at(-1) === '{' ? '}' : ']';
    if (expected === 'nothing') {
      if (next === undefined) return;
      throw new SyntaxFault('Extra data', at);
    }
    if (expected === 'colon') {
      if (next !== ':') throw new SyntaxFault("Expecting ':' delimiter", at);
      at++;
      expected = 'value';
    } else if (expected === 'comma or end') {
      if (next === ',') {
        at++;
        expected = bracket === '}' ? 'key' : 'value';
      } else close(bracket);
    } else if ((expected === 'key or end' || expected === 'value or end') && next === bracket) {
      close(bracket);
    } else if (expected === 'key' || expected === 'key or end') {
      if (next !== '"') throw new SyntaxFault(KEY, at);
      at = endOfString(text, at);
      expected = 'colon';
    } else if (next === '{' || next === '[') {
      open.push(next);
      at++;
      expected = next === '{' ? 'key or end' : 'value or end';
    } else {
      at = endOfScalar(text, at);
      expected = open.length ? 'comma or end' : 'nothing';
    }
  }
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function endOfScalar(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  const literal = LITERALS.find((word) => text.startsWith(word, at));
  const end = literal ? at + literal.length : matchEnd(NUMBER, text, at);
  if (end === at) throw new SyntaxFault('Expecting value', at);
  return end;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') return at + 1;
    if (character < ' ') throw new SyntaxFault('Invalid control character at', at);
    if (character !== '\\') continue;
    at++;
    if (text[at] === 'u') {
      if (!/^[\da-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) throw new SyntaxFault('Invalid \\uXXXX escape', at);
      at += 4;
    } else if (at < text.length && !'"\\/bfnrt'.includes(text[at]!)) {
      throw new SyntaxFault('Invalid \\escape', at - 1);
    }
  }
  throw new SyntaxFault('Unterminated string starting at', start);
}
