/** Escapes raw HTML in Markdown from external sources. Pure. */

const AUTOLINK = /<(?:[a-z][a-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]{1,64}@[a-z0-9.-]{1,253})>/iy;

/**
 * Processes one line outside code blocks: escapes every `<` that starts a tag or comment, except in code spans that end
 * on the line. A span that a table cell would split is not code.
 */
export function withoutTags(line: string): string {
  if (!/<[A-Za-z/!?]/.test(line)) return line;
  const closing = closingRuns(line);
  const special = /\\.|`+|<(?=[A-Za-z/!?])/g;
  let out = '';
  let done = 0;
  for (let found = special.exec(line); found; found = special.exec(line)) {
    const { 0: mark, index } = found;
    if (mark[0] === '`') {
      const end = closing(mark.length, index);
      if (end !== undefined && !line.slice(index, end).includes('|')) special.lastIndex = end + mark.length;
    } else if (mark === '<') {
      AUTOLINK.lastIndex = index;
      if (AUTOLINK.test(line)) special.lastIndex = AUTOLINK.lastIndex;
      else {
        out += `${line.slice(done, index)}\\<`;
        done = index + 1;
      }
    }
  }
  return out + line.slice(done);
}

/** Finds the next run of exactly `length` backticks after an offset. Offsets must be in ascending order. */
function closingRuns(line: string): (length: number, after: number) => number | undefined {
  const places = new Map<number, number[]>();
  for (const { 0: run, index } of line.matchAll(/`+/g)) {
    const known = places.get(run.length);
    if (known) known.push(index);
    else places.set(run.length, [index]);
  }
  const passed = new Map<number, number>();
  return (length, after) => {
    const known = places.get(length) ?? [];
    let at = passed.get(length) ?? 0;
    while (at < known.length && known[at]! <= after) at++;
    passed.set(length, at);
    return known[at];
  };
}
