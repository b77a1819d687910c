/** Command lines that documents show, and whether the program would understand them. */
import type { Command } from 'commander';

export interface ShownLine {
  readonly line: string;
  /** Within a sentence, where a command may stand without what it needs. */
  readonly isName: boolean;
}

/** The calls of `lectern` in code blocks and in code within a text. */
export function linesOf(markdown: string): ShownLine[] {
  const blocks = [...markdown.matchAll(/^ *```[^\n]*\n(.*?)^ *```/gms)].map(([, text]) => text!);
  const rest = markdown.replace(/^ *```[^\n]*\n.*?^ *```/gms, '');
  const names = [...rest.matchAll(/`(lectern [^`\n]+)`/g)].map(([, text]) => text!);
  return [
    ...blocks
      .flatMap((block) => block.replace(/\\\n\s*/g, '').split('\n'))
      .flatMap(callsIn)
      .map((line) => ({ line, isName: false })),
    ...names.flatMap(callsIn).map((line) => ({ line, isName: true })),
  ];
}

const callsIn = (shell: string): string[] =>
  shell
    .replace(/<[^<>]*>/g, 'x')
    .split(/\s(?:\|\|?|&&|;)\s|\$\(/)
    .map((part) => /^\s*(?:\$ )?(?:[A-Z_]+=\S*\s+)*(?:npx )?(lectern(?: .*)?)$/.exec(part)?.[1])
    .filter((line) => line !== undefined)
    .filter((line) => !/…|\.\.\. /.test(line))
    .map((line) => line.trim());

/** What the program has against a line; undefined when it would be done. */
export async function parse(program: Command, line: string): Promise<string | undefined> {
  let fault: string | undefined;
  const silence = (command: Command): void => {
    command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: (text) => (fault = text.trim()) });
    // Those without options of their own only lead to others.
    if (command.commands.length === 0 || (command.parent && command.options.length > 0)) command.action(() => {});
    command.commands.forEach(silence);
  };
  silence(program);
  try {
    await program.parseAsync(wordsOf(line).slice(1), { from: 'user' });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== 'commander.helpDisplayed' && code !== 'commander.version') return fault ?? message;
  }
  return undefined;
}

/** As a shell parts them, up to a comment or a redirection. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    if (word.startsWith('#') || /^\d?[<>]/.test(word)) break;
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''));
  }
  return words;
}
