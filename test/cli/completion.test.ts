/** Completion in the real shells, if they are installed. Bash is always available. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '#cli/program.ts';
import { quietContext } from '../support/quiet-context.ts';

const LONG_MS = 120_000;
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
const isThere = (shell: Shell) => spawnSync(shell, ['-c', 'true']).status === 0;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'completion-'));
  for (const shell of SHELLS) {
    const lines: string[] = [];
    expect(await run(['completion', shell], { ...quietContext, print: (line) => void lines.push(line) })).toBe('ok');
    await writeFile(path.join(dir, shell), `${lines.join('\n')}\n`);
  }
}, LONG_MS);
afterAll(() => rm(dir, { recursive: true, force: true }));

const execute = promisify(execFile);

/** The completions that the shell offers for a line whose last word is incomplete. */
async function offered(shell: Shell, line: string): Promise<string[]> {
  const words = line.split(' ');
  const file = path.join(dir, shell);
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const scripts: Record<Shell, string> = {
    bash: `source ${file}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _lectern; printf '%s\\n' "\${COMPREPLY[@]}"`,
    // Prints the candidates that the shell would pass to its completion system.
    zsh: `compdef() { :; }; source ${file}
      _describe() { while [[ $1 == -o || $1 == option || $1 == command ]]; do shift; done; print -rl -- "\${(P@)1%%:*}"; }
      compadd() { shift; print -rl -- "$@"; }; _files() { print -rl -- *; }
      words=(${quoted}); CURRENT=${words.length}; _lectern`,
    fish: `source ${file}; complete -C '${line}' | string replace -r '\\t.*' ''; true`,
  };
  const { stdout } = await execute(shell, [...(shell === 'zsh' ? ['-f'] : []), '-c', scripts[shell]], { cwd: dir });
  const last = words.at(-1)!;
  return stdout.split('\n').filter((word) => word !== '' && word.startsWith(last));
}

describe.each(SHELLS)('%s', (shell) => {
  it.skipIf(!isThere(shell)).each([
    ['lectern re', ['read', 'rerank']],
    ['lectern keys re', ['rename', 'revoke']],
    ['lectern flow export k', ['kubernetes']],
    ['lectern read --with-li', ['--with-links-summary']],
    ['lectern keys mint --exp', ['--expires']],
    ['lectern read --preset r', ['reader', 'research']],
    ['lectern completion z', ['zsh']],
    ['lectern read ba', ['bash']],
  ])('%s', { timeout: LONG_MS }, async (line, expected) => {
    expect((await offered(shell, line)).sort()).toEqual(expected);
  });
});
