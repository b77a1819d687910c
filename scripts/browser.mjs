/**
 * Finds or installs the browser that renders pages. Part of the set-up of `npm start` and `npm test`; also a command:
 * `node scripts/browser.mjs`. It uses the built program.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HINT = 'install Chromium or Chrome, run `node dist/main.js browser install`, or set LECTERN_BROWSER to its path';
const APT_UPDATE_MS = 20_000;

/**
 * Returns the path of a browser, or null if none can be found or installed. Logs each step, and at the end the path or
 * instructions for getting a browser.
 */
export async function ensureBrowser({ dataDir, log = console.log }) {
  const { findBrowser, installBrowser, pinnedBrowserVersion, unpackedBrowserVersion, ...offer } = await import(
    '../dist/reader/engines/browser/install.js'
  );
  const configured = process.env.LECTERN_BROWSER || undefined;
  const folder = path.resolve(dataDir, 'browser');
  if (configured === 'none') {
    log('browser: none (LECTERN_BROWSER=none)');
    return null;
  }
  const find = () => findBrowser({ configured, dataDir });
  const isOutdated = ({ source }) => source === 'unpacked' && unpackedBrowserVersion(folder) !== pinnedBrowserVersion();
  const found = find();
  if (configured && !found) log(`browser: LECTERN_BROWSER is ${configured}, which is not executable`);
  if (!configured && (!found || isOutdated(found)))
    await installBrowser({ folder, log: (line) => log(`browser: ${line}`) }).catch((error) => {
      log(`browser: not installed: ${error.message}`);
      if (!found) installFromDebian(log);
    });
  const got = find();
  // The server does not offer what has just failed.
  if (!got) await offer.recordOffer(offer.userBrowserFolder());
  log(got ? `browser: ${got.path}` : `browser: none; pages are read without running scripts. To add one, ${HINT}`);
  return got?.path ?? null;
}

/** Only as root, as in a container. Without a network, apt would wait for minutes. */
function installFromDebian(log) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (args, timeout) => spawnSync('apt-get', args, { env, stdio: 'ignore', timeout }).status === 0;
  if (!apt(['--version'])) return;
  log('browser: installing Debian’s chromium');
  if (apt(['update', '-qq', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=5'], APT_UPDATE_MS))
    apt(['install', '-y', '-qq', '--no-install-recommends', 'chromium']);
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const dataDir = process.env.LECTERN_DATA_DIR ?? '.lectern';
  const browser = await ensureBrowser({ dataDir });
  process.exitCode = browser ? 0 : 1;
}
