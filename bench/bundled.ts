/**
 * Runs a benchmark of modules bundled, like the program that users run: `tsx bench/bundled.ts bench/gate.ts [arguments]`.
 * The loader of TypeScript sources wraps every function that a call creates, to keep its name, which takes a tenth of the
 * time of short functions.
 */
import { spawnSync } from 'node:child_process';
import { bundleProcess } from '../test/support/bundled.ts';

const [source, ...args] = process.argv.slice(2);
if (!source) throw new Error('name the benchmark, such as bench/gate.ts');
const { status } = spawnSync(process.execPath, [await bundleProcess(source), ...args], { stdio: 'inherit' });
process.exitCode = status ?? 1;
