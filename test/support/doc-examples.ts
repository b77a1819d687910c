/** Code examples in the documentation: fenced blocks in a language that tests can run. */
export interface DocExample {
  readonly file: string;
  /** Number of the block's first line, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** The reason why the block is not run; `undefined` if it is run. */
  readonly notRun: string | undefined;
}

const FENCE = /^( *)```(\w*)\s*$/;
/** A comment directly before a block that tests cannot run. */
const NOT_RUN = /^ *<!-- not run: (.+) -->$/;

export function examplesOf(file: string, markdown: string): DocExample[] {
  const lines = markdown.split('\n');
  const examples: DocExample[] = [];
  for (let at = 0; at < lines.length; at++) {
    const opened = FENCE.exec(lines[at]!);
    if (!opened) continue;
    const [, indent = '', language = ''] = opened;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`${file}:${at + 1}: a block without an end`);
    const code = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    const lineBefore = lines.slice(0, at).findLast((line) => line.trim() !== '');
    examples.push({ file, line: at + 2, language, code: code.join('\n'), notRun: NOT_RUN.exec(lineBefore ?? '')?.[1] });
    at = end;
  }
  return examples;
}
