// `npm run test:nodes`: sets up and tests a clean clone of the last commit with each supported Node version. The Node
// binaries come from packages in the registry, so no version manager is needed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { QUIET } from './npm-quiet.mjs';
import { dataDirOf, npm, root, run } from './setup.mjs';

const MAJORS = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24'];
const platform = process.platform === 'win32' ? 'win' : process.platform;
const packageName = `node-${platform}-${process.arch}`;

const outcomes = MAJORS.map((major) => {
  const home = path.join(dataDirOf(process.env), 'nodes', major);
  mkdirSync(home, { recursive: true });
  npm(['install', '--prefix', home, '--no-save', '--ignore-scripts', ...QUIET, `${packageName}@${major}`], {
    cwd: home,
  });
  const bin = path.join(home, 'node_modules', packageName, 'bin');
  const clone = mkdtempSync(path.join(os.tmpdir(), `lectern-node-${major}-`));
  try {
    run('git', ['clone', '--quiet', root, clone], 'the clone failed');
    const { npm_execpath: npmScript, ...environment } = process.env;
    const env = { ...environment, PATH: `${bin}${path.delimiter}${environment.PATH}` };
    delete env.LECTERN_DATA_DIR;
    const node = path.join(bin, process.platform === 'win32' ? 'node.exe' : 'node');
    const { status } = spawnSync(node, ['scripts/test.mjs'], {
      cwd: clone,
      env: { ...env, npm_execpath: npmScript },
      stdio: 'inherit',
    });
    return { major, passed: status === 0 };
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
});

for (const { major, passed } of outcomes) console.log(`Node ${major}: ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;
