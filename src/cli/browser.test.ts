/** The browser command and the offer of a browser, without a download. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quietContext } from '../../test/support/quiet-context.ts';
import { runHere } from '../../test/support/run-here.ts';
import { offerBrowser } from './offer-browser.ts';

let home: string;
let environment: Record<string, string>;
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'home-'));
  environment = {
    HOME: home,
    XDG_DATA_HOME: path.join(home, 'share'),
    PATH: home,
    PLAYWRIGHT_BROWSERS_PATH: home,
    LECTERN_DATA_DIR: '',
    LECTERN_BROWSER: '',
  };
});
afterEach(() => rm(home, { recursive: true }));

const folder = () => path.join(home, 'share/lectern/browser');

async function placeBrowser(): Promise<string> {
  const program = path.join(folder(), '1.0.0/chromium');
  await mkdir(path.dirname(program), { recursive: true });
  await writeFile(program, '');
  await chmod(program, 0o755);
  await writeFile(
    path.join(folder(), 'browser.json'),
    JSON.stringify({ version: '1.0.0', executable: '1.0.0/chromium', libraries: null, fonts: null }),
  );
  return program;
}

describe('lectern browser', () => {
  it('shows, keeps and removes the browser', async () => {
    const run = (...args: string[]) => runHere(['browser', ...args], { env: environment });
    const none = 'lectern: no browser was found: `lectern browser install` gets one\n';
    expect(await run('status')).toEqual({ out: '', error: none, code: 1 });
    const program = await placeBrowser();
    const found = { out: `${program} (unpacked)\n`, error: '', code: 0 };
    expect(await run('status')).toEqual(found);
    expect(await run('install')).toEqual(found);
    expect(await run('remove')).toEqual({ out: `${folder()} removed\n`, error: '', code: 0 });
    expect(await run('remove')).toEqual({ out: `${folder()} contains no browser\n`, error: '', code: 0 });
    expect((await run('status')).code).toBe(1);
  });
});

describe('a browser', () => {
  const settings = () => ({ browser: undefined, browserUrl: [], dataDir: path.join(home, 'data') });
  async function offer(ask?: (question: string) => Promise<string>, given = {}): Promise<string[]> {
    const noted: string[] = [];
    const note = (line: string) => void noted.push(line);
    await offerBrowser({ ...quietContext, environment, ask, note }, { ...settings(), ...given });
    return noted;
  }

  it('is offered once on a terminal; in a script, the command is named', async () => {
    expect(await offer()).toEqual([expect.stringContaining('`lectern browser install` gets one')]);
    const questions: string[] = [];
    const no = async (question: string) => {
      questions.push(question);
      return '';
    };
    await offer(no);
    expect(await offer(no)).toEqual([expect.stringContaining('`lectern browser install` gets one')]);
    expect(questions).toEqual([expect.stringContaining('Download Chromium')]);
  });

  it('is not offered if there is one, or if the settings choose', async () => {
    const never = async () => {
      throw new Error('asked');
    };
    expect(await offer(never, { browser: 'none' })).toEqual([]);
    await placeBrowser();
    expect(await offer(never)).toEqual([]);
  });

  it('that cannot be run is an error', async () => {
    const env = { ...environment, LECTERN_BROWSER: path.join(home, 'nothing'), LECTERN_DATA_DIR: home };
    const { error, code } = await runHere(['read', 'http://127.0.0.1:1/'], { env });
    expect({ error, code }).toEqual({
      error: `lectern: LECTERN_BROWSER: ${home}/nothing is not a program that can be run: set the path of Chromium or Chrome, or \`none\`\n`,
      code: 2,
    });
  });
});
