/**
 * Parses lenient JSON as found in pages: inside a comment or CDATA, with comments, trailing commas and raw line breaks
 * in strings.
 */

const WRAPPER =
  /^\s*(?:<!--|(?:\/\/|\/\*)?\s?<!\[CDATA\[(?:\s?\*\/)?)|(?:-->|(?:\/\/|\/\*)?\s?\]\]>(?:\s?\*\/)?|;)\s*$/g;

/** Parses the text of a script; returns undefined if it is not JSON even after repair. */
export function parseLooseJson(text: string): unknown {
  // Valid JSON has no wrapper, and most texts are valid.
  const value = parsed(text);
  if (value !== undefined) return value;
  const bare = text.replace(WRAPPER, '');
  return parsed(bare) ?? parsed(repaired(bare));
}

/** Returns undefined if the text is not JSON. This is unambiguous, because JSON cannot represent `undefined`. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Index after the string that starts at `from`: after its closing quotation mark, or the end of the input. */
function endOfText(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at++) {
    if (json[at] === '\\') at++;
    else if (json[at] === '"') return at + 1;
  }
  return json.length;
}

/** Index after the comment that starts at `from`; `from` if there is none. */
function endOfComment(json: string, from: number): number {
  if (json[from] !== '/') return from;
  if (json[from + 1] === '/') {
    const end = json.indexOf('\n', from);
    return end < 0 ? json.length : end;
  }
  if (json[from + 1] !== '*') return from;
  const end = json.indexOf('*/', from + 2);
  return end < 0 ? json.length : end + 2;
}

/** Removes comments and trailing commas and replaces control characters in strings with spaces. Linear time. */
function repaired(json: string): string {
  const pieces: string[] = [];
  let from = 0;
  let comma = -1;
  for (let at = 0; at < json.length; ) {
    const character = json[at]!;
    const end = endOfComment(json, at);
    if (end > at) {
      pieces.push(json.slice(from, at), ' ');
      from = end;
      at = end;
    } else if (character === '"') {
      const behind = endOfText(json, at);
      pieces.push(json.slice(from, at), json.slice(at, behind).replace(/[\u0000-\u001f]/g, ' '));
      from = behind;
      at = behind;
      comma = -1;
    } else if (character === ',') {
      pieces.push(json.slice(from, at), ',');
      comma = pieces.length - 1;
      at++;
      from = at;
    } else {
      if ((character === '}' || character === ']') && comma >= 0) pieces[comma] = ' ';
      if (!/\s/.test(character)) comma = -1;
      at++;
    }
  }
  pieces.push(json.slice(from));
  return pieces.join('');
}
