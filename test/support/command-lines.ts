/** Finds command lines in the documentation, and checks whether the program accepts them. */
import type { Command } from 'commander';

export interface DocumentedLine {
  readonly line: string;
  /** Whether the command line is inline code within a sentence, where required arguments may be missing. */
  readonly isName: boolean;
}

/** Finds calls of `lectern` in code blocks and inline code. */
export function findCommandLines(markdown: string): DocumentedLine[] {
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

/** The reason why the program rejects a command line; `undefined` if it accepts it. */
export async function findError(program: Command, line: string): Promise<string | undefined> {
  let fault: string | undefined;
  const silence = (command: Command): void => {
    command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: (text) => (fault = text.trim()) });
    // A command without options of its own only groups other commands.
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

/** Splits a line like a shell does, up to a comment or a redirection. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    if (word.startsWith('#') || /^\d?[<>]/.test(word)) break;
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''));
  }
  return words;
}
