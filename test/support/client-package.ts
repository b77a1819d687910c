/** The package as other programs get it, in a folder of the test's own, with nothing in `dist` but the client. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');

/** Makes `node_modules/lectern` in a folder. That the client builds alone shows that it needs nothing else. */
export async function buildClientPackage(dir: string): Promise<void> {
  const place = path.join(dir, 'node_modules/lectern');
  mkdirSync(place, { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(place, 'package.json'));
  const config = {
    extends: path.join(ROOT, 'tsconfig.build.json'),
    compilerOptions: {
      rootDir: path.join(ROOT, 'src'),
      outDir: path.join(place, 'dist'),
      typeRoots: [path.join(ROOT, 'node_modules/@types')],
    },
    include: [path.join(ROOT, 'src/client')],
    exclude: [path.join(ROOT, 'src/**/*.test.ts')],
  };
  const file = path.join(dir, 'tsconfig.package.json');
  writeFileSync(file, JSON.stringify(config));
  await promisify(execFile)(process.execPath, [TSC, '-p', file]);
}
