// Lists the packages that are installed with Lectern, with their licenses, at the end of NOTICE. Part of `npm run docs`.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const HEADING =
  'Packages that are installed with this one, or bundled into dist/ (texts of those in dist/licences.txt):\n';

/**
 * The packages of the lock file that users get: those that are installed, and those at the places in `bundled`.
 */
export function packagesOfUsers({ packages }, bundled) {
  return Object.entries(packages).flatMap(([place, { dev, devOptional, peer, license, link, name, version }]) => {
    if (place === '' || link || ((dev || devOptional || peer) && !bundled.includes(place))) return [];
    // Packages of this repository have a name, and others the place of their name.
    const named = name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return [{ name: named, version, license }];
  });
}

/** The lines for these packages, once per name and license. */
export function noticeLines(lock, bundled) {
  const lines = packagesOfUsers(lock, bundled).map(
    ({ name, license }) => `- ${name}, ${license ?? 'no licence named'}`,
  );
  return [...new Set(lines)].sort();
}

/** Returns NOTICE with the list replaced. */
export function withNoticeLines(notice, lines) {
  const [own] = notice.split(HEADING);
  return `${own.trimEnd()}\n\n${HEADING}${lines.join('\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.join(root, 'NOTICE');
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  writeFileSync(file, withNoticeLines(readFileSync(file, 'utf8'), noticeLines(lock, await bundledPackages())));
}
