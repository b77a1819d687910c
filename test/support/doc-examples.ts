/** The examples that stand in the documentation, as programs: fenced blocks of a language that can be run. */
export interface DocExample {
  readonly file: string;
  /** Of the block's first line, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** Why it is not run; undefined for one that is. */
  readonly notRun: string | undefined;
}

const FENCE = /^( *)```(\w*)\s*$/;
/** Stands right before a block that cannot be run by a test. */
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
    const said = lines.slice(0, at).findLast((line) => line.trim() !== '');
    examples.push({ file, line: at + 2, language, code: code.join('\n'), notRun: NOT_RUN.exec(said ?? '')?.[1] });
    at = end;
  }
  return examples;
}
