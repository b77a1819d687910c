// `npm run sbom [file]`: the packages that users get, as CycloneDX: those that are installed with Lectern, and those of
// which the built program contains code or files. Written to standard output, or to the file.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from '../bundle.mjs';
import { packagesOfUsers } from '../notice.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the bill of materials as an object. */
export async function createSbom() {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const users = packagesOfUsers(lock, await bundledPackages()).map(({ name, version }) => `${name}@${version}`);
  const wanted = new Set(users);
  const shell = process.platform === 'win32';
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const all = JSON.parse(
    execFileSync('npm', args, { cwd: root, encoding: 'utf8', shell, maxBuffer: 64 * 1024 * 1024 }),
  );
  // npm names packages of this repository after their folders; the reference has the name.
  const nameOf = (part) => part['bom-ref'].slice(0, part['bom-ref'].lastIndexOf('@'));
  const components = all.components
    .filter((part) => wanted.has(part['bom-ref']))
    .map((part) => ({ ...part, name: nameOf(part) }));
  const references = new Set([all.metadata.component['bom-ref'], ...components.map((part) => part['bom-ref'])]);
  const dependencies = all.dependencies
    .filter(({ ref }) => references.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) }));
  // npm names the component after the folder of the checkout.
  const component = { ...all.metadata.component, name: 'lectern' };
  return { ...all, metadata: { ...all.metadata, component }, components, dependencies };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = `${JSON.stringify(await createSbom(), undefined, 2)}\n`;
  const [, , file] = process.argv;
  if (file) writeFileSync(path.resolve(file), text);
  else process.stdout.write(text);
}
