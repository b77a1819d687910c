/** Builds the package as other programs install it, but with only the client in `dist`. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');

/**
 * Creates `node_modules/lectern` in a folder. The build fails if the client imports anything from the rest of `src`.
 */
export async function buildClientPackage(dir: string): Promise<void> {
  const packageDir = path.join(dir, 'node_modules/lectern');
  mkdirSync(packageDir, { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(packageDir, 'package.json'));
  const config = {
    extends: path.join(ROOT, 'tsconfig.build.json'),
    compilerOptions: {
      rootDir: path.join(ROOT, 'src'),
      outDir: path.join(packageDir, 'dist'),
      typeRoots: [path.join(ROOT, 'node_modules/@types')],
    },
    include: [path.join(ROOT, 'src/client')],
    exclude: [path.join(ROOT, 'src/**/*.test.ts')],
  };
  const file = path.join(dir, 'tsconfig.package.json');
  writeFileSync(file, JSON.stringify(config));
  await promisify(execFile)(process.execPath, [TSC, '-p', file]);
}
